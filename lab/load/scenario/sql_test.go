package scenario

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/postgres/installation"
	"plimsoll/ground/problem"
	"plimsoll/lab/load/custom"
	"plimsoll/lab/load/data"
	"plimsoll/lab/load/script"
	"plimsoll/lab/load/users"
	"plimsoll/test/files"
)

// own is the smallest file with an operation, behind what is tested.
const own = "\n[operations.a]\ntarget = \"1s\"\nsql = \"SELECT 1\"\n"

const none = "application = \"none\"\n"

// folder with files of rows, to name in a scenario.
func folder(t *testing.T) string {
	dir := t.TempDir()
	files.Write(t, dir, "items.csv", "id,name\n1,a\n2,b\n")
	files.Write(t, dir, "bad.csv", "id,name\n1,a\n2\n")
	files.Write(t, dir, "day.csv", "at,rate\n08:00,50\n12:00,200\n12:30:30,0\n")
	files.Write(t, dir, "back.csv", "at,rate\n08:00,1\n07:00,1\n")
	files.Write(t, dir, "times.csv", "at,rate\nsoon,1\n")
	return dir
}

func readIn(t *testing.T, dir, text string) (*Scenario, error) {
	t.Helper()
	return Read(files.Write(t, dir, "own.toml", text))
}

func TestRead_SQLDataAndStages(t *testing.T) {
	s, err := readIn(t, folder(t), none+`
[sql]
session = "user"
connect = "SET work_mem = '8MB'"
retries = 3
[data.items]
file = "items.csv"
take = "once"
shuffle = true
[data.people]
sql = "SELECT 1 AS id"
[data.made]
rows = 10
columns = { mail = "u{{:row}}@x" }
[[stages]]
duration = "1m"
users = 10
[[stages]]
duration = "2m"
ramp = "30s"
users = 40
[operations.a]
target = "1s"
sql = "SELECT :items_id, :people_anything, :made_mail, :random_seed"
`)
	if err != nil {
		t.Fatalf("%v: %s", err, problem.HintOf(err))
	}
	if s.Own.Session != custom.OfUser || s.Own.SharedSessions() != 0 || s.Own.Retries != 3 || s.Own.Connect == "" {
		t.Errorf("%+v", s.Own)
	}
	if d := s.Own.Data; len(d) != 3 || d[0].Take != data.Once || !d[0].Shuffle || d[0].Len() != 2 ||
		d[0].Digest == "" ||
		d[1].Take != data.Random || d[2].Len() != 10 || !s.NeedsDatabase() {
		t.Errorf("%+v", d)
	}
	c := s.Crowd(0, nil)
	want := users.Pace{{At: 0, Level: 0.25}, {At: 1. / 3, Level: 0.25}, {At: 1. / 3, Level: 0.25}, {At: 0.5, Level: 1},
		{At: 1, Level: 1}}
	if diff := cmp.Diff(want, c.Presence); diff != "" || c.Users != 40 || c.Pace != nil || s.Length() != 3*time.Minute {
		t.Errorf("%d users, pace %v, %s", c.Users, c.Pace, diff)
	}
	if half := s.Crowd(20, nil); half.Users != 20 || half.Presence[0].Level != 0.25 {
		t.Errorf("%+v", half)
	}
}

// Equal digests mean equal scenarios: rows belong to them.
func TestDigest_HasTheRows(t *testing.T) {
	dir := folder(t)
	text := none + "[data.items]\nfile = \"items.csv\"\n" + own
	first, err := readIn(t, dir, text)
	if err != nil {
		t.Fatal(err)
	}
	files.Write(t, dir, "items.csv", "id,name\n1,a\n2,c\n")
	second, err := readIn(t, dir, text)
	if err != nil || first.Digest() == second.Digest() {
		t.Errorf("other rows, the same digest %s: %v", first.Digest(), err)
	}
}

func TestRead_StagesOfARate(t *testing.T) {
	s, err := parse(t, none+"[[stages]]\nduration = \"10s\"\nramp = \"10s\"\nrate = 5\n[[stages]]\nduration = "+
		"\"30s\"\n"+
		"rate = 20\n"+own)
	if err != nil {
		t.Fatal(err)
	}
	want := users.Pace{{At: 0, Level: 0}, {At: 0.25, Level: 0.25}, {At: 0.25, Level: 0.25}, {At: 0.25, Level: 1},
		{At: 1, Level: 1}}
	c := s.Crowd(0, nil)
	if diff := cmp.Diff(want, c.Pace); diff != "" || c.Presence != nil || s.PeakRate() != 20 ||
		c.Users != UsersDefault {
		t.Errorf("%+v: %s", c, diff)
	}
}

