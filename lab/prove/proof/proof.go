// Package proof owns what is known here about the claims, all together: the page that shows it, and the plan of what to
// measure next within a budget of time.
package proof

import (
	"cmp"
	"slices"
	"strings"

	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments"
	"plimsoll/lab/prove/experiments/site"
)

// Here is what findings must be of to be current.
type Here struct {
	Machine  claims.Machine
	Software string
	// Engines that are installed, each as findings name it, by flavour. A flavour without one cannot be stale.
	Engines map[string]string
}

// State is what is known about one claim.
type State struct {
	claims.Claim
	Report string `json:"report"`
	// Experiment is what is done, in one line; empty: there is none.
	Experiment string  `json:"experiment,omitempty"`
	TakesS     float64 `json:"takes_s,omitempty"`
	Rules      string  `json:"rules,omitempty"`
	Command    string  `json:"command,omitempty"`
	// Found are the findings that count, one for each flavour of the engine, those of ours first.
	Found []Found `json:"found"`
	// Older findings, newest first.
	Older []Found `json:"older,omitempty"`
}

// Elsewhere is what findings of an archive are of: the machine, version and engines of its newest ones.
func Elsewhere(a claims.Archive) Here {
	last := a.Last()
	here := Here{Machine: last.Machine, Software: last.Software, Engines: map[string]string{}}
	newest := slices.SortedFunc(slices.Values(a.Records), func(x, y claims.Record) int { return x.At.Compare(y.At) })
	for _, k := range newest {
		here.Engines[flavour(k.Engine)] = k.Engine
	}
	return here
}

// Found is a finding and whether it still holds.
type Found struct {
	claims.Record
	// Stale names what it is of another of: machine, kernel, engine, set of rules, version; empty: it is current.
	Stale string `json:"stale,omitempty"`
}

// Gather reads the findings on all claims.
func Gather(store *claims.Store, here Here, sizes site.Bench) (all []State, err error) {
	for _, r := range claims.Reports {
		for _, c := range r.Claims {
			s := State{Claim: c, Report: r.Title, Found: []Found{}}
			if e, is := experiments.For(c.ID); is {
				p := e.Plan(sizes)
				s.Experiment, s.TakesS, s.Rules, s.Command = p.Text, p.Takes.Seconds(), p.Rules, "plimsoll prove "+c.ID
			}
			kept, err := store.All(c.ID)
			if err != nil {
				return nil, err
			}
			s.sort(kept, here)
			all = append(all, s)
		}
	}
	return all, nil
}

// sort findings into those that count and the others.
func (s *State) sort(kept []claims.Record, here Here) {
	found := make([]Found, len(kept))
	for i, k := range kept {
		found[i] = Found{k, k.Elsewhere(here.Machine, here.Engines[flavour(k.Engine)], here.Software)}
	}
	slices.SortStableFunc(found, func(a, b Found) int {
		return cmp.Or(compareBool(a.Stale != "", b.Stale != ""), compareBool(a.Partial, b.Partial), b.At.Compare(a.At))
	})
	seen := map[string]bool{}
	for _, f := range found {
		if flavourName := flavour(f.Engine); !seen[flavourName] {
			seen[flavourName] = true
			s.Found = append(s.Found, f)
		} else {
			s.Older = append(s.Older, f)
		}
	}
	slices.SortStableFunc(s.Found, func(a, b Found) int { return cmp.Compare(rank(a.Engine), rank(b.Engine)) })
	slices.SortStableFunc(s.Older, func(a, b Found) int { return b.At.Compare(a.At) })
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// flavour of an engine as findings name it: the third word of "PostgreSQL 18.6 plimsoll, patchset 3".
func flavour(engine string) string {
	head, _, _ := strings.Cut(engine, ",")
	words := strings.Fields(head)
	if len(words) < 3 {
		return engine
	}
	return words[2]
}

func rank(engine string) int {
	if flavour(engine) == "plimsoll" {
		return 0
	}
	return 1
}

// Stale says whether the verdict is one of another machine, engine, version or set of rules.
func (s State) Stale() bool { return len(s.Found) > 0 && s.Found[0].Stale != "" }

// Words of the verdict.
func (s State) Words() string {
	if len(s.Found) > 0 {
		return s.Found[0].Words()
	}
	return string(s.Verdict())
}

// Words of the finding's verdict.
func (f Found) Words() string { return f.Verdict.Words(f.Answers) }

// Verdict of the claim: that of the first finding that counts.
func (s State) Verdict() claims.Verdict {
	if len(s.Found) > 0 {
		return s.Found[0].Verdict
	}
	return s.Unproven(s.Experiment != "")
}
