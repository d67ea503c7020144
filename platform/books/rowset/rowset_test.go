package rowset_test

import (
	"encoding/json"
	"testing"
	"time"

	"pgregory.net/rapid"

	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/id"
	"plimsoll/platform/model/metadata"
)

func TestRowsAreShownAsJSON(t *testing.T) {
	table := rowset.New([]metadata.Attribute{
		{Name: "ref", Type: metadata.Reference}, {Name: "text", Type: metadata.Text},
		{Name: "quantity", Type: metadata.Quantity}, {Name: "money", Type: metadata.Money},
		{Name: "number", Type: metadata.Integer}, {Name: "flag", Type: metadata.Boolean},
		{Name: "at", Type: metadata.Moment},
	}, 0)
	if got := string(table.AppendJSON(nil)); got != "[]" {
		t.Errorf("no rows: %s", got)
	}
	table.Grow(2)
	rowset.Column[id.ID](table, "ref")[1], rowset.Column[string](table, "text")[1] = id.At(time.UnixMilli(0), 0, 0),
		`a"б`
	rowset.Column[amount.Quantity](table, "quantity")[1], rowset.Column[amount.Money](table, "money")[1] = 1500, -5
	rowset.Column[int64](table, "number")[1], rowset.Column[bool](table, "flag")[1] = 7, true
	rowset.Column[time.Time](table, "at")[1] = time.Date(2025, 1, 2, 3, 4, 5, 6000, time.FixedZone("", 3600))
	const want = `{"ref":"00000000-0000-7000-8000-000000000000","text":"a\"б","quantity":"1.500",` +
		`"money":"-0.05","number":7,"flag":true,"at":"2025-01-02T02:04:05.000006Z"}`
	if got := string(table.AppendFields([]byte{'{'}, 1)) + "}"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	var rows []map[string]any
	if err := json.Unmarshal(table.AppendJSON(nil), &rows); err != nil || len(rows) != 2 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
}

func TestAnyStringBecomesTheSameJSONString(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		var back string
		if err := json.Unmarshal(rowset.AppendString(nil, s), &back); err != nil || back != s {
			t.Fatalf("%q became %q, %v", s, back, err)
		}
	})
}

func TestColumnPanicsOnAMistakeOfTheProgram(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a column that is not described was given")
		}
	}()
	rowset.Column[string](rowset.New(nil, 0), "none")
}

// A table that was released comes back empty, and to those alone who ask for its columns.
func TestAReleasedTableIsUsedAgain(t *testing.T) {
	attributes := []metadata.Attribute{{Name: "item", Type: metadata.Reference}, {Name: "line", Type: metadata.Integer},
		{Name: "name", Type: metadata.Text}}
	for range 100 { // a pool may lose what it was given
		one := rowset.New(attributes, 2)
		one.Append(id.New(), int64(7), "x")
		one.Append(id.New(), int64(8), "y")
		one.Release()
		if part := rowset.New(attributes[:2], 1); part == one || len(part.Attributes) != 2 {
			t.Fatal("a part of the attributes got all of them")
		}
		again := rowset.New(attributes, 1)
		if again.Rows() != 0 {
			t.Fatalf("%d rows are left", again.Rows())
		}
		again.Grow(3)
		for row := range 3 {
			if *again.Cell(0, row).(*id.ID) != (id.ID{}) || *again.Cell(1, row).(*int64) != 0 ||
				*again.Cell(2, row).(*string) != "" {
				t.Fatalf("row %d shows what was there before", row)
			}
		}
		if again == one {
			return
		}
	}
	t.Error("no table was used again")
}
