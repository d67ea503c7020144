package document_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"plimsoll/platform/books/document"
	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/id"
	"plimsoll/platform/model/metadata"
)

var event = &metadata.Document{
	Name: "event",
	Attributes: []metadata.Attribute{
		{Name: "thing", Type: metadata.Reference, Catalog: "things", Required: true},
		{Name: "note", Type: metadata.Text, Length: 5},
		{Name: "due", Type: metadata.Moment}, {Name: "urgent", Type: metadata.Boolean},
		{Name: "level", Type: metadata.Integer},
		{Name: "total", Type: metadata.Money, Computed: true},
	},
	Sections: []metadata.Section{{Name: "lines", MinRows: 1, MaxRows: 2, Attributes: []metadata.Attribute{
		{Name: "quantity", Type: metadata.Quantity, Required: true}, {Name: "price", Type: metadata.Money},
	}}},
}

const thing = "018bcfe5-687b-7fff-bfff-ffffffffffff"

var now = time.Date(2025, 6, 1, 12, 0, 0, 123456789, time.UTC)

func TestDecode(t *testing.T) {
	d, err := document.Decode(event, []byte(`{"thing":"`+thing+
		`","note":"пять!","due":"2025-01-02T03:04:05+03:00","urgent":true,"level":-7,
		"date":"2025-05-31T00:00:00Z","comment":"c",
		"lines":[{"quantity":"1.5","price":"2.5"},{"quantity":"0.001"}]}`), now)
	if err != nil {
		t.Fatal(err)
	}
	lines := d.Section("lines")
	if rowset.Column[id.ID](d.Header, "thing")[0].String() != thing ||
		rowset.Column[string](d.Header, "note")[0] != "пять!" || rowset.Column[int64](d.Header, "level")[0] != -7 ||
		!rowset.Column[bool](d.Header, "urgent")[0] ||
		!rowset.Column[time.Time](d.Header, "due")[0].Equal(time.Date(2025, 1, 2, 0, 4, 5, 0, time.UTC)) ||
		d.Comment != "c" || d.Date.Day() != 31 || lines.Rows() != 2 ||
		rowset.Column[amount.Quantity](lines, "quantity")[1] != 1 ||
		rowset.Column[amount.Money](lines, "price")[0] != 250 || rowset.Column[amount.Money](lines, "price")[1] != 0 {
		t.Errorf("got %+v", d)
	}
}

func TestDecodeDatesADocumentNowInWhatTheDatabaseKeeps(t *testing.T) {
	d, err := document.Decode(event, []byte(`{"thing":"`+thing+`","lines":[{"quantity":"1"}]}`), now)
	if err != nil || !d.Date.Equal(now.Truncate(time.Microsecond)) {
		t.Errorf("got %v, %v", d, err)
	}
}

