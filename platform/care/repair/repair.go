// Package repair repairs what the audit finds, object by object. Documents are the truth: what their rules make of them
// is written again where it was lost or changed; what cannot be derived from a document is only reported.
//
//	audit ─▶ plan: each object once, with its class ─▶ refuse on physical damage, or while others work
//	      ─▶ step by step: hold, examine again, write, examine, journal, COMMIT ─▶ audit
//
// A step that finds its object in order does nothing, so a plan can be carried out again after it was cut off.
package repair

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/problem"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/care/audit"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
	"plimsoll/platform/model/metadata"
)

// Class says how an object is repaired.
type Class string

const (
	// Resubmit frees the key of an acknowledged operation whose document is gone, so that the client's repetition of it
	// makes the document. The operation stays noted until that is done.
	Resubmit Class = "resubmit"
	// Repost writes what the rules make of a document: computed attributes, movements, records, entries, their totals.
	Repost Class = "repost"
	// Reverse deletes what no posted document has recorded.
	Reverse Class = "reverse"
	// Rebuild sums totals from movements, and drops boundaries of nothing.
	Rebuild Class = "rebuild"
	// Renumber moves a counter beyond the numbers used.
	Renumber Class = "renumber"
	// Restore is damage to what everything follows from: a document itself or a catalog. Only a backup contains it.
	Restore Class = "restore"
)

// Classes in the order of the steps.
var Classes = []Class{Resubmit, Reverse, Repost, Rebuild, Renumber, Restore}

// Risk of a step.
type Risk string

const (
	Low  Risk = "low"  // a second source confirms what is written
	High Risk = "high" // nothing confirms that the document is the unchanged side
)

// Change of a field.
type Change struct {
	Field    string `json:"field,omitempty"`
	Has      string `json:"has"`
	WillHave string `json:"will_have"`
}

// Step repairs one object.
type Step struct {
	Class    Class    `json:"class"`
	Object   string   `json:"object"`
	Document id.ID    `json:"document,omitzero"`
	Changes  []Change `json:"changes"`
	Risk     Risk     `json:"risk,omitempty"`
	Why      string   `json:"why"`
	// Skipped says why the step is not carried out.
	Skipped string `json:"skipped,omitempty"`
	Done    bool   `json:"done"`
	// After are wrong documents that this one refers to, and that its rules read: it is judged again when they are
	// repaired.
	After []id.ID `json:"after,omitempty"`

	act      action
	examined *posting.Examined // while the plan is made: the document that was judged
}

// skip is an error that says why a step is not carried out after all.
type skip string

func (s skip) Error() string { return string(s) }

// action carries out a step in a transaction. It returns false when there is nothing to do any more.
type action func(ctx context.Context, w *database.Work, p *proof) (bool, error)

// Options of a repair.
type Options struct {
	DryRun bool
	// Only these classes; none is all.
	Only []Class
	// Documents to repair, and nothing else; none is all.
	Documents []id.ID
	// TrustDocuments carries out steps of high risk too.
	TrustDocuments bool
	// ForgetLost deletes the records of acknowledged operations whose documents are gone, without waiting for their
	// clients to send them again.
	ForgetLost bool
	// Online allows other sessions. Steps lock what they change, but what is not changed cannot be proven then.
	Online bool
	// Audit is how the books are audited.
	Audit audit.Options
	// Backup, if any, is called before the first step is carried out, and not when there is none; an error ends the
	// repair.
	Backup func(context.Context) error
	// Planned is called with the plan before anything is done; an error ends the repair.
	Planned func([]Step) error
	// Progress is called for each step that was carried out, after its COMMIT.
	Progress func(done, total int, s Step)
}

