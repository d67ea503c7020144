package har_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"plimsoll/lab/load/custom"
	"plimsoll/lab/load/scenario"
	"plimsoll/lab/load/tally"
	"plimsoll/lab/recorded/har"
	"plimsoll/test/files"
)

// style is a way in which web applications know their users.
type style struct {
	name   string
	routes func(*office, *http.ServeMux)
	visit  func(*visitor)
	login  bool // [login] is expected; otherwise each request says who asks
}

const (
	alice         = "alice@office.example"
	alicePassword = "s3cret of A & B"
)

var aliceJSON = `{"username":"alice@office.example","password":"s3cret of A & B"}`

// Who has recorded a log-in of any style can let others log in and work, in any order, again and again.
func TestStyles_OthersLogInAndWork(t *testing.T) {
	for _, s := range styles() {
		t.Run(s.name, func(t *testing.T) {
			o, mux := newOffice(), http.NewServeMux()
			s.routes(o, mux)
			server := httptest.NewServer(mux)
			t.Cleanup(server.Close)
			v := visit(t, server)
			s.visit(v)
			if o.loggedIn[alice] == 0 || o.worked[alice] == 0 {
				t.Fatalf("the visit itself did not work: %v %v", o.loggedIn, o.worked)
			}
			t.Run("AsABrowserRecordsIt", func(t *testing.T) { serves(t, o, s, v.har()) })
			// A proxy does not know what a browser wants something for.
			t.Run("AsAProxyRecordsIt", func(t *testing.T) { serves(t, o, s, kinds.ReplaceAllString(v.har(), "")) })
		})
	}
}

var kinds = regexp.MustCompile(`"_resourceType":"[a-z]+",`)

// serves others: the scenario made of one visit.
func serves(t *testing.T, o *office, s style, file string) {
	t.Helper()
	imported := importOf(t, file, har.Options{})
	if imported.Login != s.login {
		t.Errorf("a log-in was found: %v", imported.Login)
	}
	if strings.Contains(imported.TOML, alicePassword) || strings.Contains(imported.TOML, "s3cret") {
		t.Errorf("the password is written")
	}
	for user, password := range staff {
		o.worked = map[string]int{}
		if played := playAs(t, imported, user, password); o.worked[user] < played || len(o.worked) != 1 {
			t.Errorf("of %d operations by %s these were done: %v", played, user, o.worked)
		}
	}
	if t.Failed() {
		t.Logf("imported:\n%s", imported.TOML)
	}
}

func importOf(t *testing.T, file string, o har.Options) *har.Scenario {
	t.Helper()
	rec, err := har.Read(strings.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	s, err := har.Import(rec, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// playAs plays each operation of an imported scenario twice, the last first, as another user.
func playAs(t *testing.T, imported *har.Scenario, user, password string) (played int) {
	t.Helper()
	s, err := scenario.Read(files.Write(t, t.TempDir(), "imported.toml", imported.TOML))
	if err != nil {
		t.Fatalf("%v\n%s", err, imported.TOML)
	}
	s.Own.Variables["user_name"], s.Own.Variables["user_password"] = user, password
	actions := s.Actions()
	for _, a := range actions {
		for _, step := range a.Steps {
			step.Think = 0
		}
	}
	p, err := custom.Open(t.Context(), custom.Options{Settings: s.Own, Actions: actions, Users: 1,
		Transport: func(int) http.RoundTripper { return http.DefaultTransport }})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := p.LogIn(t.Context(), 0); err != nil {
		t.Errorf("%s cannot log in: %v", user, err)
		return 0
	}
	for range 2 {
		for i := len(actions) - 1; i >= 0; i-- {
			played++
			if outcome, err := p.Play(t.Context(), 0, i, nil); outcome != tally.OK {
				t.Errorf("%s by %s: %v, %v", s.Operations[i].ID, user, outcome, err)
			}
		}
	}
	return played
}
