package posting

import (
	"plimsoll/platform/books/document"
	"plimsoll/platform/books/ledger"
	"plimsoll/platform/books/register"
	"plimsoll/platform/data/database"
)

// writers gather the changes of many documents with their record sets.
type writers struct {
	documents map[string]*document.Rewriter
	registers map[string]*register.Rewriter
	ledgers   map[string]*ledger.Rewriter
	books     *Books
}

func (b *Books) writers() *writers {
	return &writers{map[string]*document.Rewriter{}, map[string]*register.Rewriter{}, map[string]*ledger.Rewriter{}, b}
}

// replace buffers what Books.write sends immediately. Whole record sets are removed and added again, also where nothing
// differs.
func (x *writers) replace(p *posted, d *document.Document, after sets, whole bool) {
	name, recorder := p.kind.meta.Name, d.Recorder()
	if x.documents[name] == nil {
		x.documents[name] = p.kind.store.Rewriter()
	}
	x.documents[name].Change(p.held, d)
	for _, name := range p.kind.meta.Recorded() {
		if x.books.known[name] != nil {
			continue // information registers have neither costs nor totals
		}
		if r := x.books.registers[name]; r != nil {
			to, none := x.register(name, r), orNone(nil, r)
			if whole {
				to.Replace(recorder, recorder.Period, p.before.movements[name], none)
				to.Replace(recorder, recorder.Period, none, orNone(after.movements[name], r))
			} else {
				to.Replace(recorder, recorder.Period, p.before.movements[name], orNone(after.movements[name], r))
			}
			continue
		}
		to, none := x.ledger(name), &ledger.Entries{}
		if whole {
			to.Replace(recorder, recorder.Period, p.before.entriesOf(name), none)
			to.Replace(recorder, recorder.Period, none, after.entriesOf(name))
		} else {
			to.Replace(recorder, recorder.Period, p.before.entriesOf(name), after.entriesOf(name))
		}
	}
}

func (x *writers) register(name string, r *register.Register) *register.Rewriter {
	if x.registers[name] == nil {
		x.registers[name] = r.Rewriter()
	}
	return x.registers[name]
}

func (x *writers) ledger(name string) *ledger.Rewriter {
	if x.ledgers[name] == nil {
		x.ledgers[name] = x.books.ledgers[name].Rewriter()
	}
	return x.ledgers[name]
}

// write queues what was gathered except totals, so many rows per statement (0: all). It returns how many documents
// differ and how many rows are written.
func (x *writers) write(w *database.Work, most int) (changed, rows int64) {
	for _, name := range sortedKeys(x.documents) {
		changed += int64(x.documents[name].Documents())
		x.documents[name].Write(w)
	}
	for _, name := range x.books.order {
		if r := x.registers[name]; r != nil {
			rows += int64(r.Movements())
			r.Write(w, most)
		}
		if l := x.ledgers[name]; l != nil {
			rows += int64(l.Entries())
			l.Write(w)
		}
	}
	return changed, rows
}

// totals queues the changes of totals in the order that everybody uses: ledgers, which all share, last.
func (x *writers) totals(w *database.Work) {
	x.registerTotals(w)
	for _, name := range x.books.order {
		if l := x.ledgers[name]; l != nil {
			l.WriteTotals(w)
		}
	}
}

// registerTotals are those of keys that only this restoration uses.
func (x *writers) registerTotals(w *database.Work) {
	for _, name := range x.books.order {
		if r := x.registers[name]; r != nil {
			r.WriteTotals(w)
		}
	}
}
