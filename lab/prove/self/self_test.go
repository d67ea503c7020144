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

	"plimsoll/lab/host/process"
	"plimsoll/lab/postgres/cluster/clustertest"
	"plimsoll/lab/run/result"
	"plimsoll/platform/problem"
	"plimsoll/test/patience"
	"plimsoll/test/thorough"
)

// quickest lines, which every test run plays.
var quickest = []string{"resets", "errors", "refused", "wrong-url"}

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

// TestALieIsWrong: a line that is told a false figure says so, and of that figure alone.
func TestALieIsWrong(t *testing.T) {
	for _, c := range []struct {
		line, figure string
		falsify      func(*result.Result)
	}{
		{"reset-after", "in the database", func(r *result.Result) { r.Reconciliation.Rows[0].Found-- }},
		{"wrong-before", "violations before the run", func(r *result.Result) { r.AuditBefore.Violations-- }},
		{"samples", "figures that differ", func(r *result.Result) { r.Generator.LagMSMax += 100 }},
		{"journal", "operations, journal whole", func(r *result.Result) {
			if slices.Contains(r.InvalidCauses, result.ByAccident) { // the one whose process died
				r.Ops += 1e6
			}
		}},
	} {
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
			s.falsify = c.falsify
			line := tests[slices.Index(Names(), c.line)]
			out, err := line.play(t.Context(), s)
			if err != nil {
				t.Fatalf("%v: %s", err, problem.HintOf(err))
			}
			if verdict, why := judge(out); verdict != Wrong || !strings.Contains(why, c.figure+": ") {
				t.Errorf("%s %s", verdict, why)
			}
			out.figures = slices.DeleteFunc(out.figures, func(f Figure) bool { return f.Name == c.figure })
			if verdict, why := judge(out); verdict == Wrong {
				t.Errorf("more is wrong than the lie: %s", why)
			}
		})
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
		{"WhatIsNotSaidIsNever", []Figure{says("reason", "refused", nil)}, disturbed, Wrong},
		{"NoFigures", nil, disturbed, Wrong},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, why := judge(outcome{c.figures, c.disturbed}); got != c.want || (why == "") != (got == Right) {
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
		steps = append(steps, fmt.Sprintf("%.1f %s", share, name))
	}
	report, err := Run(t.Context(), o)
	if err != nil || report.Rounds != 2 || len(report.Lines) != 2 || report.Lines[1].Round != 2 ||
		!slices.Equal(steps, []string{"0.0 wrong-url", "0.5 wrong-url"}) {
		t.Errorf("%+v, %q, %v", report, steps, err)
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
