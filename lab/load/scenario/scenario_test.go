package scenario

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"plimsoll/ground/problem"
	"plimsoll/lab/load/users"
	"plimsoll/test/files"
)

func parse(t *testing.T, text string) (*Scenario, error) {
	t.Helper()
	path := files.Write(t, t.TempDir(), "own.toml", text)
	return Read(path)
}

func TestDefaultIsTheERPsMix(t *testing.T) {
	s := Default()
	c := s.Crowd(0, nil)
	if c.Users != UsersDefault || len(c.Operations) != len(s.Operations) {
		t.Errorf("want the default users and all operations, got %+v", c)
	}
	for i, op := range c.Operations {
		if math.Abs(op.Weight-s.Operations[i].Weight/100) > 1e-12 {
			t.Errorf("%s has a share of %v, want %v %%", op.ID, op.Weight, s.Operations[i].Weight)
		}
	}
}

// What is carried out in place of an operation of the mix must have a name to be counted under.
func TestACrowdHasWhatStandsInForItsOperations(t *testing.T) {
	s, err := parse(t, "[roles.clerk]\nusers = 2\n[roles.clerk.weights]\n\"bank_payment.post\" = 1\n")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, op := range s.Crowd(0, nil).Operations {
		got[op.ID] = op.Weight
	}
	want := map[string]float64{"bank_payment.post": 1, "payment_request.post": 0, "service_purchase.post": 0}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestPrintedScenarioReadsAsItself(t *testing.T) {
	for name, change := range map[string]func(*Scenario){
		"Default": func(*Scenario) {},
		"Roles": func(s *Scenario) {
			s.Title, s.Backdated, s.Refused = "a \"day\" \\ on the floor", 0.2, 0
			s.Roles = []Role{
				{Name: "clerk", Users: 7, Think: users.Think{Mean: 90 * time.Second}.WithDefaults(),
					Weights: map[string]float64{"goods_sale.post": 1.5}},
				{Name: "head of stock", Users: 1, Think: users.Think{Distribution: users.Constant}.WithDefaults()},
			}
			s.Day = []Point{{9 * time.Hour, 0.25}, {17*time.Hour + 30*time.Minute, 1}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			want := Default()
			change(want)
			var b strings.Builder
			if err := want.WriteTOML(&b); err != nil {
				t.Fatal(err)
			}
			got, err := parse(t, b.String())
			if err != nil {
				t.Fatalf("%v\n%s", err, b.String())
			}
			want.Name = got.Name
			if diff := cmp.Diff(want, got); diff != "" || got.Digest() != want.Digest() {
				t.Errorf("%s", diff)
			}
		})
	}
}

func TestDigest_IsOfWhatUsersDo(t *testing.T) {
	renamed, slower := Default(), Default()
	renamed.Operations[0].Title = "another title"
	slower.Operations[0].Target *= 2
	if Default().Digest() != renamed.Digest() || Default().Digest() == slower.Digest() {
		t.Error(Default().Digest(), renamed.Digest(), slower.Digest())
	}
}

func TestRead_RolesDayAndShares(t *testing.T) {
	s, err := parse(t, `
refused = 0.1
[think]
distribution = "constant"
mean = "4s"
[roles.clerk]
users = 30
weights = { "goods_sale.post" = 3, "goods_sale.list" = 1 }
[roles.boss.think]
mean = "1m"
[roles.boss]
users = 10
weights."trial_balance.report" = 1
[day]
"12:00" = 1
"08:00" = 0.5
"16:00" = 0
[operations."trial_balance.report"]
target = "5s"
`)
	if err != nil {
		t.Fatal(err)
	}
	c := s.Crowd(8, nil)
	var got []string
	for _, op := range c.Operations {
		got = append(got, op.ID)
	}
	if strings.Join(got, " ") != "goods_sale.post goods_sale.list trial_balance.report" {
		t.Errorf("operations %v: those that nobody does are left out", got)
	}
	if c.Roles[0].Users != 6 || c.Roles[1].Users != 2 || c.Roles[1].Think.Mean != time.Minute ||
		c.Roles[1].Think.Distribution != users.Constant {
		t.Errorf("want 6 and 2 users and the think time of the second role, got %+v", c.Roles)
	}
	if diff := cmp.Diff(users.Pace{{At: 0, Level: 0.5}, {At: 0.5, Level: 1}, {At: 1, Level: 0}}, c.Pace); diff != "" {
		t.Error(diff)
	}
	if c.Operations[2].Target != 5*time.Second || s.Refused != 0.1 {
		t.Errorf("want target and share of the file, got %+v", s)
	}
	if other := s.Crowd(8, &users.Think{Mean: time.Hour}); other.Roles[0].Think.Mean != time.Hour ||
		other.Roles[1].Think.Mean != time.Hour {
		t.Error("a think time that is given goes before the roles'")
	}
}

func TestRead_SaysFileLineKeyAndWhatWasMeant(t *testing.T) {
	for _, c := range []struct{ name, text, says, hint string }{
		{"UnknownKey", "titel = 1\n", "own.toml:1: titel: unknown key", "did you mean title?"},
		{"UnknownKeyOfRole", "[roles.a]\nuser = 5\n", "own.toml:2: roles.a.user: unknown key", "did you mean users?"},
		{"UnknownTable", "[rolls.a]\nusers = 5\n", ":1: rolls: unknown key", "did you mean roles?"},
		{"UnknownOperation", "[roles.a]\nusers = 1\n[roles.a.weights]\n\"goods_sale.pots\" = 1\n",
			":4: roles.a.weights.\"goods_sale.pots\": no such key operation", "did you mean goods_sale.post?"},
		{"OperationOfTheERPMisspelt", "[operations.\"goods_sale.pots\"]\ntarget = \"1s\"\n",
			":1: operations.\"goods_sale.pots\": no such key operation in the ERP",
			"did you mean goods_sale.post?"},
		{"WrongShare", "refused = 3\n", ":1: refused: takes a share between 0 and 1, not 3", ""},
		{"WrongDuration", "[think]\nmean = 5\n", ":2: think.mean: takes a duration", ""},
		{"WrongDistribution", "[think]\n\ndistribution = \"lognormla\"\n",
			":3: think.distribution: must be one of lognormal", "did you mean lognormal?"},
		{"TextForNumber", "users = \"5\"\n", ":1: users: takes a whole number between 1 and 100000, not 5", ""},
		{"TableForValue", "[users]\na = 1\n", ":1: users: takes a value, not a table", ""},
		{"ValueForTable", "roles = 5\n", ":1: roles: takes a table", ""},
		{"WrongTime", "[day]\n\"25:00\" = 1\n", ":2: day.\"25:00\": takes a time of the day", `such as "09:30"`},
		{"DayOfNothing", "[day]\n\"09:00\" = 0\n", "the pace is 0 all the time", ""},
		{"RoleWithNothingToDo", "\n[roles.a]\nusers = 1\n[roles.a.weights]\n", ":2: role a has nothing to do", ""},
		{"NoUsers", "[roles.a]\nusers = 0\n", "the roles have no users", ""},
		{"CapBelowMean", "[roles.a]\nusers = 1\n[roles.a.think]\ncap = \"1s\"\n", ":1: role a: longest think time 1s",
			""},
		{"WrongApplication", "application = \"epr\"\n", ":1: application: must be", "did you mean erp?"},
		{"NoOperation", "application = \"none\"\n", "there is no key operation", "[operations.NAME]"},
		{"NoTarget", "application = \"none\"\n[operations.a]\npriority = 1\n", ":2: operations.a has no target",
			`target = "500ms"`},
		{"NothingToDo", "application = \"none\"\n[operations.a]\ntarget = \"1s\"\n",
			":2: operations.a: there is nothing to do", "sql, script or url"},
		{"ScriptIsWrong", "application = \"none\"\n[operations.a]\ntarget = \"1s\"\nsql = '''\nSELECT 1;\n\\set a " +
			"1 +\n'''\n", ":6: operations.a.sql: \\set a: the expression ends too soon", ""},
		{"ScriptIsMissing", "[operations.a]\nscript = \"no.sql\"\n", ":2: operations.a.script: read script",
			"folder of the scenario"},
		{"ResetIsWrong", "[sql]\nreset = \"\\\\shell rm\"\n", ":2: sql.reset: \\shell is refused", ""},
		{"WrongTemplate", "[operations.a]\nurl = \"/{{\"\n", ":2: operations.a.url: {{ must be followed", ""},
		{"WrongMethod", "[operations.a]\nurl = \"/\"\nmethod = \"PSOT\"\n", ":3: operations.a.method: must be one of",
			"did you mean POST?"},
		{"WrongStatus", "[operations.a]\nurl = \"/\"\nexpect = [99]\n", ":3: operations.a.expect: takes a status", ""},
		{"WrongMode", "[sql]\nmode = \"prepard\"\n", ":2: sql.mode: must be one of", "did you mean prepared?"},
		{"PipelineInSimpleMode", "[sql]\nmode = \"simple\"\n[operations.a]\ntarget = \"1s\"\nsql = " +
			"'''\n\\startpipeline\nSELECT 1;\n\\endpipeline\n'''\n",
			":3: operations.a: \\startpipeline is not possible in mode", ""},
		{"VariableThatNothingSets", "application = \"none\"\n[variables]\nwhom = 1\n[operations.a]\ntarget = \"1s\"\n" +
			"sql = \"SELECT :who\"\n", ":4: operations.a, line 1 of its script: nothing sets the variable who",
			"did you mean whom?"},
		{"VariableOfAnExpression",
			"[operations.a]\ntarget = \"1s\"\nsql = '''\n\\if :b > 1\n\\set x abs(:b)\n\\endif\n" +
				"SELECT :x\n'''\n", ":1: operations.a, line 1 of its script: nothing sets the variable b",
			"[variables]"},
		{"VariableToSleep", "[operations.a]\ntarget = \"1s\"\nsql = '''\n\\sleep :pause ms\nSELECT 1\n'''\n",
			":1: operations.a, line 1 of its script: nothing sets the variable pause", ""},
		{"TokenThatNothingSets", "[operations.a]\ntarget = \"1s\"\nurl = \"http://localhost/{{client_id}}\"\n" +
			"headers = { Authorization = \"Bearer {{token}}\" }\n",
			":4: operations.a.headers.Authorization: nothing sets the variable token", "extract"},
		{"VariableOfTheLogin", "[login]\nurl = \"http://localhost/{{name}}\"\n",
			"own.toml:2: login.url: nothing sets the variable name", ""},
		{"NotTOML", "users = \n", "own.toml:1: ", "the file is TOML"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := parse(t, c.text)
			if err == nil {
				t.Fatalf("accepted: %+v", s)
			}
			if !strings.Contains(err.Error(), c.says) || !strings.Contains(problem.HintOf(err), c.hint) ||
				problem.ClassOf(err) != problem.Usage {
				t.Errorf("%v\nhint: %s", err, problem.HintOf(err))
			}
		})
	}
	if _, err := Read("/no/such.toml"); err == nil || problem.ClassOf(err) != problem.Usage ||
		problem.HintOf(err) == "" {
		t.Error(err)
	}
}

