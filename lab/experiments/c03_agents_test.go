package experiments

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
	"time"

	"plimsoll/lab/claims"
	"plimsoll/lab/ratio"
	"plimsoll/lab/run"
)

func TestC03_Judge(t *testing.T) {
	at := func(low, high float64) ratio.Ratio {
		return ratio.Ratio{Ratio: 1, Low: low, High: high, Confidence: 0.97}
	}
	full := Bench{Users: c03Claimed}
	for _, c := range []struct {
		name    string
		bench   Bench
		scores  ratio.Ratio
		alone   float64
		wrong   []string
		partial bool
		want    claims.Verdict
		why     string
	}{
		{"AllWell", full, at(0.999, 1.001), 0.01, nil, false, claims.Confirmed, ""},
		{"FewerSessions", Bench{Users: 7680}, at(1, 1), 0, nil, false, claims.Inconclusive, "--full takes 30,720"},
		{"NotValid", full, at(1, 1), 0, []string{"not valid: lag"}, false, claims.Inconclusive, "not valid: lag"},
		{"AnotherLoad", full, at(1, 1), 0.03, nil, false, claims.Refuted, "not the same load"},
		{"OtherScores", full, at(0.9, 0.95), 0, nil, false, claims.Refuted, "the scores differ"},
		{"UnsureScores", full, at(0.9, 1.1), 0, nil, false, claims.Inconclusive, "not surely"},
		{"TooFewTurns", full, ratio.Ratio{Ratio: 1, Low: 1, High: 1, Confidence: 0.5}, 0, nil, false, claims.Inconclusive, "too few turns"},
		{"Stopped", full, at(1, 1), 0, nil, true, claims.Inconclusive, "too few turns"},
	} {
		t.Run(c.name, func(t *testing.T) {
			verdict, why := LoadFromAgents{}.judge(c.bench, c.scores, c.alone, c.wrong, c.partial)
			if verdict != c.want || !strings.Contains(why, c.why) {
				t.Errorf("%s (%s), want %s (%s)", verdict, why, c.want, c.why)
			}
		})
	}
}

func TestC03_SizesKeepTheRateOfTheReport(t *testing.T) {
	e := LoadFromAgents{}
	for _, b := range []Bench{e.defaults(Bench{}), e.defaults(Bench{Full: true})} {
		if rate := float64(b.Users) / e.think(b).Seconds(); rate < 25 || rate > 26 {
			t.Errorf("%d sessions: %.1f operations/s", b.Users, rate)
		}
	}
	if takes := e.Plan(Bench{}).Takes; takes > 4*time.Minute {
		t.Errorf("takes %s", takes)
	}
}

// Real agents and a real worker: both sides are counted once more and come out the same; what is
// taken from a page is missed.
func TestC03_OneProcessAndAgentsMakeTheSameLoad(t *testing.T) {
	serve, dsn := program(t), filledDatabase(t)
	b := Bench{Serve: serve, Agent: []string{serve[0], "agent", "--quiet"}, Software: versionOf(t, serve[0]), Users: 120, Duration: 6 * time.Second}
	e, found := LoadFromAgents{}, c03Made{}
	for side := range 2 {
		o := run.Options{
			DSN: dsn, Serve: b.Serve, ServeEnv: []string{"PLIMSOLL_DSN=" + dsn}, Software: b.Software, Seed: 1, LagLimit: time.Minute,
		}
		f, err := e.once(t.Context(), b, o, side, &found)
		if err != nil {
			t.Fatal(err)
		}
		if f["operations"] <= 0 || f[c03CPU] <= 0 || f[c03Score] <= 0 {
			t.Errorf("side %d: %v", side, f)
		}
	}
	if len(found.wrong) > 0 || len(found.results[1][0].Generator.Agents) != c03Agents || len(found.results[0][0].Generator.Agents) != 0 {
		t.Errorf("%q, %+v", found.wrong, found.results[1][0].Generator)
	}
	if alone, all := apart(found.judged); all < 200 || alone > all/5 {
		t.Errorf("of %d operations %d are one side's alone", all, alone)
	}
	s := newRecounting()
	if got := s.differences(found.results[1][0]); len(got) == 0 {
		t.Error("an empty recount is called identical")
	}
}

func versionOf(t *testing.T, program string) string {
	t.Helper()
	text, err := exec.Command(program, "version", "--json").Output()
	var v struct{ Version string }
	if err == nil {
		err = json.Unmarshal(text, &v)
	}
	if err != nil || v.Version == "" {
		t.Fatalf("%s, %v", text, err)
	}
	return v.Version
}
