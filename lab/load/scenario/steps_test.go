package scenario

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"plimsoll/ground/problem"
	"plimsoll/lab/load/custom"
	"plimsoll/test/files"
)

const web = `application = "none"
[http]
base = "http://localhost:8000"
cookies = false
redirects = 3
connections = "browser"
version = "2"
headers = { Accept-Language = "en" }
auth = { basic = "u{{client_id}}:p" }
tls = { insecure = true, server_name = "shop.test" }
[[login.steps]]
url = "/login"
extract = { csrf = "css:input[name=csrf]@value" }
[[login.steps]]
url = "/login"
form = { csrf = "{{csrf}}", n = 1, tag = ["a", "b"] }
[operations.order]
target = "1s"
[[operations.order.steps]]
sql = '\set item random(1, 10)'
url = "/items/{{item}}"
resources = ["/app.css"]
check = { matches = "Item [0-9]+", within = "2s", "css:.error" = false, "a.b" = true, "header:X" = "{{item}}" }
[[operations.order.steps]]
think = "2s"
url = "/photo"
multipart = { note = "hi" }
files = { photo = "photo.jpg" }
[[operations.order.steps]]
url = "/import"
method = "PUT"
body_file = "photo.jpg"
expect = 302
`

func readWeb(t *testing.T, text string) (*Scenario, error) {
	t.Helper()
	dir := t.TempDir()
	files.Write(t, dir, "photo.jpg", "\xff\xd8")
	return Read(files.Write(t, dir, "own.toml", text))
}

func TestRead_Steps(t *testing.T) {
	s, err := readWeb(t, web)
	if err != nil {
		t.Fatalf("%v\nhint: %s", err, problem.HintOf(err))
	}
	if got := s.Own.HTTP; !got.Cookieless || got.RedirectsMost() != 3 || got.PerUser() != 1 || got.TLS == nil ||
		got.Auth.Basic == "" || got.Headers["Accept-Language"] != "en" {
		t.Errorf("%+v", got)
	}
	steps := s.operation("order").Action.Steps
	if len(steps) != 3 || steps[0].Request.Method != "GET" || steps[1].Request.Method != "POST" ||
		steps[2].Request.Method != "PUT" || steps[1].Think != 2*time.Second || steps[0].Script == nil ||
		steps[1].Request.Files["photo"].Type != "image/jpeg" || string(steps[2].Request.BodyFile.Text) != "\xff\xd8" {
		t.Errorf("%+v", steps)
	}
	if c := steps[0].Request.Check; c.Matches == nil || c.Within != 2*time.Second || len(c.Values) != 3 ||
		!c.Values[0].Absent || c.Values[1].Want != "true" {
		t.Errorf("%+v", c)
	}
	if diff := cmp.Diff([]string{"a", "b"}, s.Own.Login.Steps[1].Request.Form["tag"]); diff != "" {
		t.Error(diff)
	}
	if s.NeedsDatabase() || !custom.NeedsBase(s.Own, s.Actions()) {
		t.Error("it needs a database, or no address")
	}
}

// An agent gets the scenario as JSON, and plays the same.
func TestScenarioWithStepsSurvivesItsWayToAnAgent(t *testing.T) {
	s, err := readWeb(t, web)
	if err != nil {
		t.Fatal(err)
	}
	wire, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var again Scenario
	if err := json.Unmarshal(wire, &again); err != nil {
		t.Fatal(err)
	}
	if err := again.Prepare(); err != nil {
		t.Fatal(err)
	}
	second, err := json.Marshal(again)
	if err != nil || string(second) != string(wire) || again.Digest() != s.Digest() {
		t.Errorf("%v: sent %s\nthere %s", err, wire, second)
	}
	for i, step := range again.operation("order").Action.Steps {
		if (step.Script == nil) != (i > 0) {
			t.Errorf("step %d: %+v", i+1, step)
		}
	}
	changed := strings.Replace(web, `think = "2s"`, `think = "3s"`, 1)
	if other, err := readWeb(t, changed); err != nil || other.Digest() == s.Digest() {
		t.Errorf("another think time is the same scenario: %v", err)
	}
}

func (s *Scenario) operation(id string) *Operation {
	for i := range s.Operations {
		if s.Operations[i].ID == id {
			return &s.Operations[i]
		}
	}
	return nil
}

