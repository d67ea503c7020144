package self

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/erp/audit"
	"plimsoll/ground/host/process"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/problem"
	"plimsoll/lab/line"
	"plimsoll/lab/run/result"
	"plimsoll/test/patience"
	"plimsoll/test/thorough"
)

// quickest lines, which every test run plays.
var quickest = []string{"resets", "errors", "refused", "refused-more", "wrong-url"}

func options(t *testing.T) Options {
	return Options{Program: os.Args[:1], Database: func(context.Context) (string, func() error, error) {
		return clustertest.Database(t).Secret(), func() error { return nil }, nil
	}}
}

// TestNoLineIsWrong, whatever else the machine does: it may be void.
func TestNoLineIsWrong(t *testing.T) {
	o := options(t)
	o.Only = quickest
	if thorough.Asked() {
		o.Only = nil
	}
	report, err := Run(t.Context(), o)
	if err != nil {
		t.Fatalf("%v: %s", err, problem.HintOf(err))
	}
	for _, l := range report.Lines {
		t.Logf("%s: %s %s", l.Name, l.Verdict, l.Why)
		for _, f := range l.Figures {
			t.Logf("    %s: expected %s, reported %s", f.Name, f.Expected, f.Reported)
		}
		if l.Verdict == Wrong {
			t.Errorf("%s: %s", l.Name, l.Why)
		}
	}
	if want := max(len(o.Only), len(quickest)); len(report.Lines) < want || report.Right+report.Void+report.Wrong !=
		len(report.Lines) {
		t.Errorf("%d lines, %d right, %d void, %d wrong", len(report.Lines), report.Right, report.Void, report.Wrong)
	}
}

// lies are a false report for each line, and the figures that must say so. A lie about a time would be excused on a
// machine that is disturbed; these are not.
var lies = []struct {
	line    string
	figures []string
	falsify func(*stage)
}{
	{"delay", []string{"p95"}, ofRun(func(r *result.Result) { r.Operations[0].Latency.P95 = milli(150) })},
	{"stall", []string{"standstill", "length", "standstills"}, ofRun(func(r *result.Result) { r.Standstills = nil })},
	{"resets", []string{"requests: operations and resent", "resets: resent and failed"},
		ofRun(func(r *result.Result) { r.Resent-- })},
	{"errors", []string{"failed"}, ofRun(func(r *result.Result) { r.Errors-- })},
	{"refused", []string{"valid"}, ofRun(func(r *result.Result) {
		r.Valid, r.InvalidReasons = true,
			[]string{"look was refused"}
	})},
	{"refused-more", []string{"valid", "reason"}, ofRun(func(r *result.Result) {
		r.Valid, r.InvalidReasons = true, nil
	})},
	{"wrong-url", []string{"reason"}, ofRun(func(r *result.Result) { r.InvalidReasons = nil })},
	{"timeouts", []string{"p99 of all"}, ofRun(func(r *result.Result) { r.Operations[0].LatencyAll.P99 = milli(25) })},
	{"samples", []string{"figures that differ"}, ofRun(func(r *result.Result) { r.Generator.LagMSMax += 100 })},
	{"queue", []string{"rate", "served at once (Little)"}, func(s *stage) {
		s.falsifyLine = func(l *line.Line) { l.Trials[len(l.Trials)-1].OpsPerS = 10_000 }
	}},
	{"pool", []string{"own wait for the pool", "statement alone"},
		ofRun(func(r *result.Result) { r.Operations[0].OwnWait.PoolMeanMS = 0.1 })},
	{"reconciled", []string{"in the database"}, ofRun(func(r *result.Result) { r.Reconciliation.Rows[0].Found++ })},
	{"reset-after", []string{"in the database"}, ofRun(func(r *result.Result) { r.Reconciliation.Rows[0].Found-- })},
	{"twins", []string{"operations"}, ofRun(func(r *result.Result) { r.Ops-- })},
	{"frozen", []string{"valid"}, ofRun(func(r *result.Result) { r.Valid = true })},
	{"disturbed", []string{"valid"}, ofRun(func(r *result.Result) { r.Valid = true })},
	{"journal", []string{"operations, journal whole"}, ofRun(func(r *result.Result) {
		if slices.Contains(r.InvalidCauses, result.ByAccident) { // the one whose process died
			r.Ops += 1e6
		}
	})},
	{"wrong-before", []string{"violations before the run"}, ofRun(func(r *result.Result) {
		r.AuditBefore.Violations--
	})},
	{"books", []string{damages[0].name}, func(s *stage) {
		s.falsifyAudit = func(r *audit.Report) {
			for i := range r.Checks {
				r.Checks[i].Examples = slices.DeleteFunc(r.Checks[i].Examples, func(v audit.Violation) bool {
					return v.Field == damages[0].field
				})
			}
		}
	}},
}

