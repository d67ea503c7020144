package load

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"plimsoll/ground/human"
	"plimsoll/lab/load/scenario"
	"plimsoll/lab/load/users"
)

// erp1 is the ERP's own load as it was when it got its name: mix, targets, priorities, think times, refusals. Figures
// of the same profile can be compared, whoever measured them and whatever the default is by then: it never changes.
//
//go:embed erp-1.json
var erp1 []byte

// profile of a load.
type profile struct {
	Name       string      `json:"name"`
	Think      users.Think `json:"think"`
	Refused    float64     `json:"refused"`
	Backdated  float64     `json:"backdated"`
	Operations []struct {
		ID       string        `json:"id"`
		Target   time.Duration `json:"target_ns"`
		Priority int           `json:"priority"`
		Share    float64       `json:"share"`
	} `json:"operations"`
}

// mixNamed is how many shares of a different mix are named; the result has the mix itself.
const mixNamed = 3

// sharesDiffer beyond this part of each other; what is less, rounding did.
const sharesDiffer = 1e-6

// Profile names the frozen profile that the load follows, and every way in which it does not. A load of other
// operations than the ERP's has none.
func (l Load) Profile() (name string, changes []string) {
	if l.Scenario.Application != scenario.ERP {
		return "", nil
	}
	var p profile
	if err := json.Unmarshal(erp1, &p); err != nil {
		panic(err) // a file of ours, which a test reads
	}
	c := l.Crowd()
	changes = append(p.paceChanges(l, c), p.targetChanges(c)...)
	return p.Name, append(changes, p.mixChanges(c)...)
}

// paceChanges are those of what happens how fast, and of the shares of documents.
func (p profile) paceChanges(l Load, c users.Crowd) (changes []string) {
	add := func(differs bool, format string, args ...any) {
		if differs {
			changes = append(changes, fmt.Sprintf(format, args...))
		}
	}
	if l.Arrivals != nil {
		add(true, "%g arrivals per second instead of users who think", l.Arrivals.Rate)
	} else {
		for _, r := range c.Roles {
			whose := ""
			if len(c.Roles) > 1 {
				whose = " of " + r.Name
			}
			if text := thinkChange(p.Think, r.Think.WithDefaults()); r.Users > 0 && text != "" {
				add(true, "think time%s %s", whose, text)
			}
		}
	}
	add(len(l.Scenario.Day) > 0, "the pace of a day")
	add(l.Scenario.Refused != p.Refused, "%g %% of the sales must be refused instead of %g %%", 100*l.Scenario.Refused,
		100*p.Refused)
	add(l.Scenario.Backdated != p.Backdated, "%g %% of the documents back-dated instead of %g %%",
		100*l.Scenario.Backdated, 100*p.Backdated)
	return changes
}

// thinkChange names what differs; empty: nothing.
func thinkChange(from, to users.Think) string {
	switch mean := human.Duration(to.Mean); {
	case from.Distribution != to.Distribution:
		return fmt.Sprintf("%s %s instead of %s %s", to.Distribution, mean, from.Distribution,
			human.Duration(from.Mean))
	case from.Mean != to.Mean:
		return fmt.Sprintf("%s instead of %s", mean, human.Duration(from.Mean))
	case from.Cap != to.Cap:
		return fmt.Sprintf("at most %s instead of %s", human.Duration(to.Cap), human.Duration(from.Cap))
	}
	return ""
}

// targetChanges are those of targets and priorities, by which the same answers score otherwise.
func (p profile) targetChanges(c users.Crowd) (changes []string) {
	for _, own := range p.Operations {
		at := slices.IndexFunc(c.Operations, func(op users.Operation) bool { return op.ID == own.ID })
		if at < 0 {
			continue
		}
		op := c.Operations[at]
		if op.Target != own.Target {
			changes = append(changes, fmt.Sprintf("T of %s %s instead of %s", op.ID, human.Duration(op.Target),
				human.Duration(own.Target)))
		}
		if op.Priority != own.Priority {
			changes = append(changes, fmt.Sprintf("priority of %s %d instead of %d", op.ID, op.Priority, own.Priority))
		}
	}
	return changes
}

// mixChanges is one text about all shares that differ, the largest differences first.
func (p profile) mixChanges(c users.Crowd) []string {
	from, to, ids := map[string]float64{}, map[string]float64{}, map[string]bool{}
	for _, own := range p.Operations {
		from[own.ID], ids[own.ID] = own.Share, true
	}
	for _, op := range c.Operations {
		to[op.ID], ids[op.ID] = op.Weight, true
	}
	differing := slices.DeleteFunc(slices.Collect(maps.Keys(ids)), func(id string) bool {
		return math.Abs(to[id]-from[id]) <= sharesDiffer*max(to[id], from[id])
	})
	if len(differing) == 0 {
		return nil
	}
	slices.SortFunc(differing, func(a, b string) int {
		return cmp.Or(cmp.Compare(math.Abs(to[b]-from[b]), math.Abs(to[a]-from[a])), strings.Compare(a, b))
	})
	var texts []string
	for _, id := range differing[:min(mixNamed, len(differing))] {
		texts = append(texts, fmt.Sprintf("%s %.1f %% instead of %.1f %%", id, 100*to[id], 100*from[id]))
	}
	text := "mix: " + strings.Join(texts, ", ")
	if more := len(differing) - mixNamed; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return []string{text}
}
