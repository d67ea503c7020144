package advise

import (
	"strings"
	"testing"
	"unicode/utf8"

	"plimsoll/ground/host/machine"
	"plimsoll/lab/diagnose/condition"
)

func TestEqualities(t *testing.T) {
	columns := []column{{Name: "id"}, {Name: "customer"}, {Name: "day"}}
	for sql, want := range map[string]string{
		"SELECT * FROM orders WHERE customer = $1":                                      "customer",
		"select sum(n) from public.orders o where o.customer = $1 and o.day=$2":         "customer day",
		`UPDATE "orders" SET customer = 3 WHERE id = 4`:                                 "id",
		"SELECT * FROM orders WHERE customer = other":                                   "",
		"SELECT * FROM orders WHERE customer > $1":                                      "",
		"SELECT * FROM orders WHERE old_customer = $1":                                  "",
		"SELECT * FROM orders_old WHERE customer = $1":                                  "",
		"SELECT * FROM orders JOIN lines USING (id) WHERE customer = $1":                "",
		"SELECT * FROM orders o LEFT JOIN lines l ON l.id = o.id WHERE o.customer = $?": "customer",
		"SELECT * FROM lines l JOIN public.orders AS o USING (id) WHERE o.day = ?":      "day",
		"SELECT * FROM orders JOIN lines ON true WHERE orders.day = 3":                  "day",
		"SELECT * FROM orders o JOIN lines l USING (id) WHERE l.customer = $1":          "",
		"SELECT 1 FROM a, orders o WHERE a.id = o.id AND o.day = '2026-01-01'":          "day",
		"SELECT day FROM orders WHERE day = 1 UNION SELECT 2":                           "",
		"SELECT * FROM orders":                                                                    "",
		"DELETE FROM orders WHERE customer = ANY($1)":                                             "customer",
		"SELECT 1 FROM orders WHERE (customer = 'x') AND day IN (SELECT day FROM d)":              "customer",
		"SELECT 1 FROM orders WHERE customer = 1 OR day = 2":                                      "",
		"SELECT 1 FROM orders WHERE id = 1 AND (customer = 1 or day > 2)":                         "id",
		"SELECT 1 FROM orders WHERE ((customer = 1) AND id > 2 OR day > 2) AND day = 2 AND f(id)": "day",
	} {
		var got []string
		for _, c := range compared(sql, "orders", columns, condition.Equals) {
			got = append(got, c.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", sql, got, want)
		}
	}
}

// An index is named only where statements run as often as the table is read whole, and where none serves them.
func TestWholeScans_NamesWhatIsMissing(t *testing.T) {
	orders := table{Schema: "public", Name: "orders", Scans: 12, Scanned: 120_000, Live: 10_000, Pages: 200}
	columns := []column{{Name: "id", Number: 1, Known: true, Sortable: true, Distinct: -1},
		{Name: "customer", Number: 2, Known: true, Sortable: true, Distinct: 500},
		{Name: "tenant", Number: 3, Known: true, Sortable: true, Distinct: 1, Commons: 1, Common: 1, Squares: 1},
		{Name: "state", Number: 4, Known: true, Sortable: true, Distinct: 5, Commons: 1, Common: 0.8, Squares: 0.64},
		{Name: "hidden", Number: 5, Sortable: true}, {Name: "point", Number: 6, Known: true, Distinct: -1},
		{Name: "text", Number: 7, Known: true, Sortable: true, Distinct: -1, Width: 900}}
	byID := index{Schema: "public", Name: "orders_pkey", Table: "orders", Keys: "1", Valid: true}
	for _, c := range []struct {
		query       string
		calls, rows float64
		want        string
	}{
		{"SELECT count(*) FROM orders WHERE customer = $1", 12, 12, "scan:public.orders(customer)"},
		{"SELECT count(*) FROM orders WHERE customer = $1", 3, 3, "scan:public.orders"},
		{"SELECT 1 FROM orders WHERE id IN (SELECT x FROM t) AND customer = $1", 12, 12, "scan:public.orders"},
		{"SELECT id FROM orders WHERE customer = $1", 12, 12 * 5000, "scan:public.orders"}, // half of the rows
		{"SELECT count(*) FROM orders WHERE tenant = $1", 12, 12, "scan:public.orders"},
		{"SELECT count(*) FROM orders WHERE state = $1", 12, 12, "scan:public.orders"},
		{"SELECT count(*) FROM orders WHERE tenant = $1 AND customer = $2", 12, 12, "scan:public.orders(customer)"},
		{"SELECT count(*) FROM orders WHERE state = $1 AND customer = $2", 12, 12,
			"scan:public.orders(customer,state)"},
		{"SELECT count(*) FROM orders WHERE hidden = $1", 12, 12, "scan:public.orders"},
		{"SELECT count(*) FROM orders WHERE point = $1", 12, 12, "scan:public.orders"},
		{"SELECT count(*) FROM orders WHERE text = $1", 12, 12, "scan:public.orders"},
	} {
		ran := []statement{{Query: c.query, Calls: c.calls, Mean: 2, Rows: c.rows}}
		a := (&server{}).wholeScans(orders, columns, []index{byID}, ran)
		if a.ID != c.want {
			t.Errorf("%s, %.0f times: %s, want %s", c.query, c.calls, a.ID, c.want)
		}
	}
}

func TestShort_HoldsNoValues(t *testing.T) {
	if got := short("SELECT 'it''s  secret', 42\n FROM t1"); got != "SELECT ?, ? FROM t1" {
		t.Errorf("shortened to %q, want it without values", got)
	}
	if got := short("SELECT $$it is secret$$, n, $a$ b $ secret $a$ FROM t"); got != "SELECT ?, n, ? FROM t" {
		t.Errorf("shortened to %q, want it without values", got)
	}
}

func TestIndexName(t *testing.T) {
	if got := indexName("orders", []string{"a", "b"}); got != "plimsoll_orders_a_b_idx" {
		t.Errorf("index name %s, want plimsoll_orders_a_b_idx", got)
	}
	table := strings.Repeat("ж", 31)
	one, other := indexName(table, []string{"a"}), indexName(table, []string{"b"})
	if one == other || len(one) > nameMost || !utf8.ValidString(one) {
		t.Errorf("%q and %q", one, other)
	}
}

func TestLiterals_QuoteEachOfAList(t *testing.T) {
	if got := literals("shared_preload_libraries", `a, "b"`); got != "'a', 'b'" {
		t.Errorf("literals %s, want each name quoted", got)
	}
	if got := literals("shared_preload_libraries", ""); got != "DEFAULT" {
		t.Errorf("a server that must load %s does not start", got)
	}
	if got := literals("work_mem", "it's"); got != "'it''s'" {
		t.Errorf("literal %s, want the quote doubled", got)
	}
}

// Each is advised on its own, and the last of several settings counts.
func TestLibraries_AreAddedToWhatIsThereAndToEachOther(t *testing.T) {
	s := &server{settings: map[string]setting{preloaded: {Setting: "old", Context: "postmaster"}}}
	all := s.notLoaded([]fileSetting{{Name: preloaded, Setting: "old, waits"}, {Name: "auto_explain.x", Line: 1},
		{Name: "plantuner.x", Line: 2}}, nil)
	if len(all) != 2 || all[0].Changes[0].Value != "old, waits,auto_explain" {
		t.Fatalf("libraries not loaded: %+v, want two, the first added to the list", all)
	}
	if got := all[1].Changes[0].Value; got != "old, waits,plantuner" {
		t.Errorf("list %s, want plantuner added to it", got)
	}
	if got := withLibrary(`a, "b"`, "b"); got != `a, "b"` {
		t.Errorf("list %s, want it unchanged", got)
	}
	if got := withLibrary("", "b"); got != "b" {
		t.Errorf("list %s, want b alone", got)
	}
}

// A quarter of the memory for one sort of each connection is the most, however quiet the server is at the look.
func TestWorkMem_IsBoundedByAllConnections(t *testing.T) {
	s := &server{host: &machine.Facts{MemoryBytes: 64 << 30}, settings: map[string]setting{
		"work_mem": {Setting: "4096", Unit: "kB"}, "max_connections": {Setting: "500"},
		"hash_mem_multiplier": {Setting: "2"}}}
	d := &databaseFigures{Spills: 1000, Spilled: 1000 << 30, Backends: 1}
	a := s.workMem(d)
	if a == nil || len(a.Changes) != 1 || a.Changes[0].Value != "32MB" {
		t.Errorf("advice %+v, want work_mem of 32MB", a)
	}
	s.settings["work_mem"] = setting{Setting: "32768", Unit: "kB"}
	if a := s.workMem(d); a == nil || a.Applicable() || a.Level != Note {
		t.Errorf("all that there is, and more is applied: %+v", a)
	}
}

func TestFewScans_PutsManyNotesIntoOne(t *testing.T) {
	var all []Advice
	for _, table := range []string{"a", "b", "c", "d", "e"} {
		all = append(all, Advice{ID: "scan:" + table, Level: Note, object: table})
	}
	all = append(all, Advice{ID: "scan:f(x)", Level: Problem, object: "f"})
	var ids []string
	for _, a := range fewScans(all) {
		ids = append(ids, a.ID+strings.Join(a.Evidence, ""))
	}
	if got := strings.Join(ids, " "); got != "scan:a scan:b scan:c scan:f(x) scansd, e" {
		t.Errorf("got %s", got)
	}
	if merged := fewScans(all)[4]; merged.isAbout(Cause{Title: "Statements read all of public.d"}) {
		t.Error("many tables take the price of one")
	}
	if few := fewScans(all[:3]); len(few) != 3 {
		t.Errorf("%d of 3 are left", len(few))
	}
}
