package posting

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"plimsoll/platform/books/document"
	"plimsoll/platform/books/register"
	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
	"plimsoll/platform/data/lock"
)

var (
	// ErrUnknown means that the organisation has no such document.
	ErrUnknown = errors.New("no such document")
	// ErrChanged means that the document has changed since its editor read it.
	ErrChanged = errors.New("the document was changed since it was read: read it again")
)

// State is the state of a document after a change.
type State uint8

const (
	Kept     State = iota // as it was
	Posted                // posted, or posted again if it was
	Unposted              // without movements
)

// Change is a requested change of a document.
type Change struct {
	Type                   string
	Organisation, Document id.ID
	// Version that the editor saw; zero: any.
	Version int64
	// Content replaces the document except number and author; nil keeps it. A zero date keeps the date.
	Content *document.Document
	State   State
}

// Change rewrites, posts, reposts or unposts a document, exactly once, as Create does. On reposting, the rules decide
// as if the document had no movements yet; then only differences are written. If the date changes, the movements move
// to the new month.
func (b *Books) Change(ctx context.Context, c Change, key Key) (result Result, err error) {
	k := b.types[c.Type]
	if k == nil {
		return Result{}, fmt.Errorf("change %s: it has no rules", c.Type)
	}
	err = b.refused(b.db.RunRepeatable(ctx, func(w *database.Work) (err error) {
		result, err = b.change(ctx, w, k, c, key)
		return err
	}))
	if isDone(err) {
		return b.replay(ctx, k.meta, key)
	}
	if err != nil {
		return Result{}, fmt.Errorf("change %s: %w", c.Type, err)
	}
	return result, nil
}

func (b *Books) change(ctx context.Context, w *database.Work, k *kind, c Change, key Key) (Result, error) {
	held, before := b.hold(w, k, c, key)
	if err := w.Flush(ctx); err != nil {
		return Result{}, err
	}
	d, err := c.apply(held)
	if err != nil || !held.Posted && !d.Posted && c.Content == nil {
		return Result{ID: held.ID, Number: held.Number, Posted: held.Posted, Version: held.Version}, err
	}
	after, err := b.record(ctx, w, k, c, held, d, before)
	if err != nil {
		return Result{}, err
	}
	result := Result{ID: d.ID, Number: d.Number, Posted: d.Posted, Version: held.Version + 1}
	return result, b.strategy.write(ctx, w, k, held, d, before, after)
}

// hold queues reading a document with its record sets. Whoever changes them locks the document first, so they do not
// change after the read.
func (b *Books) hold(w *database.Work, k *kind, c Change, key Key) (*document.Document, sets) {
	d := &document.Document{Meta: k.meta, ID: c.Document, Organisation: c.Organisation}
	key.claim(w, d)
	b.strategy.open(w, k, d, false)
	held, before := k.store.Hold(w, c.Organisation, c.Document), b.sets(&Records{})
	for _, name := range k.meta.Recorded() {
		if known := b.known[name]; known != nil {
			before.records[name] = known.Read(w, c.Document)
			continue
		}
		if r := b.registers[name]; r != nil {
			before.movements[name] = r.Read(w, c.Document)
			continue
		}
		before.entries[name] = b.ledgers[name].Read(w, c.Document)
	}
	return held, before
}

// apply makes the new document from the old one.
func (c Change) apply(held *document.Document) (*document.Document, error) {
	switch {
	case held.Version == 0:
		return nil, ErrUnknown
	case c.Version != 0 && c.Version != held.Version:
		return nil, ErrChanged
	}
	d := held.Copy()
	if c.Content != nil {
		d.Comment, d.Header, d.Sections = c.Content.Comment, c.Content.Header, c.Content.Sections
		if !c.Content.Date.IsZero() {
			d.Date = c.Content.Date
		}
	}
	if c.State != Kept {
		d.Posted = c.State == Posted
	}
	return d, nil
}

