package restoration

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"plimsoll/platform/books/document"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
	"plimsoll/platform/worker/jobs"
)

// Kind is the name of the job.
const Kind = "restoration"

// Arguments of the job.
type Arguments struct {
	Organisation id.ID `json:"organisation"` // zero is all, which only an operator may ask for
	// Classic, Wide and TotalsUntil are posting.Manner, Lines are Options.
	Classic     bool      `json:"classic,omitempty"`
	Wide        bool      `json:"wide,omitempty"`
	TotalsUntil time.Time `json:"totals_until,omitzero"`
	Lines       int       `json:"lines,omitempty"`
}

// LinesMax of a piece.
const LinesMax = 10_000_000

func (a Arguments) options() Options {
	return Options{How: posting.Manner{Classic: a.Classic, Wide: a.Wide, TotalsUntil: a.TotalsUntil}, Lines: a.Lines}
}

// piecework is the arguments of a part: a sequence, and how to restore it.
type piecework struct {
	Sequence
	How Arguments `json:"how"`
}

// Job restores all sequences of an organisation, or of all. A part that is begun again finds what is left to do in
// the boundary.
func Job(db *database.Database) jobs.Kind {
	books := Books(db)
	return jobs.Kind{
		Name: Kind, Title: "Restoring the sequence of cost batches", Unique: true, Arguments: arguments,
		Plan: func(ctx context.Context, given json.RawMessage) ([]jobs.Part, error) {
			var a Arguments
			if err := json.Unmarshal(given, &a); err != nil {
				return nil, err
			}
			plan, err := Plan(ctx, db, a.Organisation)
			parts := make([]jobs.Part, len(plan))
			for i, s := range plan {
				parts[i] = jobs.Part{Arguments: piecework{s, a}, Weight: s.Lines}
			}
			return parts, err
		},
		Work: func(ctx context.Context, t jobs.Task) (any, error) {
			var p piecework
			if err := json.Unmarshal(t.Arguments, &p); err != nil {
				return nil, err
			}
			done, err := p.Run(ctx, db, books, p.How.options(), func(r posting.Restored) { t.Progress(r.Lines) })
			return done, err
		},
		Sum: sum,
	}
}

// arguments are those of the owner's organisation; an operator (no owner) may name one.
func arguments(owner string, given json.RawMessage) (any, error) {
	var a Arguments
	if len(given) > 0 {
		if err := json.Unmarshal(given, &a); err != nil {
			return nil, &document.Invalid{Field: "arguments", Reason: "not valid arguments of a restoration"}
		}
	}
	if a.Lines < 0 || a.Lines > LinesMax {
		return nil, &document.Invalid{Field: "lines", Reason: fmt.Sprintf("must be 0 to %d", LinesMax)}
	}
	if owner != "" {
		own, err := id.Parse(owner)
		if err != nil {
			return nil, fmt.Errorf("restoration for %q: %w", owner, err)
		}
		a.Organisation = own
	}
	return a, nil
}

func sum(results []json.RawMessage) (any, error) {
	var all posting.Restored
	for _, r := range results {
		var one posting.Restored
		if err := json.Unmarshal(r, &one); err != nil {
			return nil, err
		}
		all.Add(one)
	}
	return all, nil
}