// Wrong keys of web applications, in the scenario above with a line more or another one.
func TestRead_SaysWhereAWebScenarioIsWrong(t *testing.T) {
	for _, c := range []struct{ name, old, new, says, hint string }{
		{"Steps", "[operations.order]\n", "[operations.look]\ntarget = \"1s\"\nsteps = 5\n[operations.order]\n",
			":19: operations.look.steps: takes a list of 1 to 1000 tables", "[[operations.look.steps]]"},
		{"StepsAsTable", "[operations.order]\n", "[operations.look]\ntarget = \"1s\"\n[operations.look.steps]\n" +
			"url = \"/\"\n[operations.order]\n", ":19: operations.look.steps: takes a list of tables: " +
			"[[operations.NAME.steps]]",
			""},
		{"StepsAndURL", "target = \"1s\"\n", "target = \"1s\"\nurl = \"/\"\n",
			":17: operations.order has steps, and something", "into a step"},
		{"EmptyStep", "[[operations.order.steps]]\nthink",
			"[[operations.order.steps]]\n[[operations.order.steps]]\nthink",
			":24: operations.order.steps.2: there is nothing to do", "sql, script or url"},
		{"KeyOfStep", "think = \"2s\"", "thnik = \"2s\"", ":25: operations.order.steps.2.thnik: unknown key",
			"did you mean think?"},
		{"ThinkFirst", "sql = '\\set", "think = \"1s\"\nsql = '\\set", ":20: operations.order.steps.1.think: stands " +
			"before",
			"leave it out"},
		{"ThinkAtLogin", "form = {", "think = \"1s\"\nform = {", ":16: login.steps.2.think: has no effect", "leave " +
			"it out"},
		{"WrongThink", "think = \"2s\"", "think = 2", ":25: operations.order.steps.2.think: takes a duration", ""},
		{"VariableInForm", "csrf = \"{{csrf}}\"", "csrf = \"{{crsf}}\"",
			":16: login.steps.2.form.csrf: nothing sets the variable crsf", "did you mean csrf?"},
		{"VariableInCheck", "\"{{item}}\" }", "\"{{itme}}\" }",
			":23: operations.order.steps.1.check.\"header:X\": nothing sets the variable itme", "did you mean item?"},
		{"VariableInScript", "sql = '\\set item random(1, 10)'", "sql = '\\set item random(1, :most)'",
			":19: operations.order.steps.1, line 1 of its script: nothing sets the variable most", ""},
		{"VariableInHeader", "Accept-Language = \"en\"", "X = \"{{toke}}\"",
			":8: http.headers.X: nothing sets the variable toke", "[variables]"},
		{"VariableInAuth", "u{{client_id}}:p", "u{{user_id}}:p",
			":9: http.auth.basic: nothing sets the variable user_id", ""},
		{"Redirects", "redirects = 3", "redirects = 51", ":5: http.redirects: takes a whole number between 0 and 50",
			""},
		{"Connections", `"browser"`, `"brwoser"`, ":6: http.connections: must be one of shared, user, browser",
			"did you mean browser?"},
		{"Version", `version = "2"`, "version = 2", ":7: http.version: must be one of 1.1, 2, not 2", "as text"},
		{"Base", "http://localhost:8000", "localhost:8000", ":3: http.base: takes an address", "http://"},
		{"Cookies", "cookies = false", "cookies = 0", ":4: http.cookies: takes true or false", ""},
		{"TwoAuths", `basic = "u{{client_id}}:p"`, `basic = "a:b", bearer = "c"`, "exclude each other", "keep one"},
		{"BasicWithoutPassword", "u{{client_id}}:p", "u",
			":9: http.auth.basic: takes a name and a password", ":{{password}}"},
		{"HeaderName", "Accept-Language", `"Accept Language"`, ":8: http.headers.\"Accept Language\": is no name", ""},
		{"KeyWithoutCertificate", "insecure = true", `key = "photo.jpg"`, ":10: http.tls: certificate and key", "PEM"},
		{"NoCA", "insecure = true", `ca = "photo.jpg"`, ":10: http.tls: ca contains no certificate", "PEM"},
		{"NoFile", `photo = "photo.jpg"`, `photo = "lost.jpg"`, ":28: operations.order.steps.2.files.photo: read file",
			"folder of the scenario"},
		{"FolderAsFile", `photo = "photo.jpg"`, `photo = "."`,
			":28: operations.order.steps.2.files.photo: read file: . is not", ""},
		{"Source", "css:input[name=csrf]@value", "ccs:input", ":13: login.steps.1.extract.csrf: no kind of source " +
			"\"ccs\"",
			"did you mean css?"},
		{"Selector", "css:input[name=csrf]@value", "css:input[", ":13: login.steps.1.extract.csrf: selector", "such " +
			"as"},
		{"Matches", `matches = "Item [0-9]+"`, `matches = "("`,
			":23: operations.order.steps.1.check.matches: takes a regular", "missing closing"},
		{"Within", `within = "2s"`, `within = 2`, ":23: operations.order.steps.1.check.within: takes a duration", ""},
		{"CheckOfList", `"a.b" = true`, `"a.b" = [1, 2]`,
			":23: operations.order.steps.1.check.\"a.b\": takes one text", "true"},
		{"TwoContents", "body_file =", "body = \"{}\"\nbody_file =", "body and body_file exclude each other", "keep " +
			"one"},
		{"FormByGET", "form = {", "method = \"GET\"\nform = {", ":14: login.steps.2: form is not sent by GET", "url"},
		{"FieldOfTable", "n = 1,", "n = { a = 1 },", "login.steps.2.form.n: takes a value, not a table", ""},
		{"NoURL", "url = \"/import\"\n", "", ":29: operations.order.steps.3: the request has no url", "such as"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(web, c.old, c.new, 1)
			if text == web {
				t.Fatal("nothing is changed")
			}
			_, err := readWeb(t, text)
			if err == nil {
				t.Fatal("accepted")
			}
			if !strings.Contains(err.Error(), c.says) || !strings.Contains(problem.HintOf(err), c.hint) ||
				problem.ClassOf(err) != problem.Usage {
				t.Errorf("%v\nhint: %s", err, problem.HintOf(err))
			}
		})
	}
}

// Every example of the documents may be read from another folder, so it stands on its own.
func TestExamplesOfWebApplicationsHaveSteps(t *testing.T) {
	text, err := os.ReadFile(filepath.FromSlash("../../../docs/examples/forms.toml"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := readWeb(t, string(text))
	if err != nil || len(s.Own.Login.Steps) != 2 || len(s.operation("order").Action.Steps) != 3 {
		t.Errorf("%v, %+v", err, s)
	}
}