// record computes the new record sets, with everything locked that the document moved or will move.
func (b *Books) record(ctx context.Context, w *database.Work, k *kind, c Change, held, d *document.Document,
	before sets) (sets, error) {
	q := question{references: d.Posted || c.Content != nil, checks: b.controlled(d.Organisation, before),
		closed: new(*time.Time)}
	if d.Posted {
		q.needs = k.rules.Needs(d)
	}
	period := k.look(w, d)
	facts, err := b.strategy.gather(ctx, w, k, d, q)
	if err != nil {
		return sets{}, err
	}
	if err := b.open(q, held.Date, d.Date); err != nil {
		return sets{}, err
	}
	facts.Period = period
	after, err := b.decide(k, d, facts, q.needs.Read, before)
	if err != nil {
		return sets{}, err
	}
	for i := range q.checks {
		if err := q.checks[i].refuse(before, after); err != nil {
			return sets{}, err
		}
	}
	return after, nil
}

// decide calls the rules with balances that exclude what the document itself has moved.
func (b *Books) decide(k *kind, d *document.Document, facts *Facts, needs []Need, before sets) (sets, error) {
	if facts.Catalogs != nil {
		if err := k.present(d, facts); err != nil {
			return sets{}, err
		}
	}
	if !d.Posted {
		return b.sets(&Records{}), nil
	}
	for _, n := range needs {
		moved := before.movements[n.Register]
		if moved == nil {
			continue
		}
		r, layers := b.registers[n.Register], facts.Layers[n.name()]
		if layers == nil {
			r.Apply(facts.Balances[n.name()], n.Keys, moved, true)
			continue
		}
		r.Apply(layers.Left, layers.Keys, moved, true)
		if layers.Total != nil {
			r.Apply(layers.Total, n.Keys, moved, true)
		}
	}
	records, err := k.rules.Record(d, facts)
	if err != nil {
		return sets{}, err
	}
	return b.sets(records), nil
}

// check is a control on what remains when a document's movements are removed.
type check struct {
	register   *register.Register
	keys, left *rowset.Table
	locks      []lock.Key
	covered    *register.Register // a register that must be covered by what is left; nil if there is none
	needed     *rowset.Table
}

func (b *Books) controlled(organisation id.ID, before sets) (checks []check) {
	for _, name := range b.order {
		r, moved := b.registers[name], before.movements[name]
		if r == nil || moved == nil || !r.Meta().Controlled || moved.Rows.Rows() == 0 {
			continue
		}
		keys := r.Keys(moved)
		checks = append(checks, check{register: r, keys: keys, locks: r.Locks(organisation, keys),
			covered: b.registers[r.Meta().Covers]})
	}
	return checks
}

func (c *check) refuse(before, after sets) error {
	meta := c.register.Meta()
	c.register.Apply(c.left, c.keys, before.movements[meta.Name], true)
	if m := after.movements[meta.Name]; m != nil {
		c.register.Apply(c.left, c.keys, m, false)
	}
	short := c.register.Short(c.left)
	if c.covered != nil {
		short = append(short, c.uncovered(before, after)...)
		slices.Sort(short)
		short = slices.Compact(short)
	}
	if len(short) == 0 {
		return nil
	}
	var items []json.RawMessage
	for _, row := range short {
		item := append(c.keys.AppendFields([]byte{'{'}, row), ',')
		items = append(items, append(c.left.AppendFields(item, row), '}'))
	}
	return &Refusal{Control: meta.Name, Message: meta.Title +
		": what the document added has been used since, and would be missing", Items: items}
}

// uncovered are the keys with less left than another register needs.
func (c *check) uncovered(before, after sets) []int {
	name := c.covered.Meta().Name
	if m := before.movements[name]; m != nil {
		c.covered.Apply(c.needed, c.keys, m, true)
	}
	if m := after.movements[name]; m != nil {
		c.covered.Apply(c.needed, c.keys, m, false)
	}
	return register.Less(c.left, c.needed)
}
