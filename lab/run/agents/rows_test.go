package agents

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/lab/load"
	"plimsoll/lab/load/scenario"
	"plimsoll/lab/run"
	"plimsoll/test/files"
)

// Three agents take the rows that one would take: none twice, and each user those of its number, of a file that they do
// not have and of a query that is read once.
func TestAgentsTakeTheRowsOfOneLoad(t *testing.T) {
	const users, rows = 12, 60_000 // more than one part
	dir := t.TempDir()
	var b strings.Builder
	b.WriteString("id,name\n")
	for i := range rows {
		fmt.Fprintf(&b, "%d,item %d\n", i, i)
	}
	items := files.Write(t, dir, "items.csv", b.String())
	s, err := scenario.Read(files.Write(t, dir, "own.toml", `application = "none"
[think]
mean = "100ms"
[sql]
connections = 4
[data.items]
file = "items.csv"
take = "once"
[data.people]
sql = "SELECT i AS id, nextval('reads') AS read FROM generate_series(0, 11) i"
take = "user"
[operations.a]
target = "1s"
sql = "INSERT INTO taken VALUES (:client_id, :items_id, :items_name, :people_id, :people_read)"
`))
	if err != nil {
		t.Fatal(err)
	}
	files.Write(t, dir, "items.csv", "id,name\n0,another file\n")
	l := load.Default()
	l.Scenario, l.Users, l.Ramp, l.Duration = s, users, 0, 3*time.Second
	o := run.Options{Load: l, LagLimit: time.Minute, DSN: clustertest.Database(t).Secret(), Software: version}
	clustertest.Value(t, o.DSN, "CREATE SEQUENCE reads; CREATE TABLE taken (who int, item int, name text, person int, "+
		"read int)")
	fo := fleetOptions(3)
	fo.DSN = o.DSN
	f := fleet(t, fo)
	defer f.Dismiss()
	o.Generator = f
	r := mustRun(t, t.Context(), o)
	if r.Errors > 0 || r.OK < users || len(r.Generator.Agents) != 3 {
		t.Fatalf("%+v, %q, %s", r.Totals, r.InvalidReasons, items)
	}
	for what, sql := range map[string]string{
		"rows taken twice":    "SELECT count(*) - count(DISTINCT item) FROM taken",
		"rows of other users": "SELECT count(*) FROM taken WHERE item % 12 <> who",
		"rows left out": "SELECT count(*) FROM (SELECT who FROM taken GROUP BY who HAVING max(item) / 12 + 1 " +
			"<> count(*)) x",
		"rows of another file": "SELECT count(*) FROM taken WHERE name <> 'item ' || item",
		"other people's rows":  "SELECT count(*) FROM taken WHERE person <> who",
		"reads of the query":   "SELECT last_value - 12 FROM reads",
		"users without a row":  "SELECT 12 - count(DISTINCT who) FROM taken",
	} {
		if n := clustertest.Exec(t, o.DSN, sql); n != 0 {
			t.Errorf("%s: %d", what, n)
		}
	}
}
