package confusion

import (
	"slices"
	"strings"

	"plimsoll/lab/diagnose"
)

// Trial is one plant, and what the diagnosis named.
type Trial struct {
	Round  int    `json:"round"` // from 1
	Plant  string `json:"plant"`
	Hidden bool   `json:"hidden"` // not looked at while thresholds were chosen
	// Set that it is of; empty: the old one. Seed and conditions are of the new one.
	Set        string      `json:"set,omitempty"`
	Seed       uint64      `json:"seed,omitempty"`
	Conditions *Conditions `json:"conditions,omitempty"`
	// Effects of the faults, against the load before them.
	Effects []Effect `json:"effects,omitempty"`
	// Figures say what the faults did.
	Figures []string `json:"figures"`
	// Void says why it does not count; empty: it does.
	Void  string  `json:"void,omitempty"`
	Named []Named `json:"named"`
	// Notes are findings below a problem: what nearly was named.
	Notes []Named `json:"notes"`
	// Ledger is the share of the sessions' time by class.
	Ledger map[string]float64 `json:"ledger"`
	// Users are those of each application: how fast they were.
	Users map[string]Pace `json:"users"`
	// Stalls of the control random-stalls, from begin to end within the diagnosis.
	Stalls int `json:"stalls,omitempty"`
	// Missed are the faults that nothing names.
	Missed []string `json:"missed"`
	// Halves are the faults that something leads near and nothing names.
	Halves []string `json:"halves,omitempty"`
	// False are statements that call healthy or exclude what a fault breaks, Harmful is advice that would harm.
	False   []string `json:"false,omitempty"`
	Harmful []string `json:"harmful,omitempty"`
	// Failed says why the diagnosis gave no answer: it has named nothing.
	Failed string `json:"failed,omitempty"`
	// Strangers is the share of all cores that processes used which have no part in the test.
	Strangers float64 `json:"strangers"`
	// Stolen is the share of all cores that the hypervisor gave to other machines.
	Stolen float64 `json:"stolen"`
	TookS  float64 `json:"took_s"`
}

// Named is a finding above a note.
type Named struct {
	Name    string   `json:"name"`
	Price   *float64 `json:"price"`
	Verdict Verdict  `json:"verdict,omitempty"` // of a note: none
	Title   string   `json:"title"`
	// Evidence as the diagnosis gives it.
	Evidence []string `json:"evidence"`
}

// Verdict on a name.
type Verdict string

// Machine: not planted, and true all the same, since strangers or the hypervisor took the processors. Half leads near a
// fault without naming it; True is a consequence, and neither right nor wrong.
const (
	Right   Verdict = "right"
	Half    Verdict = "half"
	True    Verdict = "true"
	Wrong   Verdict = "wrong"
	Machine Verdict = "machine"
)

// strangersMost may use so much of the cores; beyond it a finding that says so is no error.
const strangersMost = 0.15

// stolenMost may be stolen; beyond it a finding that says so is no error.
const stolenMost = 0.05

// ofStrangers are findings that others on the machine cause: who waits for a processor after each flush waits longer
// for the log, too.
var ofStrangers = []string{"processors-taken-by-others", "one-core-filled", "log-flush"}

// judge what was named.
func (t *Trial) judge(p plant, d *diagnose.Diagnosis) {
	right := map[string]bool{}
	t.Ledger = map[string]float64{}
	for _, line := range d.Ledger.Lines {
		t.Ledger[line.Class] = line.Share
	}
	for _, f := range d.Findings {
		n := Named{Name: f.Name, Price: f.Price, Title: f.Title, Evidence: f.Evidence}
		if f.Level != diagnose.Problem {
			t.Notes = append(t.Notes, n)
			continue
		}
		n.Verdict = Wrong
		for _, fault := range p {
			if slices.Contains(fault.answers, f.Name) {
				n.Verdict, right[fault.name] = Right, true
			}
		}
		if n.Verdict == Wrong && t.madeByMachine(f.Name) {
			n.Verdict = Machine
		}
		t.Named = append(t.Named, n)
	}
	for _, c := range d.Contradictions {
		if c.Name != "topology" || c.Verdict != diagnose.Contradicts {
			continue // the others are figures of findings
		}
		n := Named{Name: contradiction + c.Name, Verdict: Wrong, Title: c.Says, Evidence: []string{}}
		for _, fault := range p {
			if slices.Contains(fault.answers, n.Name) {
				n.Verdict, right[fault.name] = Right, true
			}
		}
		t.Named = append(t.Named, n)
	}
	for _, fault := range p {
		if !right[fault.name] {
			t.Missed = append(t.Missed, fault.name)
		}
	}
}

