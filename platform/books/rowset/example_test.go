package rowset_test

import (
	"fmt"
	"testing"

	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/id"
	"plimsoll/platform/model/metadata"
)

// Rows are kept by column. A column is read as a slice of its type, and travels to the server as one array.
func Example() {
	lines := rowset.New([]metadata.Attribute{
		{Name: "item", Type: metadata.Text}, {Name: "quantity", Type: metadata.Quantity},
		{Name: "amount", Type: metadata.Money},
	}, 2)
	lines.Append("nuts", amount.Quantity(1500), amount.Money(300))
	lines.Append("bolts", amount.Quantity(2000), amount.Money(500))

	var total amount.Money
	for _, sum := range rowset.Column[amount.Money](lines, "amount") {
		total += sum
	}
	fmt.Println("total", total)
	fmt.Println("SELECT * FROM unnest(" + rowset.Parameters(1, lines.Attributes) + ")")
	fmt.Println(string(lines.AppendJSON(nil)))
	// Output:
	// total 8.00
	// SELECT * FROM unnest($1::text[], $2::numeric[], $3::numeric[])
	// [{"item":"nuts","quantity":"1.500","amount":"3.00"},{"item":"bolts","quantity":"2.000","amount":"5.00"}]
}

// Rows that differ are told by their place in each table: what is to be taken away, and what is to be written.
func ExampleDifference() {
	attributes := []metadata.Attribute{{Name: "item", Type: metadata.Text}}
	before, after := rowset.New(attributes, 0), rowset.New(attributes, 0)
	for _, item := range []string{"nuts", "bolts"} {
		before.Append(item)
	}
	for _, item := range []string{"nuts", "screws", "nails"} {
		after.Append(item)
	}
	gone, come := rowset.Difference(before, after)
	fmt.Println(gone, come)
	// Output: [1] [1 2]
}

var movement = []metadata.Attribute{
	{Name: "warehouse", Type: metadata.Reference}, {Name: "item", Type: metadata.Reference},
	{Name: "quantity", Type: metadata.Quantity}, {Name: "amount", Type: metadata.Money},
}

// BenchmarkTable is a record set of twenty rows: made, filled, made into parameters, and released.
func BenchmarkTable(b *testing.B) {
	item := id.New()
	b.ReportAllocs()
	for b.Loop() {
		t := rowset.New(movement, 20)
		for range 20 {
			t.Append(item, item, amount.Quantity(1000), amount.Money(100))
		}
		t.Arrays(nil)
		t.Release()
	}
}

func BenchmarkDifference(b *testing.B) {
	one, other := rowset.New(movement, 20), rowset.New(movement, 20)
	for row := range 20 {
		one.Append(id.ID{}, id.ID{}, amount.Quantity(1000), amount.Money(100))
		other.Append(id.ID{}, id.ID{}, amount.Quantity(1000), amount.Money(row/19))
	}
	b.ReportAllocs()
	for b.Loop() {
		rowset.Difference(one, other)
	}
}
