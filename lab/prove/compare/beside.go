package compare

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/ground/problem"
	"plimsoll/lab/prove/compare/verdict"
	"plimsoll/web"
)

// Beside sets another comparison of the same systems beside one: a replay beside the live load that it was recorded
// of. The two measure other operations - a replay those of its log, in the database alone - so their effects need not
// be of one size; their verdicts must agree.
type Beside struct {
	Agreement Agreement `json:"agreement"`
	Rows      []Stand   `json:"rows"` // the other's first, side by side
}

// Agreement of the verdicts about all sides.
type Agreement string

const (
	Agree     Agreement = "agree"
	Differ    Agreement = "differ"
	Undecided Agreement = "undecided" // by one of the two, at least
)

// Stand of one comparison on one side.
type Stand struct {
	ID      string          `json:"id"`
	Load    string          `json:"load"` // in words
	Side    string          `json:"side"`
	Verdict verdict.Verdict `json:"verdict"`
	Effect  verdict.Row     `json:"effect"`
	// AsInTheLog is the least faithful replay; absent: there was a load.
	AsInTheLog *float64 `json:"statements_as_in_the_log,omitempty"`
}

// MayStandBeside refuses, before anything is measured, what could not be set beside a comparison.
func (c *Comparison) MayStandBeside(metric string) error {
	if c.Plan.Metric == metric {
		return nil
	}
	return problem.New(problem.Usage, fmt.Errorf("comparison %s is decided by %s, not by %s", c.ID, c.Plan.Metric,
		metric), "--metric "+c.Plan.Metric)
}

// StandBeside sets another comparison beside this one.
func (c *Comparison) StandBeside(other *Comparison) error {
	if c.ID == other.ID {
		return problem.New(problem.Usage, fmt.Errorf("%s would stand beside itself", c.ID),
			"--beside names the other comparison of the two")
	}
	if err := other.MayStandBeside(c.Plan.Metric); err != nil {
		return err
	}
	if why := c.Plan.others(other.Plan); why != "" {
		return problem.New(problem.Usage, fmt.Errorf("comparison %s is of other systems: %s", other.ID, why),
			"name the same systems in the same order")
	}
	c.Beside = &Beside{Agreement: Agree}
	for i, f := range c.Findings {
		before := other.Findings[i]
		c.Beside.Rows = append(c.Beside.Rows, other.stand(before), c.stand(f))
		switch {
		case c.Beside.Agreement == Differ:
		case undecided(f.Verdict) || undecided(before.Verdict):
			c.Beside.Agreement = Undecided
		case f.Verdict != before.Verdict:
			c.Beside.Agreement = Differ
		}
	}
	return nil
}

// others says why plans are not of the same systems; "" if they are, as far as both know their servers.
func (p Plan) others(before Plan) string {
	if len(p.Sides) != len(before.Sides) {
		return fmt.Sprintf("it has %d, this one %d", len(before.Sides), len(p.Sides))
	}
	for i, side := range p.Sides {
		now, was := side.Server, before.Sides[i].Server
		if now == nil || was == nil {
			continue
		}
		place := cmp.Or(now.Folder, now.Address)
		switch old := cmp.Or(was.Folder, was.Address); {
		case place != old:
			return fmt.Sprintf("%s is the server at %s there, and at %s here", Letter(i), old, place)
		case now.Version != was.Version || now.Engine != was.Engine || now.Patchset != was.Patchset:
			return fmt.Sprintf("%s was PostgreSQL %s then", Letter(i), strings.TrimSpace(was.Version+" "+was.Engine))
		}
	}
	return ""
}

func (c *Comparison) stand(f Finding) Stand {
	s := Stand{ID: c.ID, Load: c.loadText(), Side: f.Side, Verdict: f.Verdict, Effect: f.Headline}
	least := math.Inf(1)
	for _, r := range c.Runs {
		if same, known := r.Figures[""][asInTheLog]; known && r.Void == "" {
			least = min(least, same)
		}
	}
	if c.Plan.Replay != nil && !math.IsInf(least, 1) {
		s.AsInTheLog = &least
	}
	return s
}

// loadText says what was measured.
func (c *Comparison) loadText() string {
	side := c.Plan.Sides[0]
	switch {
	case c.Plan.Replay != nil:
		return c.Plan.Replay.String()
	case len(side.Command) > 0:
		return "commands"
	case side.Users > 0:
		return fmt.Sprintf("live, %s: %s", side.Scenario, human.Count(side.Users, "user"))
	}
	return "live, " + side.Scenario
}

// besideText sets the verdicts one below the other.
func (c *Comparison) besideText(b *strings.Builder) error {
	if c.Beside == nil {
		return nil
	}
	m := c.Plan.metric()
	t := web.Table{Names: true, Columns: []string{"beside", "comparison", m.Title, "verdict", "pairs", "as in the log"}}
	for _, s := range c.Beside.Rows {
		same := "-"
		if s.AsInTheLog != nil {
			same = human.Percent1(*s.AsInTheLog)
		}
		t.Rows = append(t.Rows, []string{s.Side + "  " + s.Load, s.ID, effectText(m, s.Effect), string(s.Verdict),
			fmt.Sprint(min(s.Effect.Runs[0], s.Effect.Runs[1])), same})
	}
	b.WriteString("\n")
	if err := t.Text(b, "  "); err != nil {
		return err
	}
	b.WriteString(human.Hanging("  ", c.Beside.Says(), columns, 1))
	return nil
}

// Says is whether the verdicts agree.
func (b *Beside) Says() string {
	switch b.Agreement {
	case Agree:
		return "the two verdicts agree"
	case Differ:
		return "the two verdicts differ"
	}
	return "whether the two verdicts agree is undecided: not both have one"
}

// Judge is an error unless the verdicts agree; nil stands for a comparison that stands alone.
func (b *Beside) Judge() error {
	switch {
	case b == nil || b.Agreement == Agree:
		return nil
	case b.Agreement == Differ:
		return problem.New(problem.Threshold, errors.New(b.Says()), "--details of each shows which operations differ")
	}
	return problem.New(problem.Threshold, errors.New(b.Says()), "--resume the undecided one with more --pairs")
}
