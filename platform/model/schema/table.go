package schema

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/platform/data/statement"
	"plimsoll/platform/model/metadata"
)

// Table is the intended form of a table.
type Table struct {
	Name    string
	Columns []Column
	Key     []string
	Indexes []Index
	// Retired are the suffixes of indexes that a base of an earlier version has, and nothing needs.
	Retired []string
	// Generated columns are computed by the database from the expression in Default; nobody writes them.
	Generated []Column
	// Backfill is a statement that gives a base of an earlier version the values or rows that it lacks; it leaves
	// existing ones alone.
	Backfill string
	// Updated tables keep free space on each page, so that an update of a total stays on its page and touches no index.
	Updated bool
}

// Column is never NULL; Default is a literal, empty for columns that must be given.
type Column struct{ Name, Type, Default string }

// Index is named after its table and its Suffix; it covers the rows that meet its condition, or all.
type Index struct {
	Suffix  string
	Unique  bool
	Columns []string
	Where   string
}

// byDimensions is the suffix of the index of movements by dimensions and period.
const byDimensions = "dimensions"

// fillfactorUpdated leaves a third of each page free.
const fillfactorUpdated = 70

// Tables lists the application's tables, in the order of the description.
func Tables(app *metadata.Application) []Table {
	tables := platformTables()
	for i := range app.Catalogs {
		tables = append(tables, catalog(&app.Catalogs[i]))
	}
	for i := range app.Documents {
		tables = append(tables, document(&app.Documents[i])...)
	}
	for i := range app.Information {
		tables = append(tables, information(&app.Information[i]))
	}
	for i := range app.Accumulation {
		tables = append(tables, accumulation(&app.Accumulation[i])...)
	}
	for i := range app.Accounting {
		tables = append(tables, accounting(&app.Accounting[i])...)
	}
	return tables
}

// platformTables are the tables of the platform itself.
func platformTables() []Table {
	return []Table{
		{
			Name:    "plimsoll_number",
			Columns: []Column{{"organisation", "uuid", ""}, {"kind", "text", ""}, {"next", "bigint", ""}},
			Key:     []string{"organisation", "kind"}, Updated: true,
		},
		{
			Name: "plimsoll_operation",
			Columns: []Column{
				{"author", "uuid", ""}, {"key", "text", ""}, {"digest", "bytea", ""},
				{"organisation", "uuid", ""}, {"document_type", "text", ""}, {"document", "uuid", ""},
				{"made_at", "timestamptz", "now()"},
			},
			Key: []string{"author", "key"}, Indexes: []Index{{"made_at", false, []string{"made_at"}, ""}},
		},
		{
			Name:    "plimsoll_password", // of users, where workers ask for them
			Columns: []Column{{"owner", "uuid", ""}, {"hash", "text", ""}, {"set_at", "timestamptz", "now()"}},
			Key:     []string{"owner"},
		},
		{
			Name: "plimsoll_running", // long units of work, written by the watch of locks
			Columns: []Column{
				{"backend", "integer", ""}, {"started", "timestamptz", ""}, {"worker", "text", ""},
				{"operation", "text", ""},
				{"author", "text", ""}, {"organisation", "text", ""}, {"since", "timestamptz", ""},
			},
			Key: []string{"backend"}, Updated: true,
		},
		{
			Name: "plimsoll_clean_point", // the last audit that found nothing wrong
			Columns: []Column{
				{"written_by", "xid8", ""}, {"since", "xid8", ""}, {"made_at", "timestamptz", "now()"},
				{"system", "bigint", ""}, {"database", "bigint", ""}, {"digest", "text", ""},
			},
			Key: []string{"written_by"},
		},
		{
			Name: "plimsoll_clean_part", // rows of each table then, by bucket of documents and by month
			Columns: []Column{
				{"relation", "text", ""}, {"rows", "bigint", ""}, {"buckets", "integer[]", ""},
				{"organisations", "uuid[]", ""}, {"months", "date[]", ""}, {"cells", "bigint[]", ""},
			},
			Key: []string{"relation"},
		},
		{
			Name: "plimsoll_repair", // what repairs have done, each step written in its own transaction
			Columns: []Column{
				{"step", "bigint", ""}, {"run", "uuid", ""}, {"made_at", "timestamptz", "now()"}, {"class", "text", ""},
				{"object", "text", ""}, {"document", "uuid", ""}, {"changes", "jsonb", ""}, {"why", "text", ""},
				{"proof", "jsonb", ""},
			},
			Key: []string{"step"},
		},
		{
			Name: "plimsoll_group", // of objects changed over several transactions: how many are done
			Columns: []Column{
				{"id", "uuid", ""}, {"kind", "text", ""}, {"scope", "text", ""}, {"title", "text", ""},
				{"state", "text", ""}, {"done", "integer", ""}, {"planned", "integer", ""}, {"owner", "uuid", ""},
				{"why", "text", "''"}, {"begun_at", "timestamptz", "now()"}, {"changed_at", "timestamptz", "now()"},
				{"members", "jsonb", ""}, {"arguments", "jsonb", ""},
			},
			Key: []string{"id"}, Updated: true, Indexes: []Index{{Suffix: "unfinished", Unique: true,
				Columns: []string{"kind", "scope"}, Where: "state IN ('doing', 'undoing')"}},
		},
	}
}

