package fill

import (
	"math/rand/v2"
	"strconv"
	"time"

	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/id"
	"plimsoll/platform/model/metadata"
)

// element is a catalog element while it is generated, field by field. One value is reused for all: there are millions
// of elements, and none is kept.
type element struct {
	fields []field
	chars  []byte // of all texts
	source rand.PCG
	words  words
}

// field of an element; its type decides which value is used.
type field struct {
	kind     metadata.Type
	ref      id.ID
	number   int64 // of a moment the microseconds
	from, to int   // of a text
}

func newElement() *element {
	e := &element{}
	e.words.Rand = rand.New(&e.source)
	return e
}

// begin resets the element for the next one.
func (e *element) begin() { e.fields, e.chars = e.fields[:0], e.chars[:0] }

// seeded returns the random words of the n-th element of a catalog.
func (e *element) seeded(b *base, catalog, n int) words {
	e.source = *b.source(ofElement, catalog, n)
	return e.words
}

func (e *element) add(kind metadata.Type, number int64) *element {
	e.fields = append(e.fields, field{kind: kind, number: number})
	return e
}

func (e *element) ref(v id.ID) *element {
	e.fields = append(e.fields, field{kind: metadata.Reference, ref: v})
	return e
}

func (e *element) money(v amount.Money) *element       { return e.add(metadata.Money, int64(v)) }
func (e *element) quantity(v amount.Quantity) *element { return e.add(metadata.Quantity, int64(v)) }
func (e *element) integer(v int) *element              { return e.add(metadata.Integer, int64(v)) }
func (e *element) moment(v time.Time) *element         { return e.add(metadata.Moment, v.UnixMicro()) }

func (e *element) flag(v bool) *element {
	if v {
		return e.add(metadata.Boolean, 1)
	}
	return e.add(metadata.Boolean, 0)
}

// text concatenates parts.
func (e *element) text(parts ...string) *element {
	from := len(e.chars)
	for _, p := range parts {
		e.chars = append(e.chars, p...)
	}
	return e.written(from)
}

// written returns the text from a position on.
func (e *element) written(from int) *element {
	e.fields = append(e.fields, field{kind: metadata.Text, from: from, to: len(e.chars)})
	return e
}

// code is a prefix and a number with at least so many digits.
func (e *element) code(prefix string, digits, n int) *element {
	from := len(e.chars)
	e.chars = append(e.chars, prefix...)
	for least := 10; digits > 1; digits, least = digits-1, least*10 {
		if n < least {
			e.chars = append(e.chars, '0')
		}
	}
	e.chars = strconv.AppendInt(e.chars, int64(n), 10)
	return e.written(from)
}

// digits at random.
func (e *element) digits(w words, n int) *element {
	from := len(e.chars)
	e.chars = w.appendDigits(e.chars, n)
	return e.written(from)
}

func (e *element) person(w words) *element {
	return e.text(w.choose(surnames), " ", w.choose(names), " ", w.choose(patronymics))
}

// row encodes the element.
func (t *table) row(e *element) {
	for i := range e.fields {
		switch f := &e.fields[i]; f.kind {
		case metadata.Reference:
			t.uuid(f.ref)
		case metadata.Quantity:
			t.numeric(f.number, 3)
		case metadata.Money:
			t.numeric(f.number, 2)
		case metadata.Integer:
			t.bigint(f.number)
		case metadata.Boolean:
			t.boolean(f.number != 0)
		case metadata.Moment:
			t.bigint(f.number - epoch)
		default:
			t.chars(e.chars[f.from:f.to])
		}
	}
}

// keep stores the element in the form that rules read.
func (e *element) keep(in *rowset.Table) {
	row := in.Grow(1)
	for i := range e.fields {
		switch f := &e.fields[i]; f.kind {
		case metadata.Reference:
			rowset.ColumnAt[id.ID](in, i)[row] = f.ref
		case metadata.Text:
			rowset.ColumnAt[string](in, i)[row] = string(e.chars[f.from:f.to])
		case metadata.Integer:
			rowset.ColumnAt[int64](in, i)[row] = f.number
		case metadata.Boolean:
			rowset.ColumnAt[bool](in, i)[row] = f.number != 0
		case metadata.Moment:
			rowset.ColumnAt[time.Time](in, i)[row] = time.UnixMicro(f.number).UTC()
		default:
			put(in.Cell(i, row), f.number)
		}
	}
}
