package line

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/problem"
	"plimsoll/lab/run"
	"plimsoll/lab/system"
)

// named are two systems.
func named(one string, ofOne run.Options, other string, ofOther run.Options) []*system.System {
	return []*system.System{{Name: one, Run: ofOne}, {Name: other, Run: ofOther}}
}

// two simulated systems: one carries 20 users, the other three times as many.
func two(t *testing.T) (Options, []*system.System) {
	t.Helper()
	o := base(t, "")
	quick := o.Run
	quick.Scenario = read(t, "quick", "connections = 2", "connections = 6")
	o.simulate(20)
	o.inTrials(func(s *simulated, _ int) {
		s.carries = func(p run.Plan) int { return map[string]int{"narrow": 20, "quick": 60}[p.Scenario.Name] }
	})
	return o, named("slow+<i>", o.Run, "quick", quick)
}

func TestFindAll(t *testing.T) {
	o, systems := two(t)
	var order []string
	shares := []float64{0}
	o.Progress = func(p Progress) {
		shares = append(shares, p.Share)
		if p.Ended == nil {
			return
		}
		order = append(order, p.Configuration)
		if n := clustertest.Exec(t, o.Run.DSN, copiesSQL); n > 1 {
			t.Errorf("%d copies", n)
		}
	}
	c, err := FindAll(t.Context(), o, systems)
	if err != nil || !c.Complete || len(c.Lines) != 2 || c.Stopped != "" {
		t.Fatalf("%v, %+v", err, c)
	}
	slow, quick := c.Lines[0], c.Lines[1]
	if slow.Ratio != nil || quick.Ratio == nil || slow.Line.Answer.Users != 16 || quick.Line.Answer.Users != 48 {
		t.Errorf("%s; %s", c.Statement(), quick.Ratio)
	}
	if low, high := quick.Ratio.Low, quick.Ratio.High; low == nil || high == nil || *low >= quick.Ratio.Users ||
		*high <= quick.Ratio.Users {
		t.Errorf("want the ratio between its ends, got %s", quick.Ratio)
	}
	if most := slices.Max(shares); most > 1 || most < 0.5 {
		t.Errorf("share %v", most)
	}
	t.Run("InTurns", func(t *testing.T) {
		both := 2 * min(len(slow.Line.Trials), len(quick.Line.Trials))
		for i := 0; i < both; i += 4 {
			want := []string{"slow+<i>", "quick", "quick", "slow+<i>"}
			if got := order[i:min(i+4, both)]; !slices.Equal(got, want[:len(got)]) {
				t.Errorf("turns %d to %d: %v", i, i+len(got), got)
			}
		}
		if len(order) != c.Trials() {
			t.Errorf("%d trials heard of, %d made", len(order), c.Trials())
		}
	})
	t.Run("IsShown", func(t *testing.T) {
		var b, tree strings.Builder
		if err := c.Text(&b); err != nil {
			t.Fatal(err)
		}
		page, err := os.ReadFile(o.Store.ReportPath(c.ID))
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{quick.Ratio.String(), slow.Line.brief(), quick.Line.Limit.Resource} {
			if !strings.Contains(b.String(), part) || !strings.Contains(string(page), part) {
				t.Errorf("text or page lacks %q:\n%s", part, b.String())
			}
		}
		if strings.Contains(string(page), "<i>") ||
			!strings.Contains(string(page), "slow+&lt;i&gt;") && !strings.Contains(string(page), "slow&#43;&lt;i&gt;") {
			t.Error("a name is markup in the page")
		}
		var again Comparison
		if err := c.WriteJSON(&tree); err != nil || json.Unmarshal([]byte(tree.String()), &again) != nil ||
			again.Schema != ComparisonSchema || !(&stopped{plans: again.plans()}).same(c.plans()) {
			t.Errorf("%v, %+v", err, again)
		}
	})
	t.Run("LeavesNoCopy", func(t *testing.T) {
		if n := clustertest.Exec(t, o.Run.DSN, copiesSQL); n != 0 {
			t.Error("the copy is still there")
		}
	})
}

