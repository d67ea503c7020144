package compare

import (
	"strings"
	"testing"

	"plimsoll/ground/postgres/identity"
	"plimsoll/ground/problem"
)

// Two comparisons of the same systems agree when both say the same, and only then.
func TestStandBeside_SaysWhetherVerdictsAgree(t *testing.T) {
	made := map[string]*Comparison{}
	for _, factor := range []string{"80", "100", "120", "121"} {
		made[factor] = compared(t, programs(t, factor))
		made[factor].ID = factor
	}
	few := programs(t, "120")
	few.Pairs = 8 // of which the first look comes after all
	made["few"] = compared(t, few)
	made["few"].ID = "few"
	made["few"].Runs = made["few"].Runs[:6]
	made["few"].conclude()
	for _, c := range []struct {
		one, other string
		want       Agreement
	}{
		{"120", "121", Agree}, {"121", "120", Agree}, {"120", "80", Differ}, {"100", "120", Differ},
		{"120", "100", Differ}, {"120", "few", Undecided}, {"few", "120", Undecided},
	} {
		this := *made[c.one]
		if err := this.StandBeside(made[c.other]); err != nil {
			t.Errorf("%s beside %s: %v", c.one, c.other, err)
			continue
		}
		if this.Beside.Agreement != c.want || (this.Beside.Judge() == nil) != (c.want == Agree) {
			t.Errorf("%s beside %s: %s, want %s", c.one, c.other, this.Beside.Agreement, c.want)
		}
		var text strings.Builder
		if err := this.Summary(&text); err != nil || !strings.Contains(text.String(), this.Beside.Says()) ||
			!strings.Contains(text.String(), "commands") {
			t.Errorf("%v\n%s", err, &text)
		}
	}
	if (*Beside)(nil).Judge() != nil {
		t.Error("one that stands alone is judged")
	}
}

// What is not of the same systems or the same metric is refused.
func TestStandBeside_RefusesOthers(t *testing.T) {
	of := func(id, metric string, servers ...identity.Identity) *Comparison {
		c := &Comparison{ID: id, Plan: Plan{Metric: metric}, Findings: []Finding{{Side: "B"}}}
		for _, s := range servers {
			c.Plan.Sides = append(c.Plan.Sides, Described{Server: &s})
		}
		return c
	}
	a, b := identity.Identity{Address: "a:1", Version: "18.6"}, identity.Identity{Folder: "/b", Address: "x"}
	c := of("c", "apdex", a, b)
	for want, other := range map[string]*Comparison{
		"beside itself":            of("c", "apdex", a, b),
		"decided by latency_ms":    of("o", "latency_ms", a, b),
		"it has 1, this one 2":     of("o", "apdex", a),
		"A is the server at /b":    of("o", "apdex", b, a),
		"A was PostgreSQL 17 then": of("o", "apdex", identity.Identity{Address: "a:1", Version: "17"}, b),
	} {
		err := c.StandBeside(other)
		if err == nil || !strings.Contains(err.Error(), want) || problem.ClassOf(err) != problem.Usage ||
			problem.HintOf(err) == "" {
			t.Errorf("%v, want %q", err, want)
		}
	}
	moved := of("o", "apdex", a, identity.Identity{Folder: "/b", Address: "another port"})
	if err := c.StandBeside(moved); err != nil {
		t.Errorf("a local cluster with another port: %v", err)
	}
}