func catalog(c *metadata.Catalog) Table {
	t := Table{Name: c.Table(), Columns: []Column{{"id", "uuid", ""}}, Key: []string{"id"}}
	byName := []string{"name", "id"}
	if !c.Shared {
		t.Columns = append(t.Columns, Column{"organisation", "uuid", ""})
		byName = append([]string{"organisation"}, byName...)
	}
	t.Columns = append(t.Columns, Column{"code", "text", ""}, Column{"name", "text", ""})
	t.Columns = append(t.Columns, columns(c.Attributes)...)
	t.Indexes = []Index{{"code", true, []string{"code"}, ""}, {"name", false, byName, ""}}
	for _, a := range c.Attributes {
		if a.Indexed {
			t.Indexes = append(t.Indexes, Index{a.Name, false, []string{a.Name}, ""})
		}
	}
	return t
}

func document(d *metadata.Document) []Table {
	header := Table{Name: d.Table(), Key: []string{"id"}, Columns: append([]Column{
		{"id", "uuid", ""}, {"organisation", "uuid", ""}, {"number", "text", ""}, {"date", "timestamptz", ""},
		{"posted", "boolean", ""}, {"author", "uuid", ""}, {"comment", "text", "''"}, {"version", "bigint", "1"},
	}, columns(d.Attributes)...)}
	header.Indexes = []Index{
		{"number", true, []string{"organisation", "number"}, ""},
		{"date", false, []string{"organisation", "date", "id"}, ""},
	}
	tables := []Table{header}
	for i := range d.Sections {
		tables = append(tables, Table{
			Name: d.SectionTable(&d.Sections[i]), Key: []string{"document", "line"},
			Columns: append([]Column{{"document", "uuid", ""}, {"line", "integer", ""}, {"organisation", "uuid", ""}},
				columns(d.Sections[i].Attributes)...),
		})
	}
	return tables
}

// recorded are the columns of every movement.
var recorded = []Column{
	{"recorder", "uuid", ""}, {"line", "integer", ""}, {"recorder_type", "text", ""},
	{"organisation", "uuid", ""}, {"period", "timestamptz", ""},
}

func information(r *metadata.Information) Table {
	t := Table{Name: r.Table(), Key: []string{"recorder", "line"},
		Columns: append(append([]Column{}, recorded...), columns(r.Fields())...)}
	key := append([]string{"organisation"}, metadata.Names(r.Dimensions)...)
	if r.Periodic {
		key = append(key, "period")
	}
	t.Indexes = []Index{{"key", true, key, ""}, {"period", false, []string{"organisation", "period"}, ""}}
	return t
}

func accumulation(r *metadata.Accumulation) []Table {
	dimensions := metadata.Names(r.Dimensions)
	movements := Table{Name: r.Table(), Key: []string{"recorder", "line"}}
	movements.Columns = append(append(append([]Column{}, recorded...), Column{"expense", "boolean", ""}),
		append(columns(r.Dimensions), columns(r.Resources)...)...)
	movements.Indexes = []Index{{"period", false, []string{"organisation", "period"}, ""}}
	if r.Layered || r.IndexMovements {
		movements.Indexes = append(movements.Indexes, Index{byDimensions, false,
			append(append([]string{"organisation"}, metadata.Names(r.Leading())...), "period"), ""})
	} else {
		movements.Retired = []string{byDimensions}
	}
	totals := Table{Name: r.Totals(), Updated: true,
		Key: append(append([]string{"organisation"}, dimensions...), "period")}
	totals.Columns = append([]Column{{"organisation", "uuid", ""}, {"period", "date", ""}},
		append(columns(r.Dimensions), columns(r.Resources)...)...)
	if r.IndexNonZero {
		opened(r, &totals, dimensions)
	}
	if !r.Layered {
		return []Table{movements, totals}
	}
	layers(r, &totals)
	boundary := Table{Name: r.Boundary(), Updated: true,
		Key: append([]string{"organisation"}, metadata.Names(r.Leading())...)}
	boundary.Columns = append(append([]Column{{"organisation", "uuid", ""}}, columns(r.Leading())...),
		Column{"moment", "timestamptz", ""})
	return []Table{movements, totals, boundary}
}

