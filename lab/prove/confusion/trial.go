package confusion

import (
	"slices"

	"plimsoll/lab/diagnose"
)

// Trial is one plant, and what the diagnosis named.
type Trial struct {
	Round  int    `json:"round"` // from 1
	Plant  string `json:"plant"`
	Hidden bool   `json:"hidden"` // not looked at while thresholds were chosen
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
	// Missed are the faults that nothing names.
	Missed []string `json:"missed"`
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

// Machine: not planted, and true all the same, since strangers or the hypervisor took the processors.
const (
	Right   Verdict = "right"
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
	// Scores of single faults, compounds and healthy runs, each of all, seen and hidden ones.
	Scores []Score `json:"scores"`
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
}

// wrongCosts is D-Bot's σ.
const wrongCosts = 0.1

func (r *Report) add(t Trial) {
	r.Trials = append(r.Trials, t)
	r.Scores = nil
	single := func(t Trial) bool { return t.causes() == 1 }
	compound := func(t Trial) bool { return t.causes() > 1 }
	for _, part := range []struct {
		kind string
		take func(Trial) bool
	}{
		{"single", single}, {"single, seen", func(t Trial) bool { return single(t) && !t.Hidden }},
		{"single, hidden", func(t Trial) bool { return single(t) && t.Hidden }},
		{"compound", compound}, {"compound, seen", func(t Trial) bool { return compound(t) && !t.Hidden }},
		{"compound, hidden", func(t Trial) bool { return compound(t) && t.Hidden }},
		{Healthy, func(t Trial) bool { return t.causes() == 0 }},
	} {
		s := Score{Of: part.kind}
		for _, t := range r.Trials {
			if part.take(t) {
				s.add(t)
			}
		}
		r.Scores = append(r.Scores, s)
	}
}

func (t Trial) causes() int {
	p, err := parse(t.Plant)
	if err != nil {
		return 0
	}
	return len(p)
}

func (s *Score) add(t Trial) {
	s.Trials++
	if t.Void != "" {
		s.Void++
		return
	}
	s.Causes += t.causes()
	s.Right += t.causes() - len(t.Missed)
	for _, n := range t.Named {
		if n.Verdict == Wrong {
			s.Wrong++
		}
	}
	if s.Causes > 0 {
		x := (float64(s.Right) - wrongCosts*float64(s.Wrong)) / float64(s.Causes)
		s.Score = &x
	}
}
