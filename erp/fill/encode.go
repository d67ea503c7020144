package fill

import (
	"encoding/binary"
	"fmt"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"

	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/id"
	"plimsoll/platform/model/metadata"
)

// Header and trailer of COPY's binary format.
var (
	copyHeader  = []byte("PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00")
	copyTrailer = []byte{0xff, 0xff}
)

// table collects rows for one table in COPY's binary format.
type table struct {
	name    string
	copy    string // the statement
	columns int
	salt    uint64
	full    [][]byte // chunks
	data    []byte   // the chunk in work
	size    int      // of the full ones
	rows    int64
}

// chunkSize is the size from which a chunk is full; a row is never divided.
const chunkSize = 64 << 10

// chunks that were sent, for reuse.
var chunks sync.Pool

// fresh returns an empty chunk with room for its frame.
func fresh() []byte {
	if b, ok := chunks.Get().(*[]byte); ok {
		return (*b)[:frame]
	}
	b := make([]byte, frame, chunkSize+chunkSize/8)
	b[0] = copyData
	return b
}

// recycle returns a chunk for reuse.
func (t *table) recycle() {
	for i := range t.full {
		chunks.Put(&t.full[i])
	}
}

// Tally counts what a unit wrote. Its digest is a sum over rows and does not depend on their order, so it can be
// computed from the database too.
type Tally struct {
	Documents int64
	Rows      int64
	Bytes     int64
	Digest    uint64
}

func (t *Tally) add(other Tally) {
	t.Documents, t.Rows, t.Bytes, t.Digest = t.Documents+other.Documents, t.Rows+other.Rows, t.Bytes+other.Bytes,
		t.Digest+other.Digest
}

// row adds one row in its encoded form.
func (t *Tally) row(salt uint64, row []byte) {
	t.Rows++
	t.Bytes += int64(len(row))
	t.Digest += mix(xxhash.Sum64(row), salt)
}

func saltOf(table string) uint64 { return xxhash.Sum64String(table) }

// begin starts a row; end finishes it and needs the returned position.
func (t *table) begin() (start int) {
	if t.data == nil {
		t.data = append(fresh(), copyHeader...)
	}
	start = len(t.data)
	t.data = binary.BigEndian.AppendUint16(t.data, uint16(t.columns))
	return start
}

func (t *table) end(start int, tally *Tally) {
	t.rows++
	tally.row(t.salt, t.data[start:])
	if len(t.data) >= chunkSize {
		t.full, t.size, t.data = append(t.full, t.data), t.size+len(t.data), fresh()
	}
}

func (t *table) uuid(v id.ID) { t.data = append(append(t.data, 0, 0, 0, 16), v[:]...) }

func (t *table) text(v string) {
	t.data = append(binary.BigEndian.AppendUint32(t.data, uint32(len(v))), v...)
}

func (t *table) chars(v []byte) {
	t.data = append(binary.BigEndian.AppendUint32(t.data, uint32(len(v))), v...)
}

func (t *table) integer(v int32) {
	t.data = binary.BigEndian.AppendUint32(append(t.data, 0, 0, 0, 4), uint32(v))
}

func (t *table) bigint(v int64) {
	t.data = binary.BigEndian.AppendUint64(append(t.data, 0, 0, 0, 8), uint64(v))
}

func (t *table) boolean(v bool) {
	one := byte(0)
	if v {
		one = 1
	}
	t.data = append(t.data, 0, 0, 0, 1, one)
}

// epoch of PostgreSQL in microseconds.
const epoch = 946_684_800_000_000

func (t *table) moment(v time.Time) { t.bigint(v.UnixMicro() - epoch) }

// bytes that are already encoded.
func (t *table) bytes(v []byte) { t.data = append(t.data, v...) }

// numeric encodes a number of units of 10^-digits as PostgreSQL does: groups of four decimal digits, without zero
// groups at either end.
func (t *table) numeric(v int64, digits int) {
	const header, groupsMax = 4 + 4*2, 6
	var text [header + 2*groupsMax]byte // from its end
	sign, u := uint16(0), uint64(v)
	if v < 0 {
		sign, u = 0x4000, -u
	}
	var fraction uint64
	if digits == 3 { // a quantity
		u, fraction = u/1000, u%1000*10
	} else {
		u, fraction = u/100, u%100*100
	}
	end, begin, weight := len(text), len(text), -1
	if fraction > 0 {
		begin -= 2
		binary.BigEndian.PutUint16(text[begin:], uint16(fraction))
	}
	for ; u > 0; u /= 10_000 {
		group := uint16(u % 10_000)
		weight++
		if group == 0 && begin == end {
			continue
		}
		begin -= 2
		binary.BigEndian.PutUint16(text[begin:], group)
	}
	groups := (end - begin) / 2
	if groups == 0 {
		weight = 0
	}
	begin -= header
	binary.BigEndian.PutUint32(text[begin:], uint32(end-begin-4))
	binary.BigEndian.PutUint16(text[begin+4:], uint16(groups))
	binary.BigEndian.PutUint16(text[begin+6:], uint16(weight))
	binary.BigEndian.PutUint16(text[begin+8:], sign)
	binary.BigEndian.PutUint16(text[begin+10:], uint16(digits))
	t.data = append(t.data, text[begin:]...)
}

// cell of a document's row or of a movement.
func (t *table) cell(source *rowset.Table, i, row int) {
	switch source.Attributes[i].Type {
	case metadata.Reference:
		t.uuid(rowset.ColumnAt[id.ID](source, i)[row])
	case metadata.Quantity:
		t.numeric(int64(rowset.ColumnAt[amount.Quantity](source, i)[row]), 3)
	case metadata.Money:
		t.numeric(int64(rowset.ColumnAt[amount.Money](source, i)[row]), 2)
	case metadata.Integer:
		t.bigint(rowset.ColumnAt[int64](source, i)[row])
	case metadata.Boolean:
		t.boolean(rowset.ColumnAt[bool](source, i)[row])
	case metadata.Moment:
		t.moment(rowset.ColumnAt[time.Time](source, i)[row])
	default:
		t.text(rowset.ColumnAt[string](source, i)[row])
	}
}

// value of a row of the platform's own tables.
func (t *table) value(v any) {
	switch v := v.(type) {
	case id.ID:
		t.uuid(v)
	case string:
		t.text(v)
	case int64:
		t.bigint(v)
	default:
		panic(fmt.Sprintf("fill: no column holds a %T", v))
	}
}