// What is set anywhere may be used anywhere: operations of one user follow each other in any order.
func TestVariablesThatSomethingSetsAreKnown(t *testing.T) {
	for name, text := range map[string]string{
		"ByTheUser": "sql = \"SELECT :client_id, :default_seed\"\n",
		"ByTheFile": "sql = \"SELECT :who\"\n[variables]\nwho = 1\n",
		"ByTheLogin": "url = \"http://localhost/{{who}}\"\n[login]\nurl = \"http://localhost/\"\n" +
			"extract = { who = \"id\" }\n",
		"ByAnother": "sql = \"SELECT :who\"\n[operations.b]\ntarget = \"1s\"\n" +
			"sql = '''\n\\set who 1\nSELECT 1\n'''\n",
		"InABranch":      "sql = '''\n\\if true\n\\set who 1\n\\endif\nSELECT :who\n'''\n",
		"ByAQuery":       "sql = '''\nSELECT 1 AS who \\gset\nSELECT :who\n'''\n",
		"WithAPrefix":    "sql = '''\nSELECT 1 AS o \\gset wh\nSELECT :who\n'''\n",
		"SimpleIsOfText": "sql = '''\nSELECT '{\"a\":true}';\n'''\n[sql]\nmode = \"simple\"\n",
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := parse(t, "application = \"none\"\n[operations.a]\ntarget = \"1s\"\n"+text); err != nil {
				t.Errorf("%v: %s", err, problem.HintOf(err))
			}
		})
	}
}

func TestUsersAreApportionedWithoutLosingAny(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		counts := rapid.SliceOfN(rapid.IntRange(1, 1000), 1, 8).Draw(t, "roles")
		n := rapid.IntRange(1, 50_000).Draw(t, "users")
		var roles []Role
		all := 0
		for _, users := range counts {
			roles, all = append(roles, Role{Users: users}), all+users
		}
		sum := 0
		for i, got := range apportion(roles, n) {
			sum += got
			if math.Abs(float64(got)-float64(n)*float64(counts[i])/float64(all)) >= 1 {
				t.Fatalf("role %d of %v gets %d of %d", i, counts, got, n)
			}
		}
		if sum != n {
			t.Fatalf("%d of %d users have a role", sum, n)
		}
	})
}

func TestExamplesOfTheDocsRead(t *testing.T) {
	for _, file := range examples(t) {
		if _, err := Read(file); err != nil {
			t.Errorf("%v\nhint: %s", err, problem.HintOf(err))
		}
	}
}
