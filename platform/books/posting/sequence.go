package posting

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"plimsoll/platform/books/document"
	"plimsoll/platform/books/register"
	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
	"plimsoll/platform/model/metadata"
)

// sequence is the state of a restoration while it processes its documents.
type sequence struct {
	books       *Books
	layered     *register.Register
	restoration Restoration
	keys        *rowset.Table
	since       map[string]time.Time // the boundary of each key restored
	memory      *memory              // of layers; nil if they are read for each document
	writers     *writers
	short       map[string]time.Time
	done        Restored
}

// repost processes some documents: it reads their records together, reposts each, and writes the differences.
func (s *sequence) repost(ctx context.Context, w *database.Work, takers []register.Taker) error {
	all, err := s.read(ctx, w, takers)
	if err != nil {
		return err
	}
	for _, p := range all {
		if err := s.record(ctx, w, p); err != nil {
			return fmt.Errorf("%s %s of %s: %w", p.held.Meta.Title, p.held.Number, p.held.Date.Format(time.DateOnly),
				err)
		}
	}
	s.done.Documents += int64(len(all))
	most := 0
	if s.restoration.How.Classic {
		most = 1 // row by row
	}
	changed, rows := s.writers.write(w, most)
	if s.restoration.How.Classic { // its queries read totals; those of ledgers, which all share, wait for the end
		s.writers.registerTotals(w)
	}
	s.done.Changed, s.done.Rows = s.done.Changed+changed, s.done.Rows+rows
	return nil
}

// read reads the documents with their record sets, and what their rules need besides layers, in the order of the
// takers.
func (s *sequence) read(ctx context.Context, w *database.Work, takers []register.Taker) ([]*posted, error) {
	byType := map[string][]id.ID{}
	for _, t := range takers {
		byType[t.Type] = append(byType[t.Type], t.ID)
	}
	found, collect := map[id.ID]*posted{}, []func(){}
	for _, name := range sortedKeys(byType) {
		k := s.books.types[name]
		documents, recordSets := k.store.ReadMany(w, byType[name]), s.recordSets(w, k, byType[name])
		collect = append(collect, func() {
			for v, d := range documents {
				found[v] = &posted{kind: k, held: d, before: recordSets(v)}
			}
		})
	}
	if err := w.Flush(ctx); err != nil {
		return nil, err
	}
	for _, each := range collect {
		each()
	}
	all := make([]*posted, 0, len(takers))
	for _, t := range takers {
		p := found[t.ID]
		if p == nil || !p.held.Posted {
			return nil, fmt.Errorf("%s %s has movements but is not posted: run an audit for details", t.Type, t.ID)
		}
		all = append(all, p)
	}
	s.readCatalogs(w, all)
	return all, w.Flush(ctx)
}

// readCatalogs queues reading the catalogs that the rules use, for all documents of a type together.
func (s *sequence) readCatalogs(w *database.Work, all []*posted) {
	byKind := map[string][]*document.Document{}
	for _, p := range all {
		byKind[p.kind.meta.Name] = append(byKind[p.kind.meta.Name], p.held)
	}
	shared := map[string]*Facts{}
	for _, name := range sortedKeys(byKind) {
		shared[name] = newFacts()
		shared[name].Catalogs = s.books.types[name].elements(w, s.restoration.Organisation, byKind[name]...)
	}
	for _, p := range all {
		p.facts = newFacts()
		p.facts.Catalogs = shared[p.kind.meta.Name].Catalogs
	}
}

// record reposts a document and gathers the differences.
func (s *sequence) record(ctx context.Context, w *database.Work, p *posted) error {
	rules, costing := p.kind.rules.(Costing)
	if !costing {
		return errors.New("its rules do not say which parts depend on costs")
	}
	if err := s.split(p); err != nil {
		return err
	}
	since, err := s.layers(ctx, w, p, false)
	if err != nil {
		return err
	}
	d := p.held.Copy()
	records, err := rules.Recost(d, p.facts)
	var refused *Refusal
	if s.memory == nil && errors.As(err, &refused) { // short at its moment: later receipts make up for it
		if since, err = s.layers(ctx, w, p, true); err != nil {
			return err
		}
		d = p.held.Copy()
		records, err = rules.Recost(d, p.facts)
	}
	if err != nil {
		return err
	}
	after := p.before.replacing(records)
	if err := s.recordTaken(p, after.movements[s.layered.Meta().Name], since); err != nil {
		return err
	}
	s.writers.replace(p, d, after, s.restoration.How.Classic)
	return nil
}

