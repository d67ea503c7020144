package posting

import (
	"context"
	"strconv"
	"strings"

	"plimsoll/platform/books/register"
	"plimsoll/platform/data/database"
)

// Witness says which side of a contradiction between a document and its record sets was changed outside the rules.
type Witness string

const (
	Silent          Witness = ""          // it does not tell
	RecordsChanged  Witness = "rows"      // the record sets: what the rules make of the document is confirmed
	DocumentChanged Witness = "document"  // the document: its record sets are confirmed
	Undecided       Witness = "undecided" // the evidence is contradictory
)

// disputed are the stored rows that differ from what the rules make, by register and place; place 0 is a missing row.
func (e *Examined) disputed() map[version]bool {
	all := map[version]bool{}
	for _, d := range e.Recorded {
		name, place, _ := strings.Cut(d.Field, " ")
		place, _, _ = strings.Cut(place, ".")
		line, _ := strconv.Atoi(place)
		all[version{part: name, line: line}] = true
	}
	for _, row := range e.written {
		if !row.placed {
			all[version{part: row.part, line: row.line}] = true
		}
	}
	return all
}

// after says whether a transaction is later than another one; their numbers go in a circle.
func after(a, b int64) bool { return int32(uint32(a)-uint32(b)) > 0 }

// writes counts the rows of a document by the transactions that wrote them: the usual one, which wrote most rows, one
// before it, or one after it.
type writes struct {
	own, ownRewritten                      int // rows of header and sections; those not written as usual
	disputed, disputedUsual, disputedOlder int // stored rows that differ from what the rules make
	agreeing, agreeingOlder                int // other rows of record sets
	usual                                  int // all rows written as usual
}

// witnessWrites compares the numbers of the transactions that wrote the rows. If a document and all its lines were
// written outside the rules, most rows are of that transaction: then the record sets are the older ones.
func (e *Examined) witnessWrites() Witness {
	disputed := e.disputed()
	n := e.countWrites(disputed)
	switch {
	case len(disputed) == 0 || n.usual < 2:
		return Silent
	case n.ownRewritten == 0 && (n.disputedOlder > 0 || n.disputed == 0 && n.agreeingOlder > 0):
		return Silent
	case n.ownRewritten == 0 && n.disputedUsual == 0 && n.agreeing+n.own > 1:
		return RecordsChanged
	case n.ownRewritten > 0 && n.disputed > 0 && n.disputedUsual == n.disputed:
		return DocumentChanged
	}
	return Silent
}

func (e *Examined) countWrites(disputed map[version]bool) (n writes) {
	usual, rows := e.usualTransaction()
	n.usual = rows
	for _, row := range e.written {
		asUsual, older := row.number == usual, after(usual, row.number)
		switch {
		case !e.books.isRegister(row.part):
			n.own++
			n.ownRewritten += count(!asUsual)
		case disputed[version{part: row.part, line: row.line}]:
			n.disputed++
			n.disputedUsual += count(asUsual)
			n.disputedOlder += count(older)
		default:
			n.agreeing += count(asUsual)
			n.agreeingOlder += count(older)
		}
	}
	return n
}

func count(so bool) int {
	if so {
		return 1
	}
	return 0
}

// usualTransaction is the one that wrote most rows, and how many; of several, the one that wrote the header.
func (e *Examined) usualTransaction() (usual int64, rows int) {
	written, header := map[int64]int{}, int64(0)
	for _, row := range e.written {
		written[row.number]++
		if row.part == "" {
			header = row.number
		}
	}
	for _, row := range e.written {
		if written[row.number] > written[usual] || written[row.number] == written[usual] && row.number == header {
			usual = row.number
		}
	}
	return usual, written[usual]
}

// witnessTotals asks the totals of the document's month.
func (e *Examined) witnessTotals(ctx context.Context, w *database.Work) error {
	recorder := e.Document.Recorder()
	e.weighed = map[string]*register.Weighed{}
	for _, name := range e.kind.meta.Recorded() {
		if r := e.books.registers[name]; r != nil {
			e.weighed[name] = r.Weigh(w, recorder, orNone(e.before.movements[name], r),
				orNone(e.after.movements[name], r))
		} else if l := e.books.ledgers[name]; l != nil {
			e.weighed[name] = l.Weigh(w, recorder, e.before.entriesOf(name), e.after.entriesOf(name))
		}
	}
	if err := w.Flush(ctx); err != nil {
		return err
	}
	e.Totals = jointWitness(e.weighed)
	return nil
}

// jointWitness is what the totals of all registers say together.
func jointWitness(weighed map[string]*register.Weighed) Witness {
	keys, stored, made := 0, 0, 0
	for _, one := range weighed {
		keys, stored, made = keys+one.Keys, stored+one.Stored, made+one.Made
	}
	switch {
	case keys == 0:
	case made == keys:
		return RecordsChanged
	case stored == keys:
		return DocumentChanged
	case stored > 0 && made > 0:
		return Undecided
	}
	return Silent
}
