// Package incident owns faults that are written as data, as incidents of databases happen: what an application does,
// what somebody changed, and how it is undone, in SQL. Names of schemas, tables, columns and roles and the strength of
// the fault are drawn from a seed, so that a diagnosis cannot know them.
//
//	-- fault NAME
//	-- does: one line                     -- from: where such incidents are described
//	-- unseen                             thresholds may not be set by it
//	-- draw n: 20 60                      a number between them, {#n}
//	-- library: llvmjit                   a library that the server must have
//	-- direct                             a pooler of transactions would break its application
//	-- standby                            its application only reads: it can run on a standby
//	-- apart                              it holds all up or changes the whole server: not in pairs
//	-- server: NAME = VALUE               a setting of the whole server while it is planted
//	-- right: PATTERN                     findings that name it; half: … nearly; also: … true beside it, no answer
//	-- about: {orders} {schema}           a right finding shows one of these
//	-- never: scans statements            areas that may not be called healthy or excluded (areas.go)
//	-- harm: PATTERN                      advice that would harm
//	-- effect: time APP 1.5               a step takes so many times as long as before
//	-- effect: per-step APP 2 SELECT …    a counter grows by so many times as much for each step
//	-- effect: reach 1e6 SELECT …         a figure grows by so much
//	-- settle: 3s                         from the plant to the measurement
//	-- before                             SQL of the owner, before the baseline
//	-- work APP clients=2 think=10ms …    a script in pgbench's dialect that clients repeat, before and after
//	-- plant                              SQL of the owner
//	-- bad APP …                          replaces the work of the application from then on
//	-- hold APP every=1s …                the owner's session that does it once, or again and again, until the end
//	-- remove                             SQL of the owner, for what the database does not take with it
//	-- cure                               SQL of the owner that cures it, in a copy of its database
//	-- cured APP …                        replaces the work of the application there
//
// A name in braces is the base's ({orders}, {orders.day}) or is drawn: {log} in the schema, {~log} alone. A line
// "\repeat N" in a script repeats the next one; {i} in it counts.
package incident

import (
	"regexp"
	"slices"
	"time"

	"plimsoll/lab/load/script"
)

// Fault is one incident as it is written.
type Fault struct {
	Name, Does, From string
	Kind             string // of a load: short, reports or batch; a fault has none
	// Unseen: thresholds may not be set by it.
	Unseen bool
	// Direct: not through a pooler of transactions. Standby: what it does only reads. Apart: not in pairs.
	Direct, Standby, Apart bool
	// Outside: users wait where the server does not see them, so that no share of the sessions' time can be its price.
	Outside bool
	Library string // that the server must have; empty: none
	Settle  time.Duration
	// Right, Half and Also are findings: its names, those that lead near it, and what is true besides.
	Right, Half, Also []*regexp.Regexp
	Never             []string // areas
	Harm              []*regexp.Regexp

	draws  []draw
	text   fields // not drawn yet
	source string
}

// fields are texts with names in braces.
type fields struct {
	Before, Plant, Remove, Cure string
	About, Effect               string
	Server                      []string
	Work, Bad, Hold, Cured      []section
}

// section of a script.
type section struct{ head, body string }

type draw struct {
	name      string
	low, high float64
}

// Kinds of effects.
const (
	Time    = "time"
	PerStep = "per-step"
	Reach   = "reach"
)

// Effect that a fault must have.
type Effect struct {
	Kind  string
	App   string // as the server knows it
	Least float64
	SQL   string
}

// Work of an application.
type Work struct {
	App     string // as the server knows it
	Clients int
	Think   time.Duration
	Every   time.Duration // of a hold: 0 once
	Mode    script.Mode
	As      string // role, user or owner
	Role    string // of the fault
	// Reconnect for each step; Retry after failures of serialization, as part of the step.
	Reconnect, Retry bool
	Pool             int           // connections that the clients share; 0: each has one
	Slow             time.Duration // after each hundred rows that are read: its script is one statement
	SQL              string        // that statement
	Standby          bool          // of a hold: on the standby
	Script           *script.Script
	writes           bool
}

// Setting of the whole server.
type Setting struct{ Name, Value string }

// Played is a fault with its names and numbers.
type Played struct {
	*Fault
	Role                        string // of its applications
	Before, Plant, Remove, Cure string
	About                       []string
	Effect                      Effect
	Server                      []Setting
	Work, Bad, Hold, Cured      []Work
}

// NeedsStandby says whether a hold runs on one.
func (f *Fault) NeedsStandby() bool {
	return slices.ContainsFunc(f.text.Hold, func(s section) bool { return standbyOption.MatchString(s.head) })
}

var standbyOption = regexp.MustCompile(`\bon=standby\b`)

// Find a fault by its name; nil: there is none.
func Find(name string) *Fault {
	all := All()
	if i := slices.IndexFunc(all, func(f *Fault) bool { return f.Name == name }); i >= 0 {
		return all[i]
	}
	return nil
}

// Fit says whether two faults can be planted together: each must stay measurable beside the other.
func Fit(a, b *Fault) bool {
	return a != b && !a.Apart && !b.Apart && (a.Library == "" || b.Library == "" || a.Library == b.Library)
}

// NoteAnswers says that it takes no time of sessions: a finding about it has no price, and is a note at most.
func (p *Played) NoteAnswers() bool { return p.Outside || p.Effect.Kind == Reach }

// Curable faults say how they are cured, in a database that nothing but its applications works in.
func Curable() (all []*Fault) {
	for _, f := range All() {
		if f.text.Cure != "" || len(f.text.Cured) > 0 {
			all = append(all, f)
		}
	}
	return all
}

// During is what the applications do while the fault is there, and After it once it is cured.
func (p *Played) During() []Work { return replaced(p.Work, p.Bad) }

// After the cure: see During.
func (p *Played) After() []Work { return replaced(p.During(), p.Cured) }

// replaced are works with those of the same application in place of them.
func replaced(all, by []Work) []Work {
	all = slices.Clone(all)
	for _, w := range by {
		if i := slices.IndexFunc(all, func(old Work) bool { return old.App == w.App }); i >= 0 {
			all[i] = w
		} else {
			all = append(all, w)
		}
	}
	return all
}
