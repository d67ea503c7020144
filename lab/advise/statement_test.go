package advise

import (
	"strings"
	"testing"
)

func TestEqualities(t *testing.T) {
	columns := []column{{Name: "id"}, {Name: "customer"}, {Name: "day"}}
	for sql, want := range map[string]string{
		"SELECT * FROM orders WHERE customer = $1":                                   "customer",
		"select sum(n) from public.orders o where o.customer = $1 and o.day=$2":      "customer day",
		`UPDATE "orders" SET customer = 3 WHERE id = 4`:                              "id",
		"SELECT * FROM orders WHERE customer = other":                                "",
		"SELECT * FROM orders WHERE customer > $1":                                   "",
		"SELECT * FROM orders WHERE old_customer = $1":                               "",
		"SELECT * FROM orders_old WHERE customer = $1":                               "",
		"SELECT * FROM orders JOIN lines USING (id) WHERE customer = $1":             "",
		"SELECT * FROM orders":                                                       "",
		"DELETE FROM orders WHERE customer = ANY($1)":                                "customer",
		"SELECT 1 FROM orders WHERE (customer = 'x') AND day IN (SELECT day FROM d)": "customer",
	} {
		var got []string
		for _, c := range equalities(sql, "orders", columns) {
			got = append(got, c.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", sql, got, want)
		}
	}
}

func TestShort_HoldsNoValues(t *testing.T) {
	if got := short("SELECT 'it''s  secret', 42\n FROM t1"); got != "SELECT ?, ? FROM t1" {
		t.Errorf("%q", got)
	}
}

func TestLiterals_QuoteEachOfAList(t *testing.T) {
	if got := literals("shared_preload_libraries", `a, "b"`); got != "'a', 'b'" {
		t.Errorf("%s", got)
	}
	if got := literals("work_mem", "it's"); got != "'it''s'" {
		t.Errorf("%s", got)
	}
}
