package onec

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
)

// ref is the key of an object: 16 bytes, as the platform's. Those of a table rise in the order in which its objects
// were made, as the platform's do within a server.
type ref [16]byte

// refMiddle stands where the platform's keys name the machine.
const refMiddle = 0x80c50050

// newRef of the n-th object of a table.
func newRef(table int, n uint64) (r ref) {
	binary.BigEndian.PutUint32(r[:], uint32(table))
	binary.BigEndian.PutUint32(r[4:], refMiddle)
	binary.BigEndian.PutUint64(r[8:], n)
	return r
}

// refSQL is newRef as an expression over the number of the object, also an expression.
func refSQL(table int, n string) string {
	return fmt.Sprintf("decode('%08x%08x' || lpad(to_hex((%s)::bigint), 16, '0'), 'hex')", table, refMiddle, n)
}

// tableRef is the type of references to a table.
func tableRef(table int) (r [4]byte) {
	binary.BigEndian.PutUint32(r[:], uint32(table))
	return r
}

// hexLiteral of bytes in a statement of ours.
func hexLiteral(b []byte) string { return fmt.Sprintf(`'\x%x'::bytea`, b) }

// hexEscaped are bytes in a statement that means the same whether backslashes escape or not.
func hexEscaped(b []byte) string { return fmt.Sprintf("decode('%x', 'hex')", b) }

// tableSQL is tableRef in a statement of ours.
func tableSQL(table int) string {
	r := tableRef(table)
	return hexLiteral(r[:])
}

// Types of composite values: the first byte.
const (
	isUndefined = 0x01
	isReference = 0x08
)

// typeSQL in a statement of ours.
func typeSQL(kind byte) string { return hexLiteral([]byte{kind}) }

// noRef is the empty reference.
var noRef ref

// octal is bytes as the platform writes them in its statements, with backslashes in literals of the old kind.
func octal(b []byte) string {
	var s strings.Builder
	s.WriteString("'")
	for _, one := range b {
		fmt.Fprintf(&s, `\\%03o`, one)
	}
	s.WriteString("'::bytea")
	return s.String()
}

func (r ref) sql() string { return octal(r[:]) }

// parseRef reads a key that the server has answered with.
func parseRef(text string) (r ref, err error) {
	b, err := hex.DecodeString(strings.TrimPrefix(text, `\x`))
	if err != nil || len(b) != len(r) {
		return r, fmt.Errorf("%q is no reference", text)
	}
	return ref(b), nil
}

// typeOf is the reference to a table in the platform's statements.
func typeOf(table int) string {
	r := tableRef(table)
	return octal(r[:])
}

// moment in the platform's statements.
func moment(t time.Time) string { return "'" + t.Format("2006-01-02 15:04:05") + "'::timestamp" }

// The history of a base begins here and lasts so many months. Documents of a load are of the last month.
var historyFrom = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)

const historyMonths = 12

// present is the period of the current totals.
var present = time.Date(3999, 11, 1, 0, 0, 0, 0, time.UTC)

// totalPeriods are the periods that totals are stored for: the first of each month, and the present.
func totalPeriods() (all []time.Time) {
	for month := range historyMonths {
		all = append(all, historyFrom.AddDate(0, month, 0))
	}
	return append(all, present)
}

// monthOf a moment, by its first.
func monthOf(t time.Time) time.Time { return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC) }

// lastMonth of the history.
func lastMonth() time.Time { return historyFrom.AddDate(0, historyMonths-1, 0) }