func TestRead_RecordedDay(t *testing.T) {
	s, err := readIn(t, folder(t), none+"[day]\nfile = \"day.csv\"\n"+own)
	if err != nil {
		t.Fatal(err)
	}
	span := 4*time.Hour + 30*time.Minute + 30*time.Second
	want := users.Pace{{At: 0, Level: 0.25}, {At: float64(4*time.Hour) / float64(span), Level: 1}, {At: 1, Level: 0}}
	if diff := cmp.Diff(want, s.Crowd(0, nil).Pace); diff != "" {
		t.Error(diff)
	}
}

func TestRead_SaysWhatIsWrongWithSQLDataAndStages(t *testing.T) {
	dir := folder(t)
	stage := "[[stages]]\nduration = \"1m\"\n"
	for _, c := range []struct{ name, text, says, hint string }{
		{"Session", "[sql]\nsession = \"usr\"\n", ":3: sql.session: must be one of shared, user", "did you mean user?"},
		{"ConnectionsOfUsers", "[sql]\nsession = \"user\"\nconnections = 5\n",
			":4: sql.connections: has no effect with session", "leave one"},
		{"NoConnections", "[sql]\nconnections = 0\n", ":3: sql.connections: takes a whole number between 1", ""},
		{"Retries", "[sql]\nretries = -1\n", ":3: sql.retries: takes a whole number", ""},
		{"Connect", "[sql]\nconnect = '''\nSET a = 1;\n\\sett x 1\n'''\n", ":5: sql.connect: no meta-command", ""},
		{"ConnectOfNothing", "[sql]\nconnect = '\\set a 1'\n", ":3: sql.connect: has no SQL", "SET"},
		{"ConnectVariable", "[sql]\nconnect = '''\n\\set a :b\nSELECT 1;\n'''\n",
			":3: sql.connect, line 1 of the script: nothing sets the variable b", "[variables]"},
		{"ConnectHasNoUser", "[sql]\nconnect = '''\n\\set a :client_id\nSELECT 1;\n'''\n",
			"nothing sets the variable client_id", ""},
		{"NoSource", "[data.items]\ntake = \"once\"\n", ":2: data.items: takes one of file, sql and rows",
			"rows makes"},
		{"TwoSources", "[data.items]\nsql = \"SELECT 1\"\nrows = 5\n", ":2: data.items: takes one of", ""},
		{"NoFile", "[data.items]\nfile = \"no.csv\"\n", ":3: data.items.file: read rows: ", "folder of the scenario"},
		{"NoKindOfFile", "[data.items]\nfile = \"own.toml\"\n", "neither .csv nor .parquet", ""},
		{"LineOfAFile", "[data.items]\nfile = \"bad.csv\"\n", "bad.csv:3: data.items.file: another number of values",
			"quote"},
		{"Name", "[data.\"my items\"]\nrows = 5\n", ":2: data.\"my items\": is not the beginning of a variable name",
			"letters"},
		{"Take", "[data.items]\ntake = \"onse\"\n", ":3: data.items.take: must be one of", "did you mean once?"},
		{"Shuffle", "[data.items]\nshuffle = 1\n", ":3: data.items.shuffle: takes true or false", ""},
		{"ShuffleOfRandom", "[data.items]\nfile = \"items.csv\"\nshuffle = true\n", "shuffle has no effect", "leave"},
		{"UnknownKeyOfData", "[data.items]\nfiel = \"a.csv\"\n", ":3: data.items.fiel: unknown key",
			"did you mean file?"},
		{"Columns", "[data.items]\nfile = \"items.csv\"\ncolumns = { a = \"1\" }\n",
			"columns are made only with rows", ""},
		{"NoColumns", "[data.items]\nrows = 5\n", "rows needs columns", ""},
		{"WrongColumn", "[data.items]\nrows = 5\ncolumns = { a = \"{{1 +}}\" }\n",
			"columns.a: {{1 +}}: the expression ends too soon", ""},
		{"UnknownColumn", "[data.items]\nfile = \"items.csv\"\n[operations.b]\ntarget = \"1s\"\n" +
			"sql = \"SELECT :items_nome\"\n", "nothing sets the variable items_nome", "did you mean items_name?"},
		{"StagesOfBoth", stage + "users = 5\n" + stage + "rate = 5\n", "stages have users or a rate", ""},
		{"StageWithoutDuration", "[[stages]]\nusers = 5\n", ":2: stages.1: has no duration", "2m"},
		{"StagesOfNothing", stage, ":2: stages: no stage has users or a rate", "users = 100"},
		{"StageRamp", stage + "ramp = \"2m\"\nusers = 1\n", ":2: stages.1: its ramp is longer", ""},
		{"UnknownKeyOfAStage", stage + "user = 5\n", ":4: stages.1.user: unknown key", "did you mean users?"},
		{"StageTable", "[stages]\nusers = 5\n", ":2: stages: takes ", ""},
		{"StagesOfNumbers", "stages = [1, 2]\n", ":2: stages: takes tables", "[[stages]]"},
		{"StagesAndDay", stage + "users = 5\n[day]\n\"09:00\" = 1\n", "[day] varies the load, too", "leave"},
		{"DayFileAndPoints", "[day]\nfile = \"day.csv\"\n\"09:00\" = 1\n", ":3: day.file: the day has points", "leave"},
		{"DayFileWithoutColumns", "[day]\nfile = \"items.csv\"\n", ":3: day.file: ", "at is a time"},
		{"DayGoesBack", "[day]\nfile = \"back.csv\"\n", "back.csv: day.file: row 2: its time is not after", "09:30"},
		{"DayTime", "[day]\nfile = \"times.csv\"\n", "row 1: \"soon\" is no time", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := readIn(t, dir, none+c.text+own)
			if err == nil {
				t.Fatalf("accepted: %+v", s)
			}
			if !strings.Contains(err.Error(), c.says) || !strings.Contains(problem.HintOf(err), c.hint) ||
				problem.ClassOf(err) != problem.Usage {
				t.Errorf("%v\nhint: %s", err, problem.HintOf(err))
			}
		})
	}
}