func ofRun(change func(*result.Result)) func(*stage) { return func(s *stage) { s.falsify = change } }

func milli(ms float64) *float64 { return &ms }

// Lies that every test run tells; the rest is for the long form.
var quickestLies = []string{"errors", "refused", "refused-more", "wrong-url", "reset-after", "journal"}

// TestALieIsWrong: a line that is told a false figure says so, and of that figure alone.
func TestALieIsWrong(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range lies {
		seen[c.line] = true
		if !thorough.Asked() && !slices.Contains(quickestLies, c.line) {
			continue
		}
		t.Run(c.line, func(t *testing.T) {
			s, err := newStage(options(t))
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := s.close(); err != nil {
					t.Error(err)
				}
			}()
			c.falsify(s)
			out, err := tests[slices.Index(Names(), c.line)].play(t.Context(), s)
			if err != nil {
				t.Fatalf("%v: %s", err, problem.HintOf(err))
			}
			verdict, why := judge(out)
			// Where the burners got little of a busy machine, the line cannot ask for more.
			if verdict == Void && c.line == "disturbed" {
				t.Skip("void: ", why)
			}
			if verdict != Wrong {
				t.Errorf("%s %s", verdict, why)
			}
			for _, figure := range c.figures {
				if !strings.Contains(why, figure+": ") {
					t.Errorf("%q is not named: %s", figure, why)
				}
			}
			out.figures = slices.DeleteFunc(out.figures, func(f Figure) bool {
				return slices.Contains(c.figures, f.Name)
			})
			if verdict, why := judge(out); verdict == Wrong && len(out.figures) > 0 {
				t.Errorf("more is wrong than the lie: %s", why)
			}
		})
	}
	for _, one := range tests {
		if !seen[one.name] {
			t.Errorf("no lie is told to %s", one.name)
		}
	}
}

// TestPlantedServerEndsWithItsParent: nothing is left behind, however the test ends.
func TestPlantedServerEndsWithItsParent(t *testing.T) {
	if os.Getenv("PLANT_AND_WAIT") != "" {
		s := stage{Options: Options{Program: os.Args[:1]}}
		server, err := s.plant(t.Context(), "steady", "")
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println(server.PID)
		select {}
	}
	parent := exec.Command("/usr/bin/env", "-u", "PLIMSOLL_TEST_AS_PROGRAM", "PLANT_AND_WAIT=1", os.Args[0],
		"-test.run=^"+t.Name()+"$")
	parent.Stderr = os.Stderr
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	_, err = fmt.Fscan(out, &pid)
	var planted process.ID
	if err == nil {
		planted, err = process.Of(pid)
	}
	if killed := parent.Process.Kill(); err != nil || killed != nil {
		t.Fatal(err, killed)
	}
	_ = parent.Wait() // which says that it was killed
	if err := planted.AwaitEnd(patience.Context(t)); err != nil {
		t.Error(err)
	}
}

