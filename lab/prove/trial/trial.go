// Package trial owns the form of an experiment: which sides are compared, in which turns, what is measured, and what
// would confirm or refute the claim. All of that is data. One engine plays the turns, one judge gives the verdict, and
// the rules that users see are written from the same declaration.
//
//	Trial ──Play──▶ part: open sides ─▶ turn, turn, … ─▶ check ─▶ close ─▶ next part
//	                              disturbed ──▶ void, the same turn again
//	─▶ Measurements ──Finding──▶ verdict, text
package trial

import (
	"context"
	"fmt"
	"time"

	"plimsoll/ground/human"
	"plimsoll/lab/prove/claims"
)

// Trial is an experiment as data.
type Trial struct {
	Text     string        // what is done, in one line
	Overhead time.Duration // what it takes besides its turns
	Parts    []Part        // played one after the other
	Rules    Rules
	// Engines are judged one by one where the engine changes the answer; Rules are those of the first (ByEngine).
	Engines []Judged
	Chart   *Chart
	// Measured follows the parts' own phrases; neither repeats the verdict.
	Measured   []Phrase
	Conditions []claims.Condition
}

// Part is a set of sides that are measured in turns.
type Part struct {
	Name  string // used by the rules to refer to it
	Title string // begins the names of its figures; Record.Call can change it
	// Sides are measured in blocks of a random order and its mirror image, or in the given order.
	Sides   []Side
	InOrder bool
	Rounds  int           // turns of each side
	Turn    time.Duration // measured time of a turn
	Between time.Duration // time before and after it, roughly

	Series   []Series
	Measured []Phrase
	// Counted: the figures are counts of their own many replicates, and no times. No disturbance makes its turns void,
	// and it needs no number of them.
	Counted bool
	// Unjudged: the part is reported with the verdict but not judged; it may be cut off.
	Unjudged bool

	// Open makes what all sides share; Check examines it after all turns. Both may be nil.
	Open  func(context.Context, *Record) error
	Check func(context.Context, *Record) error
}

// Side is a named variant. Open sets it up before the first turn of any side.
type Side struct {
	Name string
	// Unjudged: the side is reported with the verdict but not judged; it may have no turns, as where the machine lacks
	// what it needs.
	Unjudged bool
	Open     func(context.Context, *Record) (Turn, error)
}

// Turn measures a side once; n counts the turns of all sides, from 0. A turn without figures is ignored.
type Turn func(ctx context.Context, n int) (Figures, error)

// Figures of one turn, by the names of their series.
type Figures map[string]float64

// Series is a quantity that turns measure.
type Series struct {
	Name, Unit string
	Hidden     bool // used by rules and phrases, not printed with the figures
}

// Phrase is a part of the summary, in words.
type Phrase struct {
	format string
	values []any
}

// Say makes a phrase like fmt.Sprintf. Arguments of type Value are filled in after the measurement.
func Say(format string, values ...any) Phrase { return Phrase{format, values} }

// Value is filled into a phrase.
type Value interface{ Text(*Measurements) string }

func (p Phrase) text(m *Measurements) string {
	filled := make([]any, len(p.values))
	for i, v := range p.values {
		filled[i] = v
		if measured, ok := v.(Value); ok {
			filled[i] = measured.Text(m)
		}
	}
	return fmt.Sprintf(p.format, filled...)
}

// Takes estimates the duration of the trial.
func (t Trial) Takes() time.Duration {
	takes := t.Overhead
	for _, p := range t.Parts {
		takes += time.Duration(p.turns()) * p.takes()
	}
	return takes
}

func (p Part) turns() int           { return len(p.Sides) * p.Rounds }
func (p Part) takes() time.Duration { return p.Turn + p.Between }

// Plan is the text with the number of turns: "36 turns of 3s: …".
func (t Trial) Plan() string {
	turns, length := 0, time.Duration(0)
	for _, p := range t.Parts {
		if p.Turn > 0 {
			turns, length = turns+p.turns(), p.Turn
		}
	}
	if turns == 0 {
		return t.Text
	}
	return fmt.Sprintf("%d turns of %s: %s", turns, human.Duration(length), t.Text)
}
