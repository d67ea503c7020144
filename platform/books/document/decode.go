package document

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/id"
	"plimsoll/platform/model/metadata"
)

// Limits of a request's content.
const (
	commentMax = 1000
	// FutureMax is how far ahead of the worker's clock a document may be dated.
	FutureMax = 24 * time.Hour
)

// Earliest is the first moment that a document may be dated.
var Earliest = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// Invalid is a mistake in a request, explained to the client.
type Invalid struct{ Field, Reason string }

func (e *Invalid) Error() string { return e.Field + ": " + e.Reason }

type fields map[string]json.RawMessage

// SettableAttributes are the attributes that a request may set, including those that every document has.
func SettableAttributes(meta *metadata.Document) []metadata.Attribute {
	return append([]metadata.Attribute{{Name: "date", Type: metadata.Moment},
		{Name: "comment", Type: metadata.Text, Length: commentMax}}, meta.Attributes...)
}

// Decode reads a document of a type from JSON: its attributes by name, "comment", "date"
// (RFC 3339, defaults to now) and each section as an array of objects. What the metadata does not know is refused.
func Decode(meta *metadata.Document, body []byte, now time.Time) (*Document, error) {
	d, err := DecodeChange(meta, body, now)
	if err == nil && d.Date.IsZero() {
		d.Date = now.UTC().Truncate(time.Microsecond)
	}
	return d, err
}

// DecodeChange reads a changed document, complete. Without a date it keeps its date; the field is then zero.
func DecodeChange(meta *metadata.Document, body []byte, now time.Time) (*Document, error) {
	if !utf8.Valid(body) {
		return nil, &Invalid{"body", "not UTF-8"}
	}
	given, err := object(body)
	if err != nil {
		return nil, &Invalid{"body", err.Error()}
	}
	d := New(meta)
	if err := d.decodeOwn(given, now); err != nil {
		return nil, err
	}
	for i := range meta.Sections {
		s := &meta.Sections[i]
		if err := decodeSection(d.Sections[i], s, given[s.Name]); err != nil {
			return nil, err
		}
		delete(given, s.Name)
	}
	return d, decodeRow(d.Header, 0, given, "")
}

func object(text []byte) (given fields, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	if err := decoder.Decode(&given); err != nil {
		return nil, fmt.Errorf("not a valid JSON object")
	}
	if _, err := decoder.Token(); err != io.EOF || given == nil {
		return nil, fmt.Errorf("more than one JSON value")
	}
	return given, nil
}

func (d *Document) decodeOwn(given fields, now time.Time) error {
	if text, ok := given["date"]; ok {
		if json.Unmarshal(text, &d.Date) != nil || d.Date.Before(Earliest) || d.Date.After(now.Add(FutureMax)) {
			return &Invalid{"date", "an RFC 3339 time from 2000 to tomorrow is expected"}
		}
		d.Date = d.Date.UTC().Truncate(time.Microsecond) // what the database keeps
	}
	if text, ok := given["comment"]; ok {
		if err := decodeText(text, &d.Comment, commentMax); err != nil {
			return &Invalid{"comment", err.Error()}
		}
	}
	delete(given, "date")
	delete(given, "comment")
	return nil
}

func decodeSection(t *rowset.Table, s *metadata.Section, text json.RawMessage) error {
	var rows []fields
	if text != nil && json.Unmarshal(text, &rows) != nil {
		return &Invalid{s.Name, "an array of objects is expected"}
	}
	if len(rows) < s.MinRows || len(rows) > s.MaxRows {
		return &Invalid{s.Name, fmt.Sprintf("%d rows given, %d to %d expected", len(rows), s.MinRows, s.MaxRows)}
	}
	t.Grow(len(rows))
	for i, row := range rows {
		if err := decodeRow(t, i, row, fmt.Sprintf("%s[%d].", s.Name, i)); err != nil {
			return err
		}
	}
	return nil
}

func decodeRow(t *rowset.Table, row int, given fields, path string) error {
	for i, a := range t.Attributes {
		text, ok := given[a.Name]
		if ok && !a.Computed {
			if err := decodeValue(text, t.Cell(i, row), a); err != nil {
				return &Invalid{path + a.Name, err.Error()}
			}
			delete(given, a.Name)
		}
		if a.Required && isZero(t.Value(i, row)) {
			return &Invalid{path + a.Name, "must be given"}
		}
	}
	for name := range given {
		return &Invalid{path + fmt.Sprintf("%.40q", name), "unknown"}
	}
	return nil
}

func decodeValue(text json.RawMessage, cell any, a metadata.Attribute) error {
	switch v := cell.(type) {
	case *string:
		return decodeText(text, v, a.Length)
	case *amount.Quantity:
		if json.Unmarshal(text, v) != nil || *v < 0 || *v > amount.QuantityMax {
			return fmt.Errorf("a decimal string from 0 to %s is expected", amount.QuantityMax)
		}
	case *amount.Money:
		if json.Unmarshal(text, v) != nil || *v < 0 || *v > amount.MoneyMax {
			return fmt.Errorf("a decimal string from 0 to %s is expected", amount.MoneyMax)
		}
	case *time.Time:
		if json.Unmarshal(text, v) != nil || v.Year() < 1 || v.Year() > 9999 {
			return fmt.Errorf("an RFC 3339 time is expected")
		}
		*v = v.UTC().Truncate(time.Microsecond)
	case *id.ID:
		if json.Unmarshal(text, v) != nil {
			return fmt.Errorf("an id is expected")
		}
	default:
		if json.Unmarshal(text, cell) != nil {
			return fmt.Errorf("%s is expected", map[metadata.Type]string{metadata.Integer: "a whole number",
				metadata.Boolean: "true or false"}[a.Type])
		}
	}
	return nil
}

func decodeText(text json.RawMessage, v *string, length int) error {
	if json.Unmarshal(text, v) != nil {
		return fmt.Errorf("a string is expected")
	}
	if utf8.RuneCountInString(*v) > length {
		return fmt.Errorf("longer than %d characters", length)
	}
	if strings.ContainsRune(*v, 0) { // PostgreSQL cannot store it
		return fmt.Errorf("contains a NUL character")
	}
	return nil
}

func isZero(value any) bool {
	switch v := value.(type) {
	case id.ID:
		return v.IsZero()
	case string:
		return v == ""
	case amount.Quantity:
		return v == 0
	case amount.Money:
		return v == 0
	case int64:
		return v == 0
	case time.Time:
		return v.IsZero()
	}
	return false
}
