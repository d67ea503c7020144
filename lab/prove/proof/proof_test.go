package proof

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
)

var here = Here{Machine: claims.Machine{CPU: "Example 9000", Cores: 2, MemoryBytes: 8 << 30, Kernel: "6.1.0"},
	Software: "v2", Engines: map[string]string{"plimsoll": "PostgreSQL 18.6 plimsoll, patchset 9",
		"vanilla": "PostgreSQL 18.6 vanilla"}}

// kept finding of ours, confirmed, on this machine and of this version, changed.
func kept(claim string, change func(*claims.Record)) claims.Record {
	k := claims.Record{Claim: claim, At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), TookS: 61.5, Software: "v2",
		Engine: here.Engines["plimsoll"], Machine: here.Machine, Command: "plimsoll prove " + claim,
		Finding: claims.Finding{Verdict: claims.Confirmed, Measured: "it is faster", Answers: &claims.Answers{
			Direction: claims.InClaimedDirection, Size: claims.NoSize}}}
	if change != nil {
		change(&k)
	}
	return k
}

func gathered(t *testing.T, all ...claims.Record) []State {
	t.Helper()
	store := claims.OpenStore(t.TempDir())
	for _, k := range all {
		if err := store.Keep(k); err != nil {
			t.Fatal(err)
		}
	}
	states, err := Gather(store, here, site.Bench{})
	if err != nil {
		t.Fatal(err)
	}
	return states
}

func stateOf(t *testing.T, states []State, claim string) State {
	t.Helper()
	for _, s := range states {
		if s.ID == claim {
			return s
		}
	}
	t.Fatalf("no %s", claim)
	return State{}
}

// What counts is the current finding on each engine: not the newest where that is stale or was cut short.
func TestGather_ChoosesWhatCounts(t *testing.T) {
	later := func(n int) time.Time { return time.Date(2026, 1, 2, 3+n, 0, 0, 0, time.UTC) }
	states := gathered(t, kept("C15", nil),
		kept("C15", func(k *claims.Record) { k.Partial, k.At = true, later(1) }),
		kept("C15", func(k *claims.Record) { k.Software, k.At, k.Verdict = "v1", later(2), claims.Refuted }),
		kept("C15", func(k *claims.Record) { k.Engine, k.At = here.Engines["vanilla"], later(3) }),
		kept("C16", func(k *claims.Record) { k.Engine = "PostgreSQL 18.6 plimsoll, patchset 8" }),
		kept("C20", func(k *claims.Record) { k.Machine.Cores = 96 }))
	s := stateOf(t, states, "C15")
	var got []string
	for _, f := range append(s.Found, s.Older...) {
		got = append(got, fmt.Sprint(f.Engine, " ", f.Verdict, " ", f.Partial, " ", f.Stale))
	}
	want := []string{"PostgreSQL 18.6 plimsoll, patchset 9 confirmed false ",
		"PostgreSQL 18.6 vanilla confirmed false ",
		"PostgreSQL 18.6 plimsoll, patchset 9 refuted false version",
		"PostgreSQL 18.6 plimsoll, patchset 9 confirmed true "}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("findings in the wrong order:\n%s", strings.Join(got, "\n"))
	}
	for claim, want := range map[string]string{"C16": "engine", "C20": "machine"} {
		if s := stateOf(t, states, claim); len(s.Found) != 1 || s.Found[0].Stale != want {
			t.Errorf("%s: %+v", claim, s.Found)
		}
	}
	if v := stateOf(t, states, "C12").Verdict(); v != claims.NotRun {
		t.Errorf("C12 %s", v)
	}
	for _, s := range states {
		if v := s.Verdict(); v == claims.NotYet || (v == claims.NotHere) != (s.Experiment == "" && len(s.Found) == 0) {
			t.Errorf("%s: %s, experiment %q", s.ID, v, s.Experiment)
		}
	}
}

func items(texts ...string) (all []Item) {
	for _, text := range texts {
		var minutes int
		var due Due
		var id string
		if _, err := fmt.Sscan(text, &id, &minutes, (*int)(&due)); err != nil {
			panic(err)
		}
		all = append(all, Item{Claim: claims.Claim{ID: id}, Takes: time.Duration(minutes) * time.Minute, Due: due})
	}
	return all
}

func names(all []Item) string {
	var ids []string
	for _, i := range all {
		ids = append(ids, i.Claim.ID)
	}
	return strings.Join(ids, " ")
}

