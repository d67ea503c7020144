package condition

import (
	"strings"
	"testing"
)

func TestColumns(t *testing.T) {
	columns := []string{"id", "customer", "day"}
	for sql, want := range map[string]string{
		"SELECT * FROM orders WHERE customer = ?":                                  "customer",
		"SELECT * FROM orders WHERE lower(customer) = ?":                           "",
		"SELECT 1 FROM orders WHERE id = 1 AND (customer = 1 or day > 2)":          "id",
		"SELECT * FROM lines l JOIN public.orders AS o USING (id) WHERE o.day = ?": "day",
		"SELECT * FROM orders_old WHERE customer = ?":                              "",
	} {
		if got := strings.Join(Columns(sql, "orders", columns, Equals), " "); got != want {
			t.Errorf("%s: %q, want %q", sql, got, want)
		}
	}
	for sql, want := range map[string]string{
		"SELECT * FROM orders WHERE lower(customer) = ?":        "customer",
		"SELECT * FROM orders WHERE customer::text = ?":         "customer",
		"SELECT * FROM orders o, lines l WHERE date(o.day) = ?": "day",
		"SELECT * FROM orders WHERE customer = ?":               "",
	} {
		if got := strings.Join(Columns(sql, "orders", columns, Wrapped), " "); got != want {
			t.Errorf("wrapped in %s: %q, want %q", sql, got, want)
		}
	}
}

func TestCovering(t *testing.T) {
	all := []Index{{Name: "partial", First: "customer", Valid: true, Partial: true},
		{Name: "broken", First: "customer"}, {Name: "expression", Valid: true},
		{Name: "whole", First: "day", Valid: true}}
	for key, want := range map[string]string{"customer": "", "day": "whole", "": ""} {
		got := ""
		if i := Covering([]string{key}, all); i != nil {
			got = i.Name
		}
		if got != want {
			t.Errorf("%q is served by %q, want %q", key, got, want)
		}
	}
}
