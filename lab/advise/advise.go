// Package advise recommends changes to a PostgreSQL server, from 15 on: each piece of advice with the evidence found
// there, its price if a diagnosis knows it, the comparison that proves it, and how to undo it. Reading needs pg_monitor
// alone and writes nothing.
//
//	read ──▶ classes of advice ──▶ prices of a diagnosis ──▶ ranked report
//	                                                            │ Apply: journal, change, journal …
//	                                                            ▼
//	                              Revert ◀── journal in the state folder ──▶ expected against actual gain
package advise

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/jackc/pgx/v5/pgconn"
)

// Schema of the JSON. It changes with every incompatible change.
const Schema = "plimsoll-advise-1"

// Options of a look at a server.
type Options struct {
	DSN string
	// Cluster is the name of a local cluster, which 'plimsoll compare' can restart; empty: a server elsewhere.
	Cluster string
	// Causes of lost time that a diagnosis found; nil: there was none, and nothing has a price.
	Causes []Cause
	// From says where Causes come from.
	From     string
	Software string
}

// Cause of lost time, as a diagnosis priced it.
type Cause struct {
	Name, Title string
	Evidence    []string
	// Price is its share of the time; nil: not known.
	Price *float64
	// Gain is the share of the time expected to be saved.
	Gain *Range
	// Statements that it is about.
	Statements []string
}

// Range from low to high.
type Range struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Report is the answer.
type Report struct {
	Schema   string    `json:"schema"`
	Software string    `json:"software"`
	At       time.Time `json:"at"`
	Server   Server    `json:"server"`
	// Diagnosis that prices come from; empty: none, and no advice has a price.
	Diagnosis string   `json:"diagnosis,omitempty"`
	Advice    []Advice `json:"advice"`
	// Healthy are the classes that were looked at and need nothing.
	Healthy     []string      `json:"healthy"`
	Unavailable []Unavailable `json:"unavailable"`
	Limits      []*Limit      `json:"limits"`
}

// Server that was read.
type Server struct {
	Version  string `json:"version"`
	Database string `json:"database"`
	User     string `json:"user"`
	Cluster  string `json:"cluster,omitempty"`
	// MemoryBytes of its machine; null: it runs elsewhere.
	MemoryBytes *int64 `json:"memory_bytes"`
	Standby     bool   `json:"standby"`
}

// Unavailable is what could not be read, and why: what it would have shown is missing, not healthy.
type Unavailable struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// Level of advice.
type Level string

// Harmful: data can be lost or the server ends up unusable, whatever it gains. A problem costs time or will. A note
// costs little, or nobody knows how much.
const (
	Harmful Level = "harmful"
	Problem Level = "problem"
	Note    Level = "note"
)

var ranks = map[Level]int{Harmful: 0, Problem: 1, Note: 2}

// Advice is one thing to change.
type Advice struct {
	ID        string   `json:"id"`
	Class     string   `json:"class"`
	Level     Level    `json:"level"`
	Title     string   `json:"title"`
	Mechanism string   `json:"mechanism"`
	Evidence  []string `json:"evidence"`
	// Memory that the change costs, in words; empty: none.
	Memory string `json:"memory,omitempty"`
	// Price is the share of the time that the cause takes; null: no diagnosis knows it.
	Price *float64 `json:"price"`
	// ExpectedGain is the share of the time that may be saved; null: not known.
	ExpectedGain *Range `json:"expected_gain"`
	// Changes that --apply makes; empty: it is for a person to do.
	Changes []Change `json:"changes,omitempty"`
	// Do are the commands for a person.
	Do []string `json:"do"`
	// Prove is the command that measures the effect.
	Prove  string `json:"prove"`
	Revert string `json:"revert"`

	object string // that it is about: a finding about another one does not price it
	// asked: it is applied by its ID alone, whatever its price: it may cost somebody else something.
	asked bool
}

// Applicable says whether --apply can do it.
func (a Advice) Applicable() bool { return len(a.Changes) > 0 && a.Level != Harmful }

// class of advice: a new one needs an entry in the list and nothing else.
type class struct {
	name string
	// healthy says what its absence means.
	healthy string
	// right is what its queries need, for a server that refuses them.
	right string
	// causes are the findings of a diagnosis that price it.
	causes []string
	// primary: it reads what only a primary counts; a standby shows zeros.
	primary bool
	find    func(ctx context.Context, s *server) ([]Advice, error)
}

// classes in the order in which equals are listed.
var classes = []class{harmful, setTwice, libraries, heldHorizon, statistics, vacuum, wraparound, bloat, indexBloat,
	missingIndexes, foreignKeys, unusedIndexes, memory, planner, logSize, commits, idleTransactions, storms, churn,
	tempStatistics, emptying, replicas, totals, files}