// Report of a repair.
type Report struct {
	Run    id.ID        `json:"run"`
	Before audit.Report `json:"-"`
	After  audit.Report `json:"-"`
	// Violations that the audit found before and finds after; a dry run has no after.
	ViolationsBefore int64  `json:"violations_before"`
	ViolationsAfter  *int64 `json:"violations_after,omitempty"`
	DryRun           bool   `json:"dry_run"`
	Steps            []Step `json:"steps"`
	Done             int    `json:"done"`
	// Untouched says how it was proven that nothing else changed, or why it was not.
	Untouched string `json:"untouched,omitempty"`
}

// Repairer repairs the books of an application.
type Repairer struct {
	db    *database.Database
	app   *metadata.Application
	books *posting.Books
	audit func(context.Context, audit.Options) (audit.Report, error)
	// repaired documents of this run: nothing about them is wrong any more
	repaired map[id.ID]bool
	trust    bool
	forget   bool
}

// New makes one; look is how its books are audited.
func New(db *database.Database, app *metadata.Application, rules map[string]posting.Rules,
	look func(context.Context, audit.Options) (audit.Report, error)) *Repairer {
	return &Repairer{db: db, app: app, books: posting.New(db, app, rules), audit: look, repaired: map[id.ID]bool{}}
}

// examplesAll: a repair must see every violation, not the first ones.
const examplesAll = 10_000_000

// lockKey is the advisory lock that lets one repair run at a time.
const lockKey = 0x7265_7061_6972

// Run looks at the books, makes a plan, and carries it out unless it is a dry run.
func (r *Repairer) Run(ctx context.Context, o Options) (report Report, err error) {
	o.Audit.Examples, o.Audit.Keep = examplesAll, false
	report.Run, report.DryRun, r.trust, r.forget = id.New(), o.DryRun, o.TrustDocuments, o.ForgetLost
	err = r.exclusively(ctx, func() error {
		report.Before, err = r.audit(ctx, o.Audit)
		if err != nil {
			return damaged("the books", err)
		}
		report.ViolationsBefore = report.Before.Violations
		if report.Steps, err = r.plan(ctx, report.Before); err != nil {
			return fmt.Errorf("plan: %w", err)
		}
		choose(report.Steps, o)
		if o.Planned != nil {
			if err := o.Planned(report.Steps); err != nil {
				return err
			}
		}
		if o.DryRun || !slices.ContainsFunc(report.Steps, Step.wanted) {
			return nil
		}
		if err := r.carryOut(ctx, o, &report); err != nil {
			return err
		}
		report.After, err = r.audit(ctx, o.Audit)
		report.ViolationsAfter = &report.After.Violations
		return err
	})
	if err != nil {
		return report, fmt.Errorf("repair: %w", err)
	}
	return report, nil
}

func (s Step) wanted() bool { return s.Skipped == "" && s.act != nil }

// Open counts the violations that are left.
func (r Report) Open() int64 {
	if r.ViolationsAfter != nil {
		return *r.ViolationsAfter
	}
	return r.ViolationsBefore
}

// choose marks the steps that the options leave out.
func choose(steps []Step, o Options) {
	for i := range steps {
		s := &steps[i]
		switch {
		case s.Class == Restore:
			s.Skipped = "only a backup contains it"
		case len(o.Only) > 0 && !slices.Contains(o.Only, s.Class):
			s.Skipped = "not one of the requested classes"
		case len(o.Documents) > 0 && !slices.Contains(o.Documents, s.Document):
			s.Skipped = "not one of the requested documents"
		case s.Risk == High && !o.TrustDocuments:
			s.Skipped = "nothing confirms the document: --trust-documents repairs it anyway"
		}
	}
}