// TestJudge tells what a disturbance excuses from what it does not.
func TestJudge(t *testing.T) {
	disturbed := []string{"other processes used 60 % of the processors"}
	long, early := atLeast("p50", " ms", 50, 60, 300), atLeast("p50", " ms", 50, 60, 40)
	slow, fast := atMost("rate", "/s", 90, 100, 30), atMost("rate", "/s", 90, 100, 120)
	good := equal("operations", 7, 7)
	for _, c := range []struct {
		name      string
		figures   []Figure
		disturbed []string
		want      Verdict
	}{
		{"AllHold", []Figure{good, atLeast("p50", " ms", 50, 60, 55)}, nil, Right},
		{"AllHoldThoughDisturbed", []Figure{good}, disturbed, Right},
		{"TooLongOnAQuietMachine", []Figure{good, long}, nil, Wrong},
		{"TooLongWhileDisturbed", []Figure{good, long}, disturbed, Void},
		{"TooSlowWhileDisturbed", []Figure{good, slow}, disturbed, Void},
		{"ShorterThanPlantedIsNeverExcused", []Figure{good, early}, disturbed, Wrong},
		{"FasterThanPossibleIsNeverExcused", []Figure{good, fast}, disturbed, Wrong},
		{"ACountIsNeverExcused", []Figure{long, equal("operations", 7, 6)}, disturbed, Wrong},
		{"NothingReportedIsNever", []Figure{atLeast("p50", " ms", 50, 60, orNone(nil))}, disturbed, Wrong},
		{"WhatIsNotSaidIsNever", []Figure{checkMentions("reason", "refused", nil)}, disturbed, Wrong},
		{"NoFigures", nil, disturbed, Wrong},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, why := judge(outcome{figures: c.figures, disturbed: c.disturbed})
			if got != c.want || (why == "") != (got == Right) {
				t.Errorf("%s %q, want %s", got, why, c.want)
			}
		})
	}
}

func TestALineThatIsNotThere(t *testing.T) {
	if _, err := Run(t.Context(), Options{Only: []string{"delays"}}); err == nil || !strings.Contains(err.Error(),
		"delays") {
		t.Error(err)
	}
}

func TestRoundsAreCounted(t *testing.T) {
	o := Options{Rounds: 2, Only: []string{"wrong-url"}, Program: os.Args[:1]}
	var steps []string
	o.Step = func(share float64, _ time.Duration, name string) {
		// The others are within lines; a first line that takes longer than planned stands at its end.
		if step := fmt.Sprintf("%.1f %s", share, name); share == 0 || share == 0.5 && !slices.Contains(steps, step) {
			steps = append(steps, step)
		}
	}
	report, err := Run(t.Context(), o)
	if err != nil || report.Rounds != 2 || len(report.Lines) != 2 || report.Lines[1].Round != 2 ||
		!slices.Equal(steps, []string{"0.0 wrong-url", "0.5 wrong-url"}) {
		t.Errorf("%+v, %q, %v", report, steps, err)
	}
}

func TestALongLineTellsOfItsProgress(t *testing.T) {
	steps := make(chan float64, 100)
	o := Options{Step: func(share float64, _ time.Duration, _ string) { steps <- share }}
	end := o.steps(10*time.Second, 20*time.Second, test{name: "long", takes: 5 * time.Second})
	first, second := <-steps, <-steps
	end()
	if first != 0.5 || first >= second || second > 0.75 {
		t.Errorf("shares %v, %v: want 0.5 and more, up to 0.75", first, second)
	}
}

// TestReport_KeepsItsNames: what --json prints is read by others.
func TestReport_KeepsItsNames(t *testing.T) {
	r := Report{Rounds: 1}
	r.add(Line{Round: 1, Name: "delay", Planted: "50 ms", Figures: []Figure{equal("operations", 7, 6)}, Verdict: Wrong,
		Why: "expected 7", TookS: 1.5})
	got, err := json.Marshal(r)
	const want = `{"rounds":1,"right":0,"wrong":1,"void":0,"lines":[{"round":1,"name":"delay","planted":"50 ms",` +
		`"figures":[{"name":"operations","expected":"7","reported":"6","holds":false}],"verdict":"wrong",` +
		`"why":"expected 7","took_s":1.5}]}`
	if err != nil || string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
}