// layers adds to totals the open layers of a key in the order in which they are used up.
func layers(r *metadata.Accumulation, totals *Table) {
	n := len(r.Leading())
	document, line := r.Dimensions[n].Name, r.Dimensions[n+1].Name
	totals.Columns = append(totals.Columns, Column{metadata.BroughtAt, "timestamptz", "'-infinity'"})
	opened(r, totals, append(metadata.Names(r.Leading()), metadata.BroughtAt, document, line))
	totals.Backfill = statement.SQL(`UPDATE {totals} t SET {brought_at} = m.period FROM {movements} m
WHERE m.recorder = t.{document} AND m.line = t.{line} AND t.period = 'infinity' AND t.{brought_at} = '-infinity'`,
		statement.Names{
			"totals": r.Totals(), "brought_at": metadata.BroughtAt, "movements": r.Table(), "document": document,
			"line": line,
		})
}

// opened adds to totals whether they are current and not zero, and an index of those, in an order.
func opened(r *metadata.Accumulation, totals *Table, order []string) {
	var left []string
	for _, a := range r.Resources {
		left = append(left, a.Name+" <> 0")
	}
	totals.Generated = []Column{{metadata.Open, "boolean",
		fmt.Sprintf("period = 'infinity' AND (%s)", strings.Join(left, " OR "))}}
	totals.Indexes = []Index{{Suffix: "open", Columns: append([]string{"organisation"}, order...),
		Where: metadata.Open}}
}

func accounting(r *metadata.Accounting) []Table {
	entries := Table{Name: r.Table(), Key: []string{"recorder", "line"}}
	entries.Columns = append(append([]Column{}, recorded...),
		Column{"debit", "text", ""}, Column{"credit", "text", ""}, Column{"amount", "numeric(18,2)", ""})
	entries.Columns = append(append(entries.Columns, analytics("debit_")...), analytics("credit_")...)
	entries.Indexes = []Index{{"period", false, []string{"organisation", "period"}, ""}}
	turnovers := []Column{
		{"organisation", "uuid", ""}, {"account", "text", ""}, {"period", "date", ""}, {"split", "integer", ""},
		{"debit", "numeric(18,2)", "0"}, {"credit", "numeric(18,2)", "0"},
	}
	totals := Table{
		Name: r.Totals(), Updated: true, Key: []string{"organisation", "account", "analytic_1", "analytic_2",
			"analytic_3", "period", "split"},
		Columns: slices.Concat(turnovers, analytics("analytic_")),
	}
	accounts := Table{
		Name: r.AccountTotals(), Updated: true, Key: []string{"organisation", "account", "period", "split"},
		Columns: turnovers,
		Backfill: statement.SQL(`INSERT INTO {accounts} (organisation, account, period, split, debit, credit)
SELECT organisation, account, period, split, sum(debit), sum(credit) FROM {totals}
WHERE period < 'infinity' AND NOT EXISTS (SELECT FROM {accounts}) GROUP BY organisation, account, period, split`,
			statement.Names{"accounts": r.AccountTotals(), "totals": r.Totals()}),
	}
	return []Table{entries, totals, accounts}
}

// analytics of one side of an entry, or of a total; those that an account lacks stay empty.
func analytics(prefix string) (columns []Column) {
	empty := metadata.Attribute{Type: metadata.Reference}
	for n := range metadata.AnalyticsMax {
		columns = append(columns, Column{fmt.Sprintf("%s%d", prefix, n+1), empty.SQL(), empty.Zero()})
	}
	return columns
}

func columns(attributes []metadata.Attribute) []Column {
	result := make([]Column, len(attributes))
	for i, a := range attributes {
		result[i] = Column{a.Name, a.SQL(), a.Zero()}
	}
	return result
}

func (t Table) create() string {
	parts := make([]string, 0, len(t.Columns)+1)
	for _, c := range t.Columns {
		parts = append(parts, c.definition())
	}
	for _, c := range t.Generated {
		parts = append(parts, c.generated())
	}
	parts = append(parts, "PRIMARY KEY ("+strings.Join(t.Key, ", ")+")")
	statement := fmt.Sprintf("CREATE TABLE %s (\n\t%s\n)", t.Name, strings.Join(parts, ",\n\t"))
	if t.Updated {
		statement += fmt.Sprintf(" WITH (fillfactor = %d)", fillfactorUpdated)
	}
	return statement
}

func (c Column) definition() string {
	if c.Default == "" {
		return c.Name + " " + c.Type + " NOT NULL"
	}
	return c.Name + " " + c.Type + " NOT NULL DEFAULT " + c.Default
}

func (c Column) generated() string {
	return fmt.Sprintf("%s %s NOT NULL GENERATED ALWAYS AS (%s) STORED", c.Name, c.Type, c.Default)
}

func (t Table) addColumn(definition string) string {
	return fmt.Sprintf("ALTER TABLE %s ADD COLUMN %s", t.Name, definition)
}

func (t Table) index(i Index) (name, statement string) {
	name = t.Name + "_" + i.Suffix
	unique := ""
	if i.Unique {
		unique = "UNIQUE "
	}
	statement = fmt.Sprintf("CREATE %sINDEX %s ON %s (%s)", unique, name, t.Name, strings.Join(i.Columns, ", "))
	if i.Where != "" {
		statement += " WHERE " + i.Where
	}
	return name, statement
}