func TestFindAll_StoppedByHandGoesOn(t *testing.T) {
	o := calm(t)
	o.Most = o.First
	systems := named("one", o.Run, "other", o.Run)
	ctx, stop := context.WithCancel(t.Context())
	o.inTrials(func(s *simulated, trial int) {
		s.during = func(context.Context, run.Plan) {
			if trial == 4 {
				stop()
			}
		}
	})
	first, err := FindAll(ctx, o, systems)
	if err != nil || first.Stopped != ByUser || first.Complete || first.Trials() != 3 {
		t.Fatalf("%v, %+v", err, first)
	}
	o.Resume = true
	if c, err := FindAll(t.Context(), o, []*system.System{systems[1], systems[0]}); err == nil ||
		problem.ClassOf(err) != problem.Usage {
		t.Errorf("went on with others: %+v, %v", c, err)
	}
	second, err := FindAll(t.Context(), o, systems)
	if err != nil || !second.Complete || second.ID != first.ID || second.Trials() <= 3 || second.Stopped != "" {
		t.Fatalf("%v, %+v", err, second)
	}
	for i, one := range first.Lines {
		for k, trial := range one.Line.Trials {
			if got := second.Lines[i].Line.Trials[k].Run; got != trial.Run {
				t.Errorf("%s, trial %d was made again: %s, %s", one.Line.Plan.Configuration, k+1, trial.Run, got)
			}
		}
	}
}

func TestRatioOfLines(t *testing.T) {
	at := func(users, below int) *Answer {
		a := &Answer{Users: users}
		if below > 0 {
			a.Below = &below
		}
		return a
	}
	for _, c := range []struct {
		name        string
		base, other *Answer
		want        string
	}{
		{"BothClosed", at(100, 110), at(400, 440), "×4 (brackets allow 3.64 to 4.4)"},
		{"OtherOpen", at(100, 110), at(400, 0), "×4 (brackets allow 3.64 or more)"},
		{"BaseOpen", at(100, 0), at(400, 440), "×4 (brackets allow up to 4.4)"},
		{"BothOpen", at(100, 0), at(400, 0), "-"},
		{"NoBase", nil, at(400, 440), "-"},
		{"NoOther", at(100, 110), nil, "-"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := "-"
			if r := ratioOf(c.base, c.other); r != nil {
				got = r.bracketText()
			}
			if got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// TestFindAll_NothingFailed: what lies above --most on all sides is said, and nothing is compared.
func TestFindAll_NothingFailed(t *testing.T) {
	o := base(t, "")
	o.Control, o.First, o.Most = true, 8, 8
	o.simulate(1000)
	c, err := FindAll(t.Context(), o, named("a", o.Run, "b", o.Run))
	if err != nil || !c.Complete {
		t.Fatalf("%v, %+v", err, c)
	}
	const want = "no system failed at 8 users: each line is above that, so nothing can be compared"
	var text, page strings.Builder
	if err := errors.Join(c.Text(&text), c.HTML(&page)); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{want, "A/A control: not approved, no number of users failed on a"} {
		if !strings.Contains(text.String(), part) || !strings.Contains(page.String(), part) {
			t.Errorf("text or page lacks %q:\n%s", part, text.String())
		}
	}
	if c.Lines[1].Ratio != nil || c.Lines[2].Ratio != nil || strings.Contains(text.String(), "×") {
		t.Errorf("it compares bounds: %+v\n%s", c.Lines[1].Ratio, text.String())
	}
	below := 9
	if c.Lines[1].Line.Answer.Below = &below; c.NothingFailed() != "" {
		t.Errorf("%q though b failed", c.NothingFailed())
	}
}

func TestFindAll_HoldsTheFirstAgainstItself(t *testing.T) {
	o := calm(t)
	o.Control, o.Most, o.First = true, 8, 4
	systems := named("slow+<i>", o.Run, "quick", o.Run)
	c, err := FindAll(t.Context(), o, systems)
	if err != nil || len(c.Lines) != 3 || c.Lines[0].Control || c.Lines[1].Control || !c.Lines[2].Control {
		t.Fatalf("%v, %+v", err, c)
	}
	control := c.Lines[2].Line
	if control.Plan.Configuration != "slow+<i> (control)" || control.Plan.Seed == c.Lines[0].Line.Plan.Seed ||
		control.Plan.Digest != c.Lines[0].Line.Plan.Digest {
		t.Errorf("want the control: another name and seed, the same scenario, got %+v", control.Plan)
	}
	var b strings.Builder
	if err := c.Text(&b); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "A/A control: ") || !strings.Contains(b.String(), "brackets allow") &&
		c.Lines[1].Ratio != nil && c.Lines[1].Ratio.Low != nil {
		t.Errorf("the text does not mention the control:\n%s", b.String())
	}
}
