package line

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"plimsoll/lab/load/apdex"
	"plimsoll/lab/recorded/replay"
	"plimsoll/lab/recorded/sample/sampletest"
	"plimsoll/lab/recorded/score"
	"plimsoll/lab/system"
)

func TestTrialOfReplay(t *testing.T) {
	faithful := replay.Fidelity{Read: 1000, Replayed: 1000, Same: 1000}
	scored := func(at, low, high float64) *score.Result {
		return &score.Result{Calls: 100, Apdex: at, Interval: apdex.Interval{Low: low, High: high}}
	}
	// A log of 60 s with 10 sessions at once: 20 users play it in 30 s.
	s := &search{Line: &Line{}, Options: Options{Target: 0.85,
		extent: replay.Extent{Length: time.Minute, Sessions: 10}}}
	for name, c := range map[string]struct {
		r       replay.Result
		outcome Outcome
		why     string
	}{
		"passes": {replay.Result{LastedS: 30.2, Fidelity: faithful, Replayed: scored(0.9, 0.8, 0.95)}, Passes, ""},
		"fails":  {replay.Result{LastedS: 31, Fidelity: faithful, Replayed: scored(0.5, 0.4, 0.6)}, Fails, "below"},
		"undecided": {replay.Result{LastedS: 31, Fidelity: faithful, Replayed: scored(0.8, 0.7, 0.9)}, Undecided,
			"reaches"},
		"behind": {replay.Result{LastedS: 45, Fidelity: faithful, Replayed: scored(0.9, 0.8, 0.95)}, Fails,
			"did not keep the pace: 45 s, not 30"},
		"unfaithful": {replay.Result{LastedS: 30, Fidelity: replay.Fidelity{Read: 1000, Replayed: 1000, Same: 990},
			Replayed: scored(0.9, 0.8, 0.95)}, Void, "not faithful"},
		"nothing to score": {replay.Result{LastedS: 30, Fidelity: faithful}, Void, "no operation"},
	} {
		t.Run(name, func(t *testing.T) {
			trial := s.trialOfReplay(&c.r, attempt{users: 20})
			if trial.Outcome != c.outcome || !strings.Contains(trial.Why, c.why) {
				t.Errorf("%s (%s), want %s (%s)", trial.Outcome, trial.Why, c.outcome, c.why)
			}
			if trial.Outcome == Undecided && trial.madeAgain() {
				t.Error("it is repeated longer, which a log cannot be")
			}
		})
	}
}

// replayedLine searches a recorded time on a small 1C base.
func replayedLine(t *testing.T, target time.Duration, bounds Bounds, change func([]byte) []byte) *Line {
	t.Helper()
	r := sampletest.Record(t, sampletest.Options{Users: 4, Each: 6, Pause: 50 * time.Millisecond})
	dsn := sampletest.Base(t)
	q := Request{Options: Options{Target: 0.9, Bounds: bounds, Reset: system.ResetAuto, Store: OpenStore(t.TempDir()),
		Replay: &replay.Options{Paths: []string{r.Folder(t, change)}, Speed: 1, Database: sampletest.Database,
			State: t.TempDir(), Target: target}},
		System: system.Spec{Target: system.Target{DSN: dsn}}, Planned: func(string, ...any) {}}
	found, err := Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	l := found.Result.(*Line)
	for _, trial := range l.Trials {
		if trial.Users > bounds.Most || trial.TookS <= 0 || trial.DurationS <= 0 {
			t.Errorf("%+v", trial)
		}
	}
	return l
}

// At a quarter of its pace any machine keeps up; that each trial is as the log shows that it had a new copy.
func TestSearch_OfAReplay(t *testing.T) {
	l := replayedLine(t, 24*time.Hour, Bounds{First: 1, Most: 1, Resolution: 0.1, Confirmations: 1}, nil)
	if len(l.Trials) != 2 || l.Answer == nil || l.Answer.Users != 1 || l.Answer.Below != nil {
		t.Fatalf("%+v\n%+v", l.Answer, l.Trials)
	}
	if p := l.Plan.Replay; p == nil || p.Sessions <= 1 || p.Sessions > 4 || p.LengthS <= 0 ||
		l.Trials[0].Operations != 24 {
		t.Errorf("%+v, %+v", p, l.Trials[0])
	}
	var text bytes.Buffer
	if err := l.Text(&text); err != nil || !strings.Contains(text.String(), "think time as recorded") ||
		!strings.Contains(text.String(), "a replay of ") {
		t.Errorf("%v\n%s", err, &text)
	}
	if err := l.HTML(&text); err != nil {
		t.Error(err)
	}
}

func TestSearch_OfAReplayThatIsTooSlow(t *testing.T) {
	l := replayedLine(t, time.Millisecond, Bounds{Most: 4, Resolution: 0.1, Confirmations: 1}, nil)
	if l.Plan.First < 2 || l.Plan.First > 4 {
		t.Errorf("it begins with %d users, not with those of the log", l.Plan.First)
	}
	if l.Answer != nil || l.Trials[0].Outcome != Fails {
		t.Errorf("%+v\n%+v", l.Answer, l.Trials)
	}
}

func TestSearch_OfAnUnfaithfulReplay(t *testing.T) {
	l := replayedLine(t, 24*time.Hour, Bounds{First: 1, Most: 1, Resolution: 0.1, Confirmations: 1},
		func(log []byte) []byte {
			return bytes.ReplaceAll(log, []byte("RowsAffected=1,"), []byte("RowsAffected=2,"))
		})
	if l.Answer != nil || l.Unmeasured == nil || !strings.Contains(l.Unmeasured.Why, "not faithful") {
		t.Errorf("%+v\n%+v", l.Answer, l.Trials)
	}
	if err := l.Judge(); err == nil {
		t.Error("void trials are an answer")
	}
}