// Run reads a server and advises.
func Run(ctx context.Context, o Options) (*Report, error) {
	s, err := attach(ctx, o)
	if err != nil {
		return nil, err
	}
	defer s.close(ctx)
	r := &Report{Schema: Schema, Software: o.Software, At: time.Now(), Server: s.Server, Diagnosis: o.From,
		Advice: []Advice{}, Healthy: []string{}, Unavailable: []Unavailable{}, Limits: limits}
	for _, c := range o.Causes {
		s.sampled = append(s.sampled, c.Statements...)
	}
	for _, c := range classes {
		if c.primary && s.Standby {
			s.miss(c.name, "a standby does not count what its primary writes: look at the primary")
			continue
		}
		all, err := c.find(ctx, s)
		var refused *pgconn.PgError
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.As(err, &refused):
			s.miss(c.name, c.excuse(refused))
		case err != nil:
			return nil, fmt.Errorf("look for %s: %w", c.name, err)
		case len(all) == 0 && !s.missed(c.name):
			r.Healthy = append(r.Healthy, c.healthy)
		}
		all = mergeSame(all)
		for i := range all {
			all[i].Class = c.name
			all[i].price(c.causes, o.Causes)
			s.complete(&all[i])
		}
		r.Advice = append(r.Advice, all...)
	}
	r.Unavailable = append(r.Unavailable, s.missing...)
	if o.Causes == nil {
		r.Unavailable = append(r.Unavailable, Unavailable{"prices", "no diagnosis: --for 2m watches the server under " +
			"load, --run takes the diagnosis of a run"})
	}
	r.rank()
	return r, nil
}

// mergeSame merges advice with the same ID into one, with the evidence of each.
func mergeSame(all []Advice) (few []Advice) {
	place := map[string]int{}
	for _, a := range all {
		n, known := place[a.ID]
		if !known {
			place[a.ID], few = len(few), append(few, a)
			continue
		}
		for _, e := range a.Evidence {
			if !slices.Contains(few[n].Evidence, e) {
				few[n].Evidence = append(few[n].Evidence, e)
			}
		}
		if ranks[a.Level] < ranks[few[n].Level] {
			few[n].Level = a.Level
		}
	}
	return few
}

// refusedRights is PostgreSQL's code for a right that is missing.
const refusedRights = "42501"

func (c class) excuse(refused *pgconn.PgError) string {
	if refused.Code == refusedRights && c.right != "" {
		return refused.Message + "; it needs " + c.right
	}
	return refused.Message
}

func (r *Report) rank() {
	slices.SortStableFunc(r.Advice, func(a, b Advice) int {
		return cmp.Or(cmp.Compare(harmRank(a), harmRank(b)), cmp.Compare(priceOf(b), priceOf(a)),
			cmp.Compare(ranks[a.Level], ranks[b.Level]))
	})
}

func harmRank(a Advice) int {
	if a.Level == Harmful {
		return 0
	}
	return 1
}

func priceOf(a Advice) float64 {
	if a.Price == nil {
		return 0
	}
	return *a.Price
}

// price takes over the price of the finding that this advice addresses. What takes a tenth of the time is a problem.
func (a *Advice) price(names []string, causes []Cause) {
	for _, c := range causes {
		if !slices.Contains(names, c.Name) || !a.isAbout(c) {
			continue
		}
		a.Evidence = append(a.Evidence, "the diagnosis: "+c.Title)
		if c.Price == nil {
			continue
		}
		a.Price, a.ExpectedGain = c.Price, c.Gain
		if a.Level == Note && *c.Price >= problemFrom.Value {
			a.Level = Problem
		}
		return
	}
}

func (a *Advice) isAbout(c Cause) bool {
	if a.object == "" {
		return true
	}
	outside := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '$' }
	words := func(text string) string { return " " + strings.Join(strings.FieldsFunc(text, outside), " ") + " " }
	return strings.Contains(words(c.Title+" "+strings.Join(c.Evidence, " ")), words(a.object))
}

// Find an advice by its ID.
func (r *Report) Find(id string) *Advice {
	for i := range r.Advice {
		if r.Advice[i].ID == id {
			return &r.Advice[i]
		}
	}
	return nil
}

// IDs of all problems that --apply can fix. A note is applied by its ID alone: somebody may want it as it is. So is
// what may cost somebody else something.
func (r *Report) IDs() (ids []string) {
	for _, a := range r.Advice {
		if a.Applicable() && a.Level == Problem && !a.asked {
			ids = append(ids, a.ID)
		}
	}
	return ids
}