// replacing replaces some record sets.
func (s sets) replacing(records *Records) sets {
	after := sets{s.records, maps.Clone(s.movements), maps.Clone(s.entries)}
	for _, m := range records.Movements {
		after.movements[m.Register] = m
	}
	for _, e := range records.Entries {
		after.entries[e.Ledger] = e
	}
	return after
}

// layers gives the rules the layers under the restored keys, and under the others what the document itself has taken,
// piece by piece. It returns the moment of each layer.
func (s *sequence) layers(ctx context.Context, w *database.Work, p *posted, later bool) (map[string]time.Time, error) {
	meta, own := s.layered.Meta(), p.before.movements[s.layered.Meta().Name]
	given := register.NewLayers(meta, 0)
	p.facts.Layers[meta.Name] = given
	keep(given, own, p.outside, meta)
	if s.memory != nil {
		return s.memory.addLayers(given, p.required), nil
	}
	var found *register.Aged
	if later {
		moments := make([]time.Time, p.inside.Rows())
		for i := range moments {
			moments[i] = p.held.Date
		}
		found = s.layered.Untaken(w, p.held.Organisation, p.held.ID, p.inside, moments)
		if err := w.Flush(ctx); err != nil {
			return nil, err
		}
	} else {
		var err error
		if found, err = s.layered.AtByTemp(ctx, w, p.held.Organisation, p.held.ID, p.held.Date,
			s.restoration.How.totalsAt(p.held.Date), p.inside, s.restoration.How.Wide); err != nil {
			return nil, err
		}
	}
	since := map[string]time.Time{}
	for row := range found.Left.Rows() {
		since[s.layered.Key(found.Keys, row)] = found.Since[row]
	}
	given.Keys.AddRange(found.Keys, 0, found.Keys.Rows())
	given.Left.AddRange(found.Left, 0, found.Left.Rows())
	return since, nil
}

// restores says whether a key is restored from this document on: earlier ones already have the right costs.
// should have.
func (s *sequence) restores(key string, p *posted) bool {
	since, restored := s.since[key]
	return restored && !p.held.Date.Before(since)
}

// split separates what a document has taken from restored keys from what it has taken from others.
func (s *sequence) split(p *posted) error {
	meta, own := s.layered.Meta(), p.before.movements[s.layered.Meta().Name]
	p.required, p.inside, p.outside = map[string]int64{}, rowset.New(meta.Leading(), 0), nil
	for row := range own.Rows.Rows() {
		key := s.layered.Leading(own.Rows, row)
		switch {
		case !own.Expense[row]:
			return errors.New("it both adds and uses layers, which cannot be ordered in a restoration")
		case !s.restores(key, p):
			p.outside = append(p.outside, row)
		default:
			if _, seen := p.required[key]; !seen {
				p.inside.Add(own.Rows.Columns(0, len(meta.Leading())), []int{row})
			}
			p.required[key] += resource(own.Rows, row, len(meta.Dimensions))
			s.done.Lines++
		}
	}
	return nil
}

func keep(given *register.Layers, own *register.Movements, rows []int, meta *metadata.Accumulation) {
	given.Keys.Add(own.Rows.Columns(0, len(meta.Dimensions)), rows)
	given.Left.Add(own.Rows.Columns(len(meta.Dimensions), len(own.Rows.Attributes)), rows)
}

// totalsAt is the first day of the month from which movements are read.
func (m Manner) totalsAt(date time.Time) time.Time {
	month := time.Date(date.UTC().Year(), date.UTC().Month(), 1, 0, 0, 0, 0, time.UTC)
	if !m.TotalsUntil.IsZero() && m.TotalsUntil.Before(month) {
		return m.TotalsUntil
	}
	return month
}

// recordTaken records what a document has taken from the restored keys.
func (s *sequence) recordTaken(p *posted, m *register.Movements, since map[string]time.Time) error {
	if m == nil {
		return nil
	}
	for row := range m.Rows.Rows() {
		key := s.layered.Leading(m.Rows, row)
		if !s.restores(key, p) {
			continue
		}
		layer := s.layered.Key(m.Rows, row)
		came := since[layer]
		if receipt := m.Rows.Value(len(s.layered.Meta().Leading()), row).(id.ID); came.After(p.held.Date) ||
			came.Equal(p.held.Date) && receipt.Compare(p.held.ID) > 0 {
			if _, known := s.short[key]; !known {
				s.short[key] = p.held.Date
			}
		}
		if s.memory != nil {
			if err := s.memory.take(key, layer, m, row); err != nil {
				return err
			}
		}
	}
	return nil
}

func resource(t *rowset.Table, row, column int) int64 {
	switch v := t.Value(column, row).(type) {
	case amount.Quantity:
		return int64(v)
	case amount.Money:
		return int64(v)
	}
	return 0
}