func TestPlan(t *testing.T) {
	all := items("C01 60 0", "C02 20 3", "C03 30 1", "C04 10 0", "C05 5 3")
	for _, c := range []struct {
		minutes    int
		fits, left string
	}{
		{0, "C01 C02 C03 C04 C05", ""},
		{125, "C01 C02 C03 C04 C05", ""},
		{100, "C01 C03 C04", "C02 C05"},   // those that are due fill it
		{45, "C03 C04 C05", "C01 C02"},    // what is too long makes room for others
		{4, "", "C01 C02 C03 C04 C05"},    // nothing
		{105, "C01 C03 C04 C05", "C02"},   // the shorter of those that hold
		{20, "C04 C05", "C01 C02 C03"},    // C04 is most due
		{120, "C01 C03 C04 C05", "C02"},   // not more than fits
		{124, "C01 C03 C04 C05", "C02"},   // by a minute
		{1000, "C01 C02 C03 C04 C05", ""}, // all
	} {
		fits, left := Plan(all, time.Duration(c.minutes)*time.Minute)
		if names(fits) != c.fits || names(left) != c.left {
			t.Errorf("%d min: %q, left %q", c.minutes, names(fits), names(left))
		}
	}
}

// Experiments that take less than estimated leave time for others; those that take more cost others theirs.
func TestTurns(t *testing.T) {
	for name, c := range map[string]struct {
		minutes int
		took    map[string]int // minutes, where not as estimated
		want    string         // + added, - left out by then
	}{
		"AsEstimated":     {60, nil, "C03 C04 C05"},
		"Shorter":         {60, map[string]int{"C03": 10}, "C03 C04 C05 +C02"},
		"AllShorter":      {100, map[string]int{"C02": 1, "C03": 1, "C04": 1, "C05": 1}, "C02 C03 C04 C05 +C01"},
		"AddedAndShorter": {33, map[string]int{"C03": 1, "C04": 1, "C05": 1}, "C04 C05 +C03 +C02"},
		"Longer":          {60, map[string]int{"C03": 55}, "C03 -C04 C05"},
		"FarLonger":       {60, map[string]int{"C03": 100}, "C03 -C04 -C05"},
		"WithoutABudget":  {0, map[string]int{"C01": 1}, "C01 C02 C03 C04 C05"},
		"NothingFits":     {4, nil, ""},
	} {
		spent := time.Duration(0)
		budget := time.Duration(c.minutes) * time.Minute
		fits, left := Plan(items("C01 90 0", "C02 20 3", "C03 30 1", "C04 10 0", "C05 5 0"), budget)
		var got []string
		for turn := range Turns(fits, left, budget, func() time.Duration { return spent }) {
			id := turn.Claim.ID
			switch {
			case turn.Over > 0:
				id = "-" + id
			case turn.Added:
				id = "+" + id
			}
			got = append(got, id)
			if turn.Over > 0 {
				continue
			}
			took := turn.Takes
			if minutes, is := c.took[turn.Claim.ID]; is {
				took = time.Duration(minutes) * time.Minute
			}
			spent += took
		}
		if all := strings.Join(got, " "); all != c.want {
			t.Errorf("%s: %q, want %q", name, all, c.want)
		}
	}
}

func TestItemOf_EstimatesFromWhatWasMeasured(t *testing.T) {
	declared := site.Plan{Takes: 5 * time.Minute}
	c := claims.Claim{ID: "C15"}
	for name, k := range map[string]struct {
		all   []claims.Record
		takes time.Duration
		due   Due
	}{
		"Nothing": {nil, declared.Takes, Never},
		"TheSame": {[]claims.Record{kept("C15", nil)}, 61500 * time.Millisecond, Current},
		"OtherSizes": {[]claims.Record{kept("C15", func(k *claims.Record) { k.Command += " --full" })},
			declared.Takes, Never},
		"OtherEngine": {[]claims.Record{kept("C15", func(k *claims.Record) { k.Engine = here.Engines["vanilla"] })},
			declared.Takes, Never},
		"OtherMachine": {[]claims.Record{kept("C15", func(k *claims.Record) { k.Machine.Cores = 9 })},
			declared.Takes, Never},
		"OtherVersion": {[]claims.Record{kept("C15", func(k *claims.Record) { k.Software = "v1" })},
			61500 * time.Millisecond, Aged},
		"Stopped": {[]claims.Record{kept("C15", func(k *claims.Record) { k.Partial = true })}, declared.Takes, Cut},
		"StoppedAfterOne": {[]claims.Record{kept("C15", func(k *claims.Record) { k.Partial = true }), kept("C15", nil)},
			61500 * time.Millisecond, Current},
		"OfBefore": {[]claims.Record{kept("C15", func(k *claims.Record) { k.Command = "" })}, declared.Takes, Current},
	} {
		got := ItemOf(c, declared, "plimsoll prove C15", here.Engines["plimsoll"], k.all, here)
		if got.Takes != k.takes || got.Due != k.due {
			t.Errorf("%s: %s, %s", name, got.Takes, got.Due)
		}
	}
}
