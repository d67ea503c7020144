package rowset

import (
	"encoding/json"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/id"
)

// Scan adds the current row of a result; its columns are the attributes in order.
func (t *Table) Scan(rows pgx.Rows) error {
	return rows.Scan(t.Cells(t.Grow(1))...)
}

// AppendJSON appends all rows as an array of objects.
func (t *Table) AppendJSON(b []byte) []byte {
	b = append(b, '[')
	for row := range t.rows {
		if row > 0 {
			b = append(b, ',')
		}
		b = append(b, '{')
		b = append(t.AppendFields(b, row), '}')
	}
	return append(b, ']')
}

// AppendFields appends one row as the content of an object, without braces.
func (t *Table) AppendFields(b []byte, row int) []byte {
	for i := range t.Attributes {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), t.Attributes[i].Name...), '"', ':')
		b = appendCell(b, t.columns[i].cell(row))
	}
	return b
}

// appendCell takes a pointer, which is free to pass; a value would be copied to the heap first.
func appendCell(b []byte, cell any) []byte {
	switch v := cell.(type) {
	case *id.ID:
		return append(v.AppendText(append(b, '"')), '"')
	case *amount.Quantity:
		return append(v.AppendText(append(b, '"')), '"')
	case *amount.Money:
		return append(v.AppendText(append(b, '"')), '"')
	case *int64:
		return strconv.AppendInt(b, *v, 10)
	case *bool:
		return strconv.AppendBool(b, *v)
	case *time.Time:
		return append(v.UTC().AppendFormat(append(b, '"'), time.RFC3339Nano), '"')
	}
	return AppendString(b, *cell.(*string))
}

// AppendString appends a JSON string; nearly all need no escapes.
func AppendString(b []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < 0x20 || c == '"' || c == '\\' || c == 0x7f {
			return appendEscaped(b, s)
		}
	}
	if !utf8.ValidString(s) {
		return appendEscaped(b, s)
	}
	return append(append(append(b, '"'), s...), '"')
}

func appendEscaped(b []byte, s string) []byte {
	text, _ := json.Marshal(s) // a string always has a JSON form
	return append(b, text...)
}
