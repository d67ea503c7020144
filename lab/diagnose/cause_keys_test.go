package diagnose

import (
	"testing"

	"plimsoll/ground/postgres/counters"
	"plimsoll/lab/diagnose/plan"
	"plimsoll/lab/diagnose/statement"
)

// Keys that are random by the catalogs or by the statement are named where its rows put whole pages into the log. Not
// where keys are in order, where the pages are others' or already there, or where another index may be the reason.
func TestKeys_ThatAreRandom(t *testing.T) {
	const insert = "INSERT INTO tokens (id, n) VALUES ($1, $2)"
	const made = "INSERT INTO tokens SELECT gen_random_uuid(), n FROM generate_series($1, $2) n"
	key := plan.Index{Name: "tokens_pkey", First: "id", Columns: []string{"id"}, Unique: true, Valid: true,
		Method: "btree"}
	other := plan.Index{Name: "tokens_owner", First: "owner", Columns: []string{"owner"}, Valid: true, Method: "btree"}
	table := func(kind, value string, indexes ...plan.Index) *plan.Table {
		return &plan.Table{Name: "public.tokens", Plain: "tokens", Indexes: indexes, Columns: []plan.Column{
			{Name: "id", Type: kind, Default: value}, {Name: "n", Type: "integer"}, {Name: "owner", Type: "uuid"}}}
	}
	log := func(images, bytes, rows, updated float64) figures {
		return figures{counters.WAL: {"all": {"wal_fpi": images, "wal_bytes": bytes}}, counters.Tables: {
			"public.tokens": {"n_tup_ins": rows}, "public.stock": {"n_tup_upd": updated}}}
	}
	m := func(text string, t *plan.Table, images *float64, grown figures) *measured {
		l := called(text, 800, 0.2, func(l *statement.Account) { l.Tables = []string{"public.tokens"} })
		if images != nil {
			l.PerCall.Rows, l.PerCall.Images = new(4.0), images
		}
		return plant(together(counts(nil, l), knows(t)), grown, active(9, "", "SELECT * FROM t WHERE id = 1"))
	}
	full := log(2000, 20e6, 3200, 100)
	for _, c := range []judged{
		{"DefaultIsRandom", scatteredKeys.name, "tokens_pkey", Problem,
			m(insert, table("uuid", "gen_random_uuid()", key, other), new(2.0), full)},
		{"StatementMakesThem", scatteredKeys.name, "tokens_pkey", Problem,
			m(made, table("uuid", "", key), new(2.0), full)},
		{"ProgramMakesThem", scatteredKeys.name, "tokens_pkey", Problem,
			m(insert, table("uuid", "", key), new(2.0), full)},
		{"NotCountedByStatement", scatteredKeys.name, "tokens_pkey", Problem,
			m(insert, table("uuid", "", key), nil, full)},
		{"APartOfTheLog", scatteredKeys.name, "", "",
			m(insert, table("uuid", "", key), new(2.0), log(2000, 40e6, 3200, 100))},
		{"InTheOrderOfTime", scatteredKeys.name, "", "", m(insert, table("uuid", "uuidv7()", key), new(2.0), full)},
		{"Numbers", scatteredKeys.name, "", "", m(insert, table("bigint", "", key), new(2.0), full)},
		{"AnotherIndexMayScatter", scatteredKeys.name, "", "",
			m(insert, table("uuid", "", key, other), new(2.0), full)},
		{"ItsPagesAreInTheLog", scatteredKeys.name, "", "", m(insert, table("uuid", "", key), new(0.01), full)},
		{"OthersWriteMore", scatteredKeys.name, "", "",
			m(insert, table("uuid", "", key), nil, log(2000, 20e6, 3200, 9000))},
		{"HardlyAnyLog", scatteredKeys.name, "", "", m(insert, table("uuid", "", key), nil, log(150, 1.3e6, 300, 0))},
	} {
		t.Run(c.name, func(t *testing.T) { c.check(t) })
	}
}
