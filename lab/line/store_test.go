package line

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"plimsoll/ground/postgres/identity"
	"plimsoll/ground/problem"
	"plimsoll/lab/system"
)

// keepStopped is a stopped search with a trial in a store of its own, as a version of plimsoll left it.
func keepStopped(t *testing.T, change func(*Line)) *Store {
	t.Helper()
	s := OpenStore(t.TempDir())
	id, err := s.Begin(time.Now(), "")
	if err != nil {
		t.Fatal(err)
	}
	l := &Line{Schema: Schema, ID: id, Plan: somePlan(), Trials: []Trial{{Users: 8}}}
	change(l)
	text, err := json.Marshal(l)
	if err == nil {
		err = os.WriteFile(s.ResultPath(id), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func somePlan() Plan {
	return Plan{Target: 0.85, Bounds: Bounds{First: 8, Most: 400, Resolution: 0.05, Confirmations: 3}, DurationS: 20,
		Scenario: "default", Digest: "0123456789ab", Seed: 1, Reset: system.ResetFilled, Workers: 1}
}

// A search that another version began is found if nothing differs; else the error says what does, and what to do.
func TestUnfinished_SaysWhatDoesNotMatch(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Line)
		want   []string // of the hint; none: it is found
	}{
		"Nothing": {func(*Line) {}, nil},
		"AnotherContentOfTheScenario": {func(l *Line) { l.Plan.Digest = "ba9876543210" }, []string{"with 1 trial",
			"another content of the scenario ba9876543210, not 0123456789ab", "another version of plimsoll",
			"start over without --resume"}},
		"AFlag": {func(l *Line) { l.Plan.DurationS, l.Plan.Target = 30, 0.9 },
			[]string{"--duration 30, not 20; --target 0.9, not 0.85: repeat its exact command"}},
		"AFlagAndTheContent": {func(l *Line) { l.Plan.Digest, l.Plan.Seed = "ba9876543210", 2 },
			[]string{"--seed 2, not 1", "another content", ": repeat its exact command"}},
		"AnotherSchema": {func(l *Line) { l.Schema = "plimsoll.line/0" }, []string{"stopped by another version",
			"plimsoll.line/0"}},
		"AnotherApplication": {func(l *Line) { l.Plan.URLs = []string{"http://a:8080"} },
			[]string{`--url ["http://a:8080"], not none: repeat its exact command`}},
		"Complete": {func(l *Line) { l.Complete = true }, []string{"start one: the same command without --resume"}},
	} {
		t.Run(name, func(t *testing.T) {
			l, release, err := keepStopped(t, c.change).unfinished(t.Context(), somePlan())
			if c.want == nil {
				if err != nil || len(l.Trials) != 1 {
					t.Fatalf("%+v, %v", l, err)
				}
				release()
				return
			}
			for _, part := range c.want {
				if hint := problem.HintOf(err); problem.ClassOf(err) != problem.Usage || !strings.Contains(hint, part) {
					t.Errorf("%v (%s), want %q", err, hint, part)
				}
			}
		})
	}
}

// What one server and one program began is not gone on with by others, and the error names the difference.
func TestUnfinished_KnowsServerAndProgram(t *testing.T) {
	server := func(system string) *identity.Identity { return &identity.Identity{System: system, Address: "db:5432"} }
	for name, c := range map[string]struct {
		change func(*Line)
		want   string
	}{
		"TheSame":        {func(*Line) {}, ""},
		"AnotherServer":  {func(l *Line) { l.Plan.Server = server("2") }, "system identifier 1, before 2"},
		"AnotherProgram": {func(l *Line) { l.Plan.Program = "0.4.0" }, "was made by plimsoll 0.4.0, this is 0.5.0"},
		"NoServer":       {func(l *Line) { l.Plan.Server = nil }, "does not record its server"},
		"OfAnOlderVersion": {func(l *Line) { l.Plan.Server, l.Plan.Program = nil, "" },
			"plimsoll of an older version"},
		"UnknownIdentifier": {func(l *Line) { l.Plan.Server = server(identity.Unknown) }, ""},
	} {
		plan := somePlan()
		plan.Server, plan.Program = server("1"), "0.5.0"
		_, release, err := keepStopped(t, func(l *Line) { l.Plan = plan; c.change(l) }).unfinished(t.Context(), plan)
		switch {
		case c.want == "" && err == nil:
			release()
		case err == nil || problem.ClassOf(err) != problem.Usage || !strings.Contains(err.Error(), c.want):
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// Whatever a plan has is named when it differs, or a search would not go on for no reason that is told.
func TestPlan_DifferencesNameEveryField(t *testing.T) {
	var walk func(v reflect.Value, found func(string))
	walk = func(v reflect.Value, found func(string)) {
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.Anonymous {
				walk(v.Field(i), found)
			} else {
				name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				found(name)
			}
		}
	}
	walk(reflect.ValueOf(Plan{}), func(name string) {
		if planWords[name] == "" && name != "server" && name != "program" { // foreign names these
			t.Errorf("%s has no words", name)
		}
	})
}
