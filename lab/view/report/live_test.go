package report

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"plimsoll/lab/run/live"
	"plimsoll/test/golden"
)

// glance at a run that is in some trouble.
func glance() live.Snapshot {
	db := 0.34
	machine := 0.71
	p95 := 42.25
	wal := 2.14e6
	steady := 0.97891
	at := 12.4
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.Local)
	g := live.Snapshot{
		Plan: live.Plan{Operations: []live.Operation{
			{ID: "goods_sale.post", TargetMS: 1000}, {ID: "goods_receipt.post", TargetMS: 1000},
			{ID: "goods_sale.list", TargetMS: 500},
			{ID: "an_operation_with_a_name_that_is_too_long", TargetMS: 20000},
			{ID: "trial_balance.open", TargetMS: 3000},
		}},
		State: live.State{Wanted: 1200, Apdex: &steady, Failed: 7, Paused: true},
		Last: &live.Point{
			Users: 1200, Backlog: 3, Lag: 2.5, CPU: live.Shares{Database: &db, Machine: &machine},
			Database: &live.Database{Classes: [6]float64{1.25, 0.5, 0.75}, WALBytes: &wal},
			Workers:  &live.Workers{TempTables: 12.4},
		},
		Zones: []live.Zones{{1200, 20, 3}, {60, 40, 0}, {1, 1, 8}, {}, {50, 0, 0}},
		Waits: []live.Wait{{Type: "LWLock", Event: "WALWrite", Sessions: 0.75},
			{Type: "Lock", Event: "transactionid", Sessions: 0.5}},
		Ops: 97.84, P95: &p95,
		Log: []live.Entry{{Time: noon, Text: "phase: log in"},
			{AtS: &at, Tone: live.ByUser, Text: "1200 users instead of 1000, by the user"},
			{AtS: &at, Tone: live.Alarm, Text: "operations fail: 2 in a second: \x1b[2Jbroken\npipe"}},
	}
	return g
}

func TestLiveView(t *testing.T) {
	for _, c := range []struct {
		name   string
		screen Screen
	}{
		{"live_wide", Screen{Width: 110}},
		{"live_narrow", Screen{Width: 46}},
		{"live_low", Screen{Width: 90, Height: 12}},
		{"live_colour", Screen{Width: 80, Colour: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			lines := Live(glance(), c.screen)
			golden.Compare(t, "testdata/"+c.name+".golden",
				strings.ReplaceAll(strings.Join(lines, "\n")+"\n", "\x1b", "ESC"))
			if c.screen.Height > 0 && len(lines) > c.screen.Height {
				t.Errorf("%d lines on a screen of %d", len(lines), c.screen.Height)
			}
		})
	}
	t.Run("IsNeverWiderThanTheScreen", func(t *testing.T) {
		for width := 1; width < 140; width++ {
			for _, line := range Live(glance(), Screen{Width: width}) {
				if n := utf8.RuneCountInString(line); n > width || strings.ContainsAny(line, "\x1b\n") {
					t.Fatalf("%d runes in %q of a screen of %d", n, line, width)
				}
			}
		}
	})
	t.Run("OfARunThatHasNotBegun", func(t *testing.T) {
		g := live.Snapshot{Log: []live.Entry{{Time: time.Now(), Text: "phase: start"}}}
		if lines := Live(g, Screen{Width: 80, Height: 24}); len(lines) != 1 ||
			!strings.HasSuffix(lines[0], "  phase: start") {
			t.Errorf("want the log alone, got %q", lines)
		}
	})
}

func TestLiveView_HasNoRateOnceTheLoadHasEnded(t *testing.T) {
	for phase, rate := range map[string]bool{"steady": true, "drain": true, "audit": false, "done": false} {
		g := glance()
		g.State.Phase = phase
		if text := strings.Join(Live(g, Screen{Width: 110}), "\n"); strings.Contains(text, "ops/s") != rate {
			t.Errorf("%s:\n%s", phase, text)
		}
	}
}
