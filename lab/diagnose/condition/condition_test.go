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
}

// Diagnosis and advice read a condition by the same words.
func TestOf(t *testing.T) {
	for text, want := range map[string]Use{
		"customer = $1":              {Operator: "=", Equal: true},
		"lower(customer) = ?":        {Function: "lower", Operator: "="},
		"o.customer::text = ?":       {Cast: "text", Operator: "="},
		"customer + 1 = ?":           {Sum: "+"},
		"customer = next_one(?)":     {Operator: "=", Against: "next_one"},
		"customer = (?)":             {Operator: "="},
		"o.customer IN (?, ?)":       {Operator: "in", Among: true},
		"customer = l.customer":      {Operator: "="},
		"\"customer\" LIKE ?":        {Operator: "like"},
		"customer = ? COLLATE \"C\"": {Operator: "=", Equal: true, Collate: "C"},
	} {
		if got, found := Of(text, "customer"); got != want || !found {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
	}
	if got, found := Of("customers = 1", "customer"); found {
		t.Errorf("%+v of another column", got)
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