func TestDecodeRefuses(t *testing.T) {
	line := `"lines":[{"quantity":"1"}]`
	head := `"thing":"` + thing + `"`
	for name, c := range map[string]struct{ body, field string }{
		"Nothing":             {``, "body"},
		"Null":                {`null`, "body"},
		"Array":               {`[]`, "body"},
		"TwoObjects":          {`{}{}`, "body"},
		"BrokenJSON":          {`{"thing":`, "body"},
		"NotUTF8":             {"{\"comment\":\"\xff\"}", "body"},
		"MissingReference":    {`{` + line + `}`, "thing"},
		"EmptyReference":      {`{"thing":"00000000-0000-0000-0000-000000000000",` + line + `}`, "thing"},
		"NoReference":         {`{"thing":5,` + line + `}`, "thing"},
		"UnknownField":        {`{` + head + `,"x":1,` + line + `}`, `"x"`},
		"UnknownFieldInALine": {`{` + head + `,"lines":[{"quantity":"1","x":1}]}`, `lines[0]."x"`},
		"ComputedField":       {`{` + head + `,"total":"1",` + line + `}`, `"total"`},
		"LongText":            {`{` + head + `,"note":"шесть!",` + line + `}`, "note"},
		"ZeroCharacter":       {`{` + head + `,"comment":"a\u0000b",` + line + `}`, "comment"},
		"LongComment":         {`{` + head + `,"comment":"` + strings.Repeat("x", 1001) + `",` + line + `}`, "comment"},
		"NoLines":             {`{` + head + `}`, "lines"},
		"TooManyLines":        {`{` + head + `,"lines":[{"quantity":"1"},{"quantity":"1"},{"quantity":"1"}]}`, "lines"},
		"LinesOfNoObjects":    {`{` + head + `,"lines":[1]}`, "lines"},
		"NullLine":            {`{` + head + `,"lines":[null]}`, "lines[0].quantity"},
		"ZeroQuantity":        {`{` + head + `,"lines":[{"quantity":"0"}]}`, "lines[0].quantity"},
		"NegativeQuantity":    {`{` + head + `,"lines":[{"quantity":"-1"}]}`, "lines[0].quantity"},
		"NumberAsQuantity":    {`{` + head + `,"lines":[{"quantity":1}]}`, "lines[0].quantity"},
		"HugeQuantity":        {`{` + head + `,"lines":[{"quantity":"99999999999"}]}`, "lines[0].quantity"},
		"FineQuantity":        {`{` + head + `,"lines":[{"quantity":"0.0001"}]}`, "lines[0].quantity"},
		"NegativePrice":       {`{` + head + `,"lines":[{"quantity":"1","price":"-0.01"}]}`, "lines[0].price"},
		"FarFuture":           {`{` + head + `,"date":"2025-06-03T00:00:00Z",` + line + `}`, "date"},
		"FarPast":             {`{` + head + `,"date":"1999-06-03T00:00:00Z",` + line + `}`, "date"},
		"DateOfNoTime":        {`{` + head + `,"date":"yesterday",` + line + `}`, "date"},
		"FractionAsInteger":   {`{` + head + `,"level":1.5,` + line + `}`, "level"},
		"HugeInteger":         {`{` + head + `,"level":99999999999999999999,` + line + `}`, "level"},
		"TextAsBoolean":       {`{` + head + `,"urgent":"yes",` + line + `}`, "urgent"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := document.Decode(event, []byte(c.body), now)
			var invalid *document.Invalid
			if !errors.As(err, &invalid) || invalid.Field != c.field {
				t.Errorf("got %v, want a complaint about %s", err, c.field)
			}
		})
	}
}

// What was decoded is within the limits of the metadata, and anything else is an Invalid.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"thing":"` + thing + `","note":"n","due":"2025-01-02T03:04:05Z","urgent":true,` +
		`"level":1,"lines":[{"quantity":"1.5","price":"2.5"}]}`))
	f.Add([]byte(`{"lines":[null,{}],"date":"0000-01-01T00:00:00Z"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		d, err := document.Decode(event, body, now)
		var invalid *document.Invalid
		if err != nil {
			if !errors.As(err, &invalid) || !json.Valid(mustJSON(err.Error())) {
				t.Fatalf("not an Invalid: %v", err)
			}
			return
		}
		lines := d.Section("lines")
		if lines.Rows() < 1 || lines.Rows() > 2 || rowset.Column[id.ID](d.Header, "thing")[0].IsZero() {
			t.Fatalf("%q was taken", body)
		}
		for i, q := range rowset.Column[amount.Quantity](lines, "quantity") {
			if p := rowset.Column[amount.Money](lines, "price")[i]; q <= 0 || q > amount.QuantityMax || p < 0 ||
				p > amount.MoneyMax {
				t.Fatalf("%q: quantity %s, price %s", body, q, p)
			}
		}
		for _, text := range []string{d.Comment, rowset.Column[string](d.Header, "note")[0]} {
			if strings.ContainsRune(text, 0) || len([]rune(text)) > 1000 {
				t.Fatalf("%q: text %q", body, text)
			}
		}
		if out := d.Header.AppendJSON(nil); !json.Valid(out) {
			t.Fatalf("%q: shown as %s", body, out)
		}
	})
}

func mustJSON(s string) []byte { return rowset.AppendString(nil, s) }
