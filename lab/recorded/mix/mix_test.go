package mix_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/lab/load/scenario"
	"plimsoll/lab/recorded/mix"
)

func TestMain(m *testing.M) { os.Exit(clustertest.Run(m)) }

const header = "at,dbid,userid,toplevel,queryid,query,calls,total_exec_time,rows\n"

func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, paths ...string) *mix.Mix {
	t.Helper()
	if !mix.Is(paths) {
		t.Fatalf("%v are no snapshots", paths)
	}
	m, err := mix.Read(paths)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

const (
	early = "2026-11-28 10:00:00.5+03,"
	late  = "2026-11-28 11:00:00.5+03,"
)

func TestRead_SubtractsSnapshots(t *testing.T) {
	before := file(t, "before.csv", header+
		early+`1,10,t,7,"SELECT ""a""`+"\n"+`FROM t WHERE id = $1",100,1000,100`+"\n"+
		early+"1,10,t,8,forgotten,5,50,5\n"+
		early+"1,10,t,9,UPDATE t SET n = $1,50,500,50\n"+
		early+"1,11,t,12,idle,5,50,5\n")
	after := file(t, "after.csv", header+
		late+`1,10,t,7,"SELECT ""a""`+"\n"+`FROM t WHERE id = $1",160,1300,220`+"\n"+
		late+`1,11,t,7,"SELECT ""a""`+"\n"+`FROM t WHERE id = $1",40,100,0`+"\n"+ // another role, new
		late+"1,10,t,9,UPDATE t SET n = $1,10,600,10\n"+ // began again
		late+"1,10,f,11,inner,9,90,9\n"+
		late+"1,11,t,12,idle,5,50,5\n"+
		late+"1,12,t,13,<insufficient privilege>,1,1,1\n"+late+"1,12,t,14,<insufficient privilege>,1,1,1\n"+
		late+"1,10,t,15,short\n"+late+"1,10,t,16,x,-1,1,1\n"+late+"1,10,t,17,x,1,NaN,1\n"+
		late+"1,10,t,9,UPDATE t SET n = $1,10,600,10\n")
	m := read(t, before, after)
	want := []mix.Statement{
		{Database: "1", Query: "UPDATE t SET n = $1", Calls: 10, MeanMS: 60, Rows: 1, TotalMS: 600},
		{Database: "1", Query: "SELECT \"a\"\nFROM t WHERE id = $1", Calls: 100, MeanMS: 4, Rows: 1.2, TotalMS: 400},
		{Database: "1", Query: "<insufficient privilege> 13", Calls: 1, MeanMS: 1, Rows: 1, TotalMS: 1},
		{Database: "1", Query: "<insufficient privilege> 14", Calls: 1, MeanMS: 1, Rows: 1, TotalMS: 1},
	}
	if diff := cmp.Diff(want, m.Statements, cmpopts.IgnoreUnexported(mix.Statement{}),
		cmpopts.IgnoreFields(mix.Statement{}, "Share")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if m.Calls != 112 || m.SpanS == nil || *m.SpanS != 3600 || m.Gone != 1 || m.Reset != 1 || m.Inner != 1 ||
		m.Hidden != 2 || m.Unread.Events != 4 {
		t.Errorf("%+v", m)
	}
	swapped := read(t, after, before)
	if swapped.Calls != m.Calls {
		t.Errorf("the later one first: %d calls, want %d", swapped.Calls, m.Calls)
	}
	var b strings.Builder
	if err := m.Text(&b, false); err != nil || !strings.Contains(b.String(), "No Apdex") ||
		!strings.Contains(b.String(), "percentiles") {
		t.Error(b.String(), err)
	}
}

// The same rows in each form that psql writes.
func TestRead_Forms(t *testing.T) {
	object := `{"dbid":1,"userid":10,"toplevel":true,"queryid":-7,"query":"SELECT $1::text\n\"a\"","calls":4,` +
		`"total_exec_time":2.5,"rows":4}`
	csv := strings.Replace(header, "at,", "", 1) + `1,10,t,-7,"SELECT $1::text` + "\n" + `""a""",4,2.5,4` + "\n"
	for name, text := range map[string]string{
		"csv": csv, "a mark": "\uFEFF" + csv,
		"lines": object + "\n\n", "copied": strings.ReplaceAll(object, `\`, `\\`) + "\n",
		"array":      "[" + object + "]",
		"aggregated": " [" + object + ", \n " + strings.Replace(object, "4,", "0,", 1) + "]\n",
	} {
		t.Run(name, func(t *testing.T) {
			m := read(t, file(t, "a", text))
			if len(m.Statements) != 1 || m.Statements[0].Query != "SELECT $1::text\n\"a\"" || m.Calls != 4 ||
				m.TotalS != 0.0025 || m.Since {
				t.Errorf("%+v", m)
			}
		})
	}
	for name, text := range map[string]string{"empty": "", "log": "2026-11-28 10:00:00 UTC LOG: a\n",
		"columns": "query,calls\n"} {
		if mix.Is([]string{file(t, name, text)}) {
			t.Errorf("%s is taken for a snapshot", name)
		}
	}
	if _, err := mix.Read([]string{file(t, "a", header)}); !errors.Is(err, mix.ErrNothing) {
		t.Error("no row:", err)
	}
}

// What a server counted reads alike in CSV and in JSON, as psql's \copy writes them.
func TestRead_OfARealServer(t *testing.T) {
	own := clustertest.Alone(t, map[string]string{"shared_preload_libraries": "pg_stat_statements"})
	conn := clustertest.Connect(t, own.DSN(), "mix")
	do := func(sql string, values ...any) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql, values...); err != nil {
			t.Fatal(err)
		}
	}
	snapshot := func(name, sql string) string {
		path := filepath.Join(t.TempDir(), name)
		out, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = conn.PgConn().CopyTo(t.Context(), out, sql)
		if err = errors.Join(err, out.Close()); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const all = "SELECT now() AS at, * FROM pg_stat_statements"
	csv, lines := "COPY ("+all+") TO STDOUT CSV HEADER", "COPY (SELECT row_to_json(s) FROM ("+all+") s) TO STDOUT"
	do("CREATE EXTENSION pg_stat_statements")
	do("CREATE TABLE orders (n int, note text)")
	do("INSERT INTO orders SELECT n, 'a' FROM generate_series(1, 3) n")
	before, beforeLines := snapshot("before.csv", csv), snapshot("before.json", lines)
	for n := range 7 {
		do(`SELECT note, 'a\b' AS "a
b" FROM orders WHERE n > $1`, n)
	}
	after, afterLines := snapshot("after.csv", csv), snapshot("after.json", lines)
	for _, m := range []*mix.Mix{read(t, before, after), read(t, beforeLines, afterLines)} {
		at := slices.IndexFunc(m.Statements, func(s mix.Statement) bool {
			return strings.Contains(s.Query, "FROM orders")
		})
		if at < 0 || m.SpanS == nil || m.Unread.Events != 0 {
			t.Fatalf("%+v", m)
		}
		if s := m.Statements[at]; s.Calls != 7 || s.Rows != 6./7 || !strings.Contains(s.Query, "\nb\"") {
			t.Errorf("%+v", s)
		}
	}
	if one := read(t, after); one.Calls <= 7 {
		t.Errorf("one snapshot: %+v", one)
	}
}

func TestScenario(t *testing.T) {
	m := read(t, file(t, "a.csv", header+
		"2026-11-28 10:00:00+00,1,10,t,1,SELECT a FROM t WHERE id = $1 AND b = '$2:',900,900,900\n"+
		"2026-11-28 10:00:00+00,1,10,t,2,/* x */ SELECT count(*) FROM t,100,5000,100\n"+
		"2026-11-28 10:00:00+00,1,10,t,3,BEGIN,1000,1,0\n"+
		"2026-11-28 10:00:00+00,1,10,t,4,CREATE TABLE x(),1,1,0\n"+
		"2026-11-28 10:00:00+00,1,10,t,5,SELECT a[$1:$2] FROM t,1,1,0\n"+
		"2026-11-28 10:00:00+00,1,10,t,6,<insufficient privilege>,1,1,0\n"+
		"2026-11-28 10:00:00+00,2,10,t,7,SELECT 1,1,1,0\n"))
	s, err := m.Scenario()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{mix.Control: 1, mix.OtherKind: 1, mix.Colon: 1, mix.NoText: 1, mix.OtherBase: 1}
	if diff := cmp.Diff(want, s.LeftOut); diff != "" || s.Operations != 2 || s.Values != 1 {
		t.Errorf("%+v %s", s, diff)
	}
	path := file(t, "own.toml", s.TOML)
	if _, err := scenario.Read(path); err == nil || !strings.Contains(err.Error(), "o2_p1") {
		t.Fatalf("without a value: %v\n%s", err, s.TOML)
	}
	given := strings.Replace(s.TOML, "application = \"none\"\n", "application = \"none\"\n[variables]\no2_p1 = 5\n", 1)
	got, err := scenario.Read(file(t, "own.toml", given))
	if err != nil {
		t.Fatalf("%v\n%s", err, given)
	}
	if ops := got.Operations; len(ops) != 2 || ops[1].Weight != 900 || ops[0].Weight != 100 {
		t.Errorf("%+v", ops)
	}
}
