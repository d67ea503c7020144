package posting

import (
	"context"
	"fmt"
	"slices"
	"time"

	"plimsoll/platform/books/catalog"
	"plimsoll/platform/books/document"
	"plimsoll/platform/books/information"
	"plimsoll/platform/books/ledger"
	"plimsoll/platform/books/number"
	"plimsoll/platform/books/register"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
	"plimsoll/platform/model/metadata"
)

// Books posts the documents of an application.
type Books struct {
	db        *database.Database
	numbers   *number.Numbers
	types     map[string]*kind
	registers map[string]*register.Register
	known     map[string]*information.Register
	ledgers   map[string]*ledger.Ledger
	order     []string           // of the information registers, the others, and the ledgers after them
	closes    *metadata.Document // the type that closes them; nil when there is none
	strategy  strategy
}

// kind is one type of document with everything prepared for it.
type kind struct {
	meta      *metadata.Document
	rules     Rules
	store     *document.Store
	readers   map[string]*catalog.Reader
	order     []string // of the catalogs read
	documents referredReaders
	versions  string // selects the transaction that wrote each row of a document
}

// New prepares all statements. Documents without rules cannot be posted.
func New(db *database.Database, app *metadata.Application, rules map[string]Rules) *Books {
	b := &Books{
		db: db, numbers: number.New(db), types: map[string]*kind{},
		registers: map[string]*register.Register{}, known: map[string]*information.Register{},
		ledgers: map[string]*ledger.Ledger{}, closes: closingType(app),
	}
	for i := range app.Information {
		b.known[app.Information[i].Name] = information.New(&app.Information[i])
		b.order = append(b.order, app.Information[i].Name)
	}
	for i := range app.Accumulation {
		b.registers[app.Accumulation[i].Name] = register.New(&app.Accumulation[i])
		b.order = append(b.order, app.Accumulation[i].Name)
	}
	for i := range app.Accounting {
		b.ledgers[app.Accounting[i].Name] = ledger.New(&app.Accounting[i])
		b.order = append(b.order, app.Accounting[i].Name)
	}
	for name, r := range rules {
		meta, ok := app.Document(name)
		if !ok {
			panic("posting: rules for unknown document " + name)
		}
		k := newKind(app, meta, r)
		k.versions = b.versionsSQL(k)
		b.types[name] = k
	}
	b.strategy = lean{b}
	return b
}

func newKind(app *metadata.Application, meta *metadata.Document, rules Rules) *kind {
	k := &kind{meta: meta, rules: rules, store: document.NewStore(app, meta), readers: map[string]*catalog.Reader{}}
	reads := rules.Reads()
	k.documents = newReferredReaders(app, meta, reads)
	for _, a := range attributesOf(meta) {
		if a.Type == metadata.Reference && a.Documents == nil && k.readers[a.Catalog] == nil {
			referred, _ := app.Catalog(a.Catalog)
			k.readers[a.Catalog] = catalog.NewReader(referred, reads[a.Catalog]...)
			k.order = append(k.order, a.Catalog)
		}
	}
	return k
}

// attributesOf the header and the sections of a type.
func attributesOf(meta *metadata.Document) []metadata.Attribute {
	all := slices.Clone(meta.Attributes)
	for i := range meta.Sections {
		all = append(all, meta.Sections[i].Attributes...)
	}
	return all
}

// Result is the outcome for a document. Replayed: the operation had been done already under the same key, and the
// document is returned as it is now.
type Result struct {
	ID       id.ID
	Number   string
	Posted   bool
	Version  int64
	Replayed bool
}

// Create writes a new document, and posts it if Posted is asked for, exactly once: an operation done already under the
// same author and key returns its document and changes nothing.
func (b *Books) Create(ctx context.Context, d *document.Document, key Key) (Result, error) {
	k := b.types[d.Meta.Name]
	if k == nil {
		return Result{}, fmt.Errorf("create %s: it has no rules", d.Meta.Name)
	}
	var err error
	if d.Number, err = b.numbers.Next(ctx, d.Organisation, d.Meta.Name, d.Meta.Prefix); err != nil {
		return Result{}, err
	}
	d.Seal()
	err = b.refused(b.db.RunRepeatable(ctx, func(w *database.Work) error { return b.create(ctx, w, k, d, key) }))
	if isDone(err) {
		return b.replay(ctx, d.Meta, key)
	}
	if err != nil {
		return Result{}, fmt.Errorf("create %s: %w", d.Meta.Name, err)
	}
	return Result{ID: d.ID, Number: d.Number, Posted: d.Posted, Version: 1}, nil
}