// exclusively holds the lock of repairs while do runs.
func (r *Repairer) exclusively(ctx context.Context, do func() error) error {
	return r.db.Borrow(ctx, func(c *pgx.Conn) error {
		var free bool
		if err := c.QueryRow(ctx, "SELECT pg_try_advisory_lock($1)", int64(lockKey)).Scan(&free); err != nil {
			return err
		}
		if !free {
			return problem.New(problem.Environment, errors.New("another repair of this database is running"),
				"wait until it ends; its journal shows what it has done")
		}
		defer func() {
			_, _ = c.Exec(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock($1)", int64(lockKey))
		}()
		return do()
	})
}

// carryOut the wanted steps, and prove that nothing else has changed.
func (r *Repairer) carryOut(ctx context.Context, o Options, report *Report) error {
	if !o.Online {
		if err := r.refuseLoad(ctx); err != nil {
			return err
		}
	}
	if err := r.refusePhysical(ctx); err != nil {
		return err
	}
	if o.Backup != nil {
		if err := o.Backup(ctx); err != nil {
			return err
		}
	}
	whole := &proof{}
	if !o.Online {
		if err := r.wholeDigests(ctx, &whole.before); err != nil {
			return err
		}
	}
	changed, err := r.carryOutSteps(ctx, o, report)
	if err != nil {
		return err
	}
	if o.Online {
		report.Untouched = "not proven: other sessions may have written meanwhile"
		return nil
	}
	if err := r.wholeDigests(ctx, &whole.after); err != nil {
		return err
	}
	tables, rows, err := whole.explained(changed)
	if err == nil {
		report.Untouched = fmt.Sprintf("%d tables, %d rows: nothing changed except what the steps wrote", tables, rows)
	}
	return err
}

// carryOutSteps carries out the wanted steps, each in a transaction of its own, and returns what each has changed.
func (r *Repairer) carryOutSteps(ctx context.Context, o Options, report *Report) (changed []proof, err error) {
	wanted, left := 0, map[id.ID]int{} // steps of each document that are not done, for whatever reason
	for _, s := range report.Steps {
		if left[s.Document]++; s.wanted() {
			wanted++
		}
	}
	for _, s := range ordered(report.Steps) {
		done, p, err := r.step(ctx, report.Run, s)
		var reason skip
		if errors.As(err, &reason) {
			s.Skipped = string(reason)
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", s.Class, s.Object, err)
		}
		left[s.Document]--
		r.repaired[s.Document] = left[s.Document] == 0
		if s.Done = done; !done {
			s.Skipped = "already in order"
			continue
		}
		report.Done++
		changed = append(changed, p)
		if o.Progress != nil {
			o.Progress(report.Done, wanted, *s)
		}
	}
	return changed, nil
}

// ordered are the wanted steps, each behind those of the documents that it refers to; what is not about a document
// comes in the order of classes.
func ordered(steps []Step) (all []*Step) {
	pending := map[id.ID]int{}
	var rest []*Step
	for i := range steps {
		if s := &steps[i]; s.wanted() {
			rest = append(rest, s)
			pending[s.Document]++
		}
	}
	for len(rest) > 0 {
		var later []*Step
		for _, s := range rest {
			waits := slices.ContainsFunc(s.After, func(v id.ID) bool { return v != s.Document && pending[v] > 0 })
			if waits || slices.Index(Classes, s.Class) >= slices.Index(Classes, Rebuild) && len(later) > 0 {
				later = append(later, s)
				continue
			}
			all = append(all, s)
			pending[s.Document]--
		}
		if len(later) == len(rest) { // they refer to each other
			all, later = append(all, later...), nil
		}
		rest = later
	}
	return all
}

// step carries one out; what it wrote is in the proof.
func (r *Repairer) step(ctx context.Context, run id.ID, s *Step) (done bool, p proof, err error) {
	err = r.db.Run(ctx, func(w *database.Work) error {
		p = proof{}
		w.Queue("be patient", "SET LOCAL lock_timeout = '60s'")
		w.Queue("be patient", "SET LOCAL statement_timeout = 0")
		done, err = s.act(ctx, w, &p)
		if err != nil || !done {
			return err
		}
		return journal(ctx, w, run, s, &p)
	})
	return done, p, err
}