// madeByMachine says whether a finding is true of this machine during the trial, whatever is planted.
func (t *Trial) madeByMachine(finding string) bool {
	return t.Strangers >= strangersMost && slices.Contains(ofStrangers, finding) ||
		t.Stolen >= stolenMost && finding == "steal"
}

// Report is all trials and their scores.
type Report struct {
	Schema string `json:"schema"`
	Rounds int    `json:"rounds"`
	// CommitMS is how long a commit takes here alone.
	CommitMS float64 `json:"commit_ms"`
	Trials   []Trial `json:"trials"`
	// Scores of single faults, compounds and healthy runs, each of all, seen and hidden ones; those of incidents apart.
	Scores []Score `json:"scores"`
	// Conditions are the scores of incidents by what their trials drew.
	Conditions []Score `json:"conditions,omitempty"`
}

// Score as D-Bot's authors have it: (right - 0.1 wrong) / all. Wrong names of healthy runs have no causes to be divided
// by: they are counted alone.
type Score struct {
	Of     string   `json:"of"`
	Trials int      `json:"trials"`
	Void   int      `json:"void"`
	Causes int      `json:"causes"`
	Right  int      `json:"right"`
	Wrong  int      `json:"wrong"`
	Score  *float64 `json:"score"` // null: no cause took effect
	// Half are causes that something leads near. Halves is the score in which each counts as half a right one.
	Half   int      `json:"half"`
	Halves *float64 `json:"score_with_halves"`
	// False statements, and advice that would harm.
	False   int `json:"false_statements"`
	Harmful int `json:"harmful_advice"`
}

// wrongCosts is D-Bot's σ.
const wrongCosts = 0.1

func (r *Report) add(t Trial) {
	r.Trials = append(r.Trials, t)
	r.Scores, r.Conditions = nil, nil
	for _, part := range parts {
		r.Scores = append(r.Scores, r.score(part))
	}
	r.Conditions = r.byCondition()
}

// part of the trials that has a score.
type part struct {
	of   string
	take func(Trial) bool
}

// parts of the report: of each set all, seen and unseen ones.
var parts = partsOf()

func partsOf() (all []part) {
	for _, set := range []struct{ name, of, unseen string }{{"", "", "hidden"}, {SetNew, "new ", "unseen"}} {
		in := func(causes func(int) bool, is func(Trial) bool) func(Trial) bool {
			return func(t Trial) bool { return t.Set == set.name && causes(t.causes()) && is(t) }
		}
		any := func(Trial) bool { return true }
		seen, unseen := func(t Trial) bool { return !t.Hidden }, func(t Trial) bool { return t.Hidden }
		for _, kind := range []struct {
			name   string
			causes func(int) bool
		}{{"single", func(n int) bool { return n == 1 }}, {"compound", func(n int) bool { return n > 1 }}} {
			of := set.of + kind.name
			all = append(all, part{of, in(kind.causes, any)}, part{of + ", seen", in(kind.causes, seen)},
				part{of + ", " + set.unseen, in(kind.causes, unseen)})
		}
		all = append(all, part{set.of + Healthy, in(func(n int) bool { return n == 0 }, any)})
	}
	return all
}

func (r *Report) score(p part) Score {
	s := Score{Of: p.of}
	for _, t := range r.Trials {
		if p.take(t) {
			s.add(t)
		}
	}
	return s
}

// byCondition are the scores of incidents by engine, kind of load, and what else was drawn.
func (r *Report) byCondition() (all []Score) {
	var order []string
	of := func(t Trial) []string {
		if t.Conditions == nil {
			return nil
		}
		return t.Conditions.each()
	}
	for _, t := range r.Trials {
		for _, name := range of(t) {
			if !slices.Contains(order, name) {
				order = append(order, name)
			}
		}
	}
	slices.Sort(order)
	for _, name := range order {
		all = append(all, r.score(part{name, func(t Trial) bool { return slices.Contains(of(t), name) }}))
	}
	return all
}

// causes that were planted.
func (t Trial) causes() int {
	if strings.HasPrefix(t.Plant, Healthy) {
		return 0
	}
	return 1 + strings.Count(t.Plant, "+")
}

func (s *Score) add(t Trial) {
	s.Trials++
	if t.Void != "" {
		s.Void++
		return
	}
	s.Causes += t.causes()
	s.Right += t.causes() - len(t.Missed) - len(t.Halves)
	s.Half += len(t.Halves)
	s.False += len(t.False)
	s.Harmful += len(t.Harmful)
	for _, n := range t.Named {
		if n.Verdict == Wrong {
			s.Wrong++
		}
	}
	if s.Causes > 0 {
		x := (float64(s.Right) - wrongCosts*float64(s.Wrong)) / float64(s.Causes)
		s.Score = &x
		s.Halves = new(x + 0.5*float64(s.Half)/float64(s.Causes))
	}
}