func (b *Books) create(ctx context.Context, w *database.Work, k *kind, d *document.Document, key Key) error {
	key.claim(w, d)
	b.strategy.open(w, k, d, true)
	q := question{references: true, closed: new(*time.Time)}
	if d.Posted {
		q.needs = k.rules.Needs(d)
	}
	period := k.look(w, d)
	facts, err := b.strategy.gather(ctx, w, k, d, q)
	if err != nil {
		return err
	}
	if err := b.open(q, d.Date); err != nil {
		return err
	}
	facts.Period = period
	if err := k.present(d, facts); err != nil {
		return err
	}
	records := &Records{}
	if d.Posted {
		if records, err = k.rules.Record(d, facts); err != nil {
			return err
		}
	}
	return b.strategy.write(ctx, w, k, nil, d, b.sets(&Records{}), b.sets(records))
}

func (k *kind) references(w *database.Work, d *document.Document) *Facts {
	facts := newFacts()
	facts.Catalogs, facts.Documents = k.elements(w, d.Organisation, d), k.documents.read(w, d)
	return facts
}

// elements queues reading the catalog elements that documents of one organisation refer to.
func (k *kind) elements(w *database.Work, organisation id.ID,
	documents ...*document.Document) map[string]*catalog.Elements {
	wanted, found := map[string][]id.ID{}, map[string]*catalog.Elements{}
	for _, d := range documents {
		d.References(func(a *metadata.Attribute, v id.ID) {
			if a.Documents == nil {
				wanted[a.Catalog] = append(wanted[a.Catalog], v)
			}
		})
	}
	for _, name := range k.order {
		ids := wanted[name]
		slices.SortFunc(ids, id.ID.Compare)
		found[name] = k.readers[name].Read(w, organisation, slices.Compact(ids))
	}
	return found
}

// present refuses references to elements that do not exist or belong to another organisation: the answer is the same.
func (k *kind) present(d *document.Document, facts *Facts) (err error) {
	d.References(func(a *metadata.Attribute, v id.ID) {
		switch {
		case err != nil:
		case a.Documents != nil:
			err = present(a, v, facts)
		default:
			if _, found := facts.Catalogs[a.Catalog].Row(v); !found {
				err = &document.Invalid{Field: a.Catalog, Reason: "no such element: " + v.String()}
			}
		}
	})
	return err
}

func (b *Books) balances(w *database.Work, d *document.Document, needs []Need, facts *Facts) {
	for _, n := range needs {
		switch r, known := b.registers[n.Register], b.known[n.Register]; {
		case known != nil:
			facts.Information[n.name()] = known.Slice(w, d.Recorder(), n.Keys)
		case r.Meta().Layered:
			layers := r.Layers(w, d.Organisation, d.ID, n.Keys, n.Required)
			layers.Total = b.summed(r).Balances(w, d.Organisation, n.Keys)
			facts.Layers[n.name()] = layers
		default:
			facts.Balances[n.name()] = r.Balances(w, d.Organisation, n.Keys)
		}
	}
}

// summed is the register whose balance is the sum of the layers.
func (b *Books) summed(layered *register.Register) *register.Register {
	if sum := b.registers[layered.Meta().SumIn]; sum != nil {
		return sum
	}
	return layered
}

// sets are the record sets of a document by register, none missing.
type sets struct {
	records   map[string]*information.Records
	movements map[string]*register.Movements
	entries   map[string]*ledger.Entries
}

func (b *Books) sets(records *Records) sets {
	s := sets{map[string]*information.Records{}, map[string]*register.Movements{}, map[string]*ledger.Entries{}}
	for _, r := range records.Information {
		s.records[r.Register] = r
	}
	for _, m := range records.Movements {
		s.movements[m.Register] = m
	}
	for _, e := range records.Entries {
		s.entries[e.Ledger] = e
	}
	return s
}

// write changes a document's record sets from was to the new ones. All documents go through the registers in one order:
// information registers first, since waiting for another transaction there must not block totals; ledgers last, because
// everybody shares their totals, so that those rows are locked for the shortest time.
func (b *Books) write(w *database.Work, d *document.Document, was time.Time, before, after sets) {
	for _, name := range b.order {
		if !before.has(name) && !after.has(name) {
			continue // a document moves few of the registers
		}
		if known := b.known[name]; known != nil {
			known.Replace(w, d.Recorder(), was, before.recordsOf(known), after.recordsOf(known))
			continue
		}
		if r := b.registers[name]; r != nil {
			r.Replace(w, d.Recorder(), was, orNone(before.movements[name], r), orNone(after.movements[name], r))
			continue
		}
		b.ledgers[name].Replace(w, d.Recorder(), was, before.entriesOf(name), after.entriesOf(name))
	}
}

func orNone(m *register.Movements, r *register.Register) *register.Movements {
	if m == nil {
		return register.NewMovements(r.Meta(), 0)
	}
	return m
}

func (s sets) entriesOf(ledgerName string) *ledger.Entries {
	if e := s.entries[ledgerName]; e != nil {
		return e
	}
	return &ledger.Entries{}
}