func TestConnectionsOf0AreASessionForEachUserOf1C(t *testing.T) {
	s, err := parse(t, "application = \"1c\"\n[sql]\nconnections = 0\n")
	if err != nil || s.Own.Session != custom.OfUser || s.Own.SharedSessions() != 0 {
		t.Fatalf("%+v, %v", s, err)
	}
	if printed := toml(t, s); !strings.Contains(printed, "session = \"user\"") {
		t.Error(printed)
	}
	if _, err := parse(t, "application = \"1c\"\n[sql]\nconnections = 0\nsession = \"shared\"\n"); err == nil {
		t.Error("a contradiction is taken")
	}
}

// The built-in scripts are those of pgbench itself.
func TestBuiltinScriptsAreThoseOfPgbench(t *testing.T) {
	s, err := installation.Find(t.Context(), clustertest.Engine())
	if err != nil {
		t.Skipf("SKIP: no PostgreSQL: %v", err)
	}
	program, err := s.Program("pgbench")
	if err != nil {
		t.Skipf("SKIP: this PostgreSQL has no pgbench: %v", err)
	}
	for name, text := range builtins {
		printed, err := exec.CommandContext(t.Context(), program, "--show-script="+name).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, printed)
		}
		lines := strings.Split(string(printed), "\n")
		var shown []string
		for _, line := range lines {
			if line != "" && !strings.HasPrefix(line, "--") {
				shown = append(shown, line)
			}
		}
		if diff := cmp.Diff(strings.Join(shown, "\n")+"\n", text); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

func TestPgbenchScripts(t *testing.T) {
	dir := t.TempDir()
	file := files.Write(t, dir, "mine.sql", "\\SET n random(1, :most)\nSELECT :n;\n")
	s, err := Pgbench{Scripts: []string{"tpcb-like@2", "sel", file + "@5", file}, Define: []string{"most=7"}}.Scenario()
	if err != nil {
		t.Fatalf("%v: %s", err, problem.HintOf(err))
	}
	var got []string
	for _, op := range s.Operations {
		got = append(got, fmt.Sprintf("%s %v", op.ID, op.Weight))
	}
	if diff := cmp.Diff([]string{"tpcb-like 2", "select-only 1", "mine 5", "mine-2 1"}, got); diff != "" {
		t.Error(diff)
	}
	if s.Own.Session != custom.OfUser || s.Own.Mode != script.Simple || s.Own.Login == nil ||
		s.Users() != PgbenchUsers ||
		s.Roles[0].Think.Mean != 0 || s.Own.Variables["most"] != "7" {
		t.Errorf("%+v, %+v", s.Own, s.Roles)
	}
	if s, err = (Pgbench{Scripts: []string{"select-only"}, Define: []string{"scale=3"}, Protocol: script.Prepared}).
		Scenario(); err != nil || s.Own.Login != nil || s.Own.Mode != script.Prepared {
		t.Errorf("%+v, %v", s, err)
	}
	for _, c := range []struct {
		p    Pgbench
		says string
	}{
		{Pgbench{Scripts: []string{filepath.Join(dir, "no.sql")}}, "no such file"},
		{Pgbench{Scripts: []string{"tpcb-like@x"}}, "is no whole number"},
		{Pgbench{Scripts: []string{"tpcb-like@0"}}, "no weight above 0"},
		{Pgbench{Scripts: []string{file}}, "nothing sets the variable most"},
		{Pgbench{Scripts: []string{file}, Define: []string{"most"}}, "not NAME=VALUE"},
		{Pgbench{Scripts: []string{files.Write(t, dir, "wrong.sql", "SELECT 1;\n\\shell rm\n")}}, "wrong.sql:2: "},
	} {
		if _, err := c.p.Scenario(); err == nil || !strings.Contains(err.Error(), c.says) ||
			problem.ClassOf(err) != problem.Usage {
			t.Errorf("%v: want a usage error with %q, got %v", c.p.Scripts, c.says, err)
		}
	}
}
