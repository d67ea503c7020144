package statement_test

import (
	"fmt"
	"strings"
	"testing"

	"plimsoll/platform/data/statement"
)

func ExampleSQL() {
	fmt.Println(statement.SQL("SELECT sum({resource}) FROM {totals} WHERE {key organisation} AND period < $1",
		statement.Names{"resource": "quantity", "totals": "acc_stock_totals"}))
	// Output: SELECT sum(quantity) FROM acc_stock_totals WHERE {key organisation} AND period < $1
}

func ExampleEach() {
	fmt.Println(statement.Each([]string{"quantity", "amount"}, "sum({name}) AS {name}", ", "))
	// Output: sum(quantity) AS quantity, sum(amount) AS amount
}

func ExampleTemplate() {
	keep := statement.Late("INSERT INTO {kept} SELECT * FROM {movements}", statement.Names{"movements": "acc_stock"},
		"kept")
	fmt.Println(keep.SQL("pl_temp_7"))
	// Output: INSERT INTO pl_temp_7 SELECT * FROM acc_stock
}

func TestMistakesPanic(t *testing.T) {
	for name, test := range map[string]struct {
		make func()
		says string
	}{
		"PlaceThatNothingFills": {func() { statement.SQL("SELECT {sums}", nil) }, "nothing fills {sums}"},
		"NameWithoutAPlace": {func() { statement.SQL("SELECT 1", statement.Names{"sums": "1"}) },
			"{sums} is not in"},
		"LateNameWithoutAPlace": {func() { statement.Late("SELECT 1", nil, "kept") }, "{kept} is not in"},
		"TooFewLateValues": {func() { statement.Late("SELECT * FROM {kept}", nil, "kept").SQL() },
			"0 values for [kept]"},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if message := fmt.Sprint(recover()); !strings.Contains(message, test.says) {
					t.Errorf("got %q, want …%s…", message, test.says)
				}
			}()
			test.make()
		})
	}
}

// A value is not looked through for places: it may be SQL of somebody else.
func TestAValueMayHaveBraces(t *testing.T) {
	if got := statement.SQL("{where}", statement.Names{"where": "{where}"}); got != "{where}" {
		t.Errorf("got %q", got)
	}
}
