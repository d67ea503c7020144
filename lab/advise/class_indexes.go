package advise

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const indexesSQL = `SELECT n.nspname AS schema, t.relname AS table, i.relname AS name, x.indisunique AS unique,
	x.indisvalid AS valid, coalesce(s.idx_scan, 0)::float8 AS scans, pg_relation_size(i.oid)::float8 AS size,
	pg_get_indexdef(i.oid) AS definition, x.indkey::text AS keys, x.indnkeyatts::int AS width, am.amname AS method,
	concat_ws(' ', x.indclass, x.indcollation, x.indoption, pg_get_expr(x.indexprs, x.indrelid),
		pg_get_expr(x.indpred, x.indrelid)) AS kind,
	x.indpred IS NOT NULL AS partial, x.indexprs IS NOT NULL AS expression,
	x.indisreplident OR x.indisclustered OR EXISTS (SELECT FROM pg_constraint c WHERE c.conindid = i.oid) AS needed,
	coalesce(u.n_tup_ins + u.n_tup_upd + u.n_tup_del, 0)::float8 AS written,
	(coalesce(u.seq_scan, 0) + coalesce(u.idx_scan, 0))::float8 AS used,
	extract(epoch FROM clock_timestamp() - (SELECT stats_reset FROM pg_stat_database
		WHERE datname = current_database()))::float8 AS since
	FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class t ON t.oid = x.indrelid
	JOIN pg_namespace n ON n.oid = t.relnamespace JOIN pg_am am ON am.oid = i.relam
	LEFT JOIN pg_stat_user_indexes s ON s.indexrelid = i.oid LEFT JOIN pg_stat_user_tables u ON u.relid = t.oid
	WHERE n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast') AND t.relpersistence <> 't'
		AND i.relkind = 'i' AND NOT i.relispartition
	ORDER BY n.nspname, t.relname, i.relname`

type index struct {
	Schema, Table, Name, Definition, Keys, Method, Kind string
	Unique, Valid, Partial, Expression, Needed          bool
	Scans, Size, Written, Used                          float64
	Width                                               int
	Since                                               *float64
}

func (i index) table() string { return plainName(i.Schema, i.Table) }
func (i index) sql() string   { return quoted(i.Schema, i.Name) }

// drop and what makes it again, both without stopping the users.
func (i index) drop() Change {
	definition := strings.Replace(i.Definition, " INDEX ", " INDEX CONCURRENTLY IF NOT EXISTS ", 1)
	return Change{Kind: SQL, SQL: "DROP INDEX CONCURRENTLY IF EXISTS " + i.sql(), Undo: definition,
		Index: i.sql()}
}

// same says whether an index finds the same rows in the same order.
func (i index) same(o index) bool {
	return i.table() == o.table() && i.Method == o.Method && i.Keys == o.Keys && i.Width == o.Width && i.Kind == o.Kind
}

// unusedIndexes: those that nobody reads, those that are there twice, and those that a build has left unfinished.
var unusedIndexes = class{
	name: "indexes", healthy: "every index is read, and none is there twice", causes: []string{"unused-indexes"},
	find: func(ctx context.Context, s *server) (all []Advice, err error) {
		indexes, err := ask[index](ctx, s, indexesSQL)
		twice := map[string]bool{}
		for n, i := range indexes {
			switch {
			case !i.Valid:
				all = append(all, s.unfinished(i))
			case i.Needed || i.Unique:
			default:
				if keep := i.twin(indexes, n); keep != nil {
					twice[i.sql()] = true
					all = append(all, s.duplicate(i, *keep))
				}
			}
		}
		for _, i := range indexes {
			if i.Valid && !i.Needed && !i.Unique && !twice[i.sql()] && i.Scans == 0 && i.Written >= writesMost.Value &&
				i.Used >= usesLeast.Value {
				all = append(all, s.unused(i))
			}
		}
		for n := range all {
			_, all[n].object, _ = strings.Cut(all[n].object, ".")
		}
		return all[:min(len(all), 2*tablesMost)], err
	},
}

// twin that stays when i goes: a unique one, or the first of equals.
func (i index) twin(all []index, own int) *index {
	for n, o := range all {
		if n != own && o.Valid && i.same(o) && (o.Needed || o.Unique || n < own) {
			return &all[n]
		}
	}
	return nil
}

func (s *server) unfinished(i index) Advice {
	return Advice{ID: "index:" + plainName(i.Schema, i.Name), Level: Problem, object: i.table(),
		Title:     "Index " + i.Name + " of " + i.table() + " was never finished",
		Mechanism: "A CREATE INDEX CONCURRENTLY that failed leaves an index that is written and never read.",
		Evidence:  []string{"it is marked as not valid; " + size(i.Size), "another session may be building it now"},
		Do:        []string{i.drop().SQL + ", and build it again"},
		Prove:     s.compare([]string{"--sql-b " + shell("DROP INDEX "+i.sql())}, false, true),
		Revert:    strings.Replace(i.Definition, " INDEX ", " INDEX CONCURRENTLY ", 1)}
}

func (s *server) duplicate(i, keep index) Advice {
	level := Note
	if i.Written >= writesMost.Value {
		level = Problem
	}
	return Advice{ID: "index:" + plainName(i.Schema, i.Name), Level: level, object: i.table(),
		Title:     "Indexes " + keep.Name + " and " + i.Name + " of " + i.table() + " are the same",
		Mechanism: "Each new row is entered into both and logged twice; either finds what the other does.",
		Evidence: []string{fmt.Sprintf("%s: %s; %s: %s; the second has %s, and %.0f rows were written", keep.Name,
			keep.Definition, i.Name, i.Definition, size(i.Size), i.Written)},
		Memory: "none: it frees " + size(i.Size), Changes: []Change{i.drop()}}
}

func (s *server) unused(i index) Advice {
	since := "the start of the statistics is not known"
	if i.Since != nil {
		since = fmt.Sprintf("since the statistics began %.1f days ago", *i.Since/86400)
	}
	return Advice{ID: "index:" + plainName(i.Schema, i.Name), Level: Note, object: i.table(),
		Title:     "No query reads index " + i.Name + " of " + i.table(),
		Mechanism: "Each new row is entered into it, and each entry goes into the log.",
		Evidence: []string{
			fmt.Sprintf("0 reads and %.0f rows written, while its table was read %.0f times, %s; it has %s",
				i.Written, i.Used, since, size(i.Size)),
			"a replica counts its own reads, and some work is done once a year: ask who needs it"},
		Memory: "none: it frees " + size(i.Size), Changes: []Change{i.drop()}}
}

const columnsSQL = `SELECT a.attname AS name, a.attnum::int AS number, coalesce(p.n_distinct, 0)::float8 AS distinct
	FROM pg_attribute a LEFT JOIN pg_stats p
		ON p.schemaname = $2 AND p.tablename = $3 AND p.attname = a.attname AND NOT p.inherited
	WHERE a.attrelid = $1 AND a.attnum > 0 AND NOT a.attisdropped`

type column struct {
	Name     string
	Number   int
	Distinct float64
}

// spread of values: how many different ones there are, of so many rows.
func (c column) spread(rows float64) float64 {
	if c.Distinct < 0 {
		return -c.Distinct * rows
	}
	return c.Distinct
}

type statement struct {
	Query string
	// Mean, Total and Planning are milliseconds. Plans are counted where pg_stat_statements.track_planning is on.
	Calls, Mean, Rows, Total, Plans, Planning float64
}

// missingIndexes: tables that are read whole for a few rows, by statements that compare columns with values.
var missingIndexes = class{
	name: "missing indexes", healthy: "statements do not read whole tables for a few rows",
	causes: []string{"missing-index"},
	find: func(ctx context.Context, s *server) ([]Advice, error) {
		tables, err := ask[table](ctx, s, tablesSQL)
		if err != nil {
			return nil, err
		}
		indexes, err := ask[index](ctx, s, indexesSQL)
		if err != nil {
			return nil, err
		}
		var all []Advice
		for _, t := range tables {
			if t.Scans < scansLeast.Value || t.Scanned < rowsScan.Value*t.Scans || len(all) >= tablesMost {
				continue
			}
			statements, err := s.statements(ctx)
			if err != nil {
				return all, err
			}
			columns, err := ask[column](ctx, s, columnsSQL, t.OID, t.Schema, t.Name)
			if err != nil {
				return all, err
			}
			all = append(all, s.wholeScans(t, columns, indexes, statements))
		}
		return fewScans(all), nil
	},
}

// scansShown are notes on whole scans that are shown one by one. An audit or a fill reads all tables whole, once each.
const scansShown = 3

// fewScans puts the notes beyond the first ones into one. Missing indexes stay apart.
func fewScans(all []Advice) (few []Advice) {
	var tables []string
	shown := 0
	for _, a := range all {
		if a.Level == Note {
			if shown++; shown > scansShown {
				tables = append(tables, a.object)
				continue
			}
		}
		few = append(few, a)
	}
	if len(tables) == 0 {
		return few
	}
	names := strings.Join(tables, ", ")
	return append(few, Advice{ID: "scans", Level: Note, object: names, // no finding is about several tables
		Title:     fmt.Sprintf("%d more tables are read whole", len(tables)),
		Mechanism: "Reports, audits and exports read whole tables, as they should; so do statements without an index.",
		Evidence:  []string{names},
		Do:        []string{"see pg_stat_user_tables: seq_scan, and seq_tup_read per scan"},
		Prove:     "plimsoll advise --for 2m    names the index of a table that is missing one under this load"})
}

const (
	ownStatementsSQL = `SELECT query, calls::float8 AS calls, mean_exec_time::float8 AS mean, rows::float8 AS rows,
		total_exec_time::float8 AS total, plans::float8 AS plans, total_plan_time::float8 AS planning FROM %s
		WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
		ORDER BY total_exec_time DESC LIMIT 2000`
	whereStatementsSQL = `SELECT n.nspname AS schema, 'pg_stat_statements' AS name FROM pg_extension e
		JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'pg_stat_statements'`
	seenStatementsSQL = `SELECT query, 1::float8 AS calls, 0::float8 AS mean FROM pg_stat_activity
		WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()`
)

// statements that ran, read once.
func (s *server) statements(ctx context.Context) (all []statement, err error) {
	if s.ran == nil {
		all, err = s.readStatements(ctx)
		s.ran = append([]statement{}, all...)
		for _, text := range s.sampled {
			s.ran = append(s.ran, statement{Query: text})
		}
	}
	return s.ran, err
}

// readStatements are all that the server counted, or those that its sessions ran last.
func (s *server) readStatements(ctx context.Context) ([]statement, error) {
	where, err := one[table](ctx, s, whereStatementsSQL)
	if err != nil {
		return nil, err
	}
	if where != nil {
		counted, err := ask[statement](ctx, s, fmt.Sprintf(ownStatementsSQL, where.sql()))
		if err == nil {
			return counted, nil
		}
		if kept := s.keep("missing indexes: pg_stat_statements", err, ""); kept != nil {
			return nil, kept
		}
	} else {
		s.miss("missing indexes: pg_stat_statements", "the extension is not in this database: only the last statement "+
			"of each session was looked at")
	}
	return ask[statement](ctx, s, seenStatementsSQL)
}

func (s *server) wholeScans(t table, columns []column, indexes []index, statements []statement) Advice {
	a := Advice{ID: "scan:" + t.String(), Level: Note, Title: "Statements read all of " + t.String(),
		Mechanism: "Without an index that fits the condition, every row is read to find a few.",
		Evidence: []string{fmt.Sprintf("%.0f scans read %.0f rows each; the table has %.0f (%s)", t.Scans,
			t.Scanned/t.Scans, t.Live, size(t.Size))},
		Do: []string{"EXPLAIN (ANALYZE, BUFFERS) its statements: a Seq Scan that removes most rows by its filter " +
			"needs an index on the filter's columns"},
		Prove:  s.compare([]string{"--sql-b 'CREATE INDEX ON " + t.sql() + " (…)'"}, false, true),
		Revert: "DROP INDEX CONCURRENTLY NAME, of an index that you make", object: t.Name}
	for _, one := range statements {
		if one.Mean > 0 && one.Calls < scansLeast.Value {
			continue // others read the table whole
		}
		keys := compared(one.Query, t.Name, columns, equalsValue)
		if len(keys) == 0 || covered(t, slices.Concat(keys, compared(one.Query, t.Name, columns, amongValues)),
			indexes) {
			continue
		}
		slices.SortStableFunc(keys, func(x, y column) int {
			return int(max(-1, min(1, y.spread(t.Live)-x.spread(t.Live))))
		})
		const most = 3
		keys = keys[:min(most, len(keys))]
		var names, plain []string
		for _, k := range keys {
			names, plain = append(names, pgx.Identifier{k.Name}.Sanitize()), append(plain, k.Name)
		}
		name := indexName(t.Name, plain)
		create := fmt.Sprintf("CREATE INDEX CONCURRENTLY IF NOT EXISTS %s ON %s (%s)", pgx.Identifier{name}.Sanitize(),
			t.sql(), strings.Join(names, ", "))
		a.ID, a.Level = "scan:"+t.String()+"("+strings.Join(plain, ",")+")", Problem
		a.Title = "An index of " + t.String() + " on " + strings.Join(plain, ", ") + " is missing"
		seen := "the diagnosis saw it: "
		if one.Calls > 0 {
			seen = fmt.Sprintf("it ran %.0f times, %.1f ms each: ", one.Calls, one.Mean)
		}
		a.Evidence = append(a.Evidence, seen+short(one.Query))
		a.Changes = []Change{{Kind: SQL, SQL: create, Index: quoted(t.Schema, name),
			Undo: "DROP INDEX CONCURRENTLY IF EXISTS " + quoted(t.Schema, name)}}
		a.Memory = fmt.Sprintf("none; about %s of disk and cache, and each write of the table enters it",
			size(20*t.Live))
		a.Do, a.Prove, a.Revert = nil, "", ""
		return a
	}
	return a
}

// nameMost is PostgreSQL's limit.
const nameMost = 63

func indexName(table string, columns []string) string {
	name := "plimsoll_" + table + "_" + strings.Join(columns, "_")
	if most := nameMost - len("_idx"); len(name) > most { // two long names must not become one: it would be "there"
		sum := sha256.Sum256([]byte(name))
		tail := "_" + hex.EncodeToString(sum[:4])
		name = strings.ToValidUTF8(name[:most-len(tail)], "") + tail // a letter may be several bytes
	}
	return name + "_idx"
}

var (
	compound   = regexp.MustCompile(`(?i)\b(union|intersect|except)\b`)
	joined     = regexp.MustCompile(`(?i)\bjoin\b|,\s*(lateral\s+)?\w+\s+(as\s+)?\w+\s+where`)
	longBlanks = regexp.MustCompile(`\s+`)
	fromOne    = `(?i)\b(?:from|update)\s+(?:only\s+)?(?:"?\w+"?\.)?"?%s"?(?:\s|;|$)`
	named      = `(?i)\b(?:from|join|update|,)\s+(?:only\s+)?(?:"?\w+"?\.)?"?%s"?\s+(?:as\s+)?(\w+)`
	notNames   = regexp.MustCompile(`(?i)^(where|join|left|right|inner|full|cross|natural|on|using|set|order|` +
		`group|limit)$`)
	equalsValue = `(?i)(?:^|[\s(.])%s"?%s"?\s*=\s*(?:\$[\d?]|\?|'|-?\d|any\b)`
	amongValues = `(?i)(?:^|[\s(.])%s"?%s"?\s+in\s*\(`
	orWord      = regexp.MustCompile(`(?i)\bor\b`)
)

// compared are the columns of a table that a statement compares with values, as the pattern says. Beside other tables a
// column counts only with the table's name or alias before it.
func compared(sql, table string, columns []column, pattern string) (found []column) {
	name := regexp.QuoteMeta(table)
	before := ""
	switch {
	case compound.MatchString(sql):
		return nil
	case joined.MatchString(sql):
		alias := regexp.MustCompile(fmt.Sprintf(named, name)).FindStringSubmatch(sql)
		if alias == nil {
			return nil
		}
		before = `"?` + name + `"?\.`
		if !notNames.MatchString(alias[1]) {
			before = alias[1] + `\.`
		}
	case !regexp.MustCompile(fmt.Sprintf(fromOne, name)).MatchString(sql):
		return nil
	}
	_, condition, is := cutFold(sql, "where")
	if !is {
		return nil
	}
	condition = withoutAlternatives(condition)
	for _, c := range columns {
		if regexp.MustCompile(fmt.Sprintf(pattern, before, regexp.QuoteMeta(c.Name))).MatchString(" " + condition) {
			found = append(found, c)
		}
	}
	return found
}

// withoutAlternatives is a condition without what stands beside OR, for which one index finds no row sooner.
func withoutAlternatives(condition string) string {
	levels := [][]byte{nil} // of parentheses
	leave := func() {
		last := len(levels) - 1
		group := levels[last]
		if orWord.Match(group) {
			group = nil
		}
		levels = levels[:last]
		levels[last-1] = slices.Concat(levels[last-1], []byte("("), group, []byte(")"))
	}
	for i := range len(condition) {
		switch c := condition[i]; {
		case c == '(':
			levels = append(levels, nil)
		case c == ')' && len(levels) > 1:
			leave()
		default:
			levels[len(levels)-1] = append(levels[len(levels)-1], c)
		}
	}
	for len(levels) > 1 { // the text was cut off
		leave()
	}
	if orWord.Match(levels[0]) {
		return ""
	}
	return string(levels[0])
}

func cutFold(text, word string) (before, after string, found bool) {
	i := strings.Index(strings.ToLower(text), word)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(word):], true
}

// covered: an index begins with one of the columns, so that the scan has another reason.
func covered(t table, keys []column, indexes []index) bool {
	return slices.ContainsFunc(indexes, func(i index) bool {
		first, _, _ := strings.Cut(i.Keys, " ")
		return i.table() == t.String() && i.Valid && !i.Partial && slices.ContainsFunc(keys, func(c column) bool {
			return first == fmt.Sprint(c.Number)
		})
	})
}

// values of a statement are its users' data.
var values = regexp.MustCompile(`(?s)\$(?:[A-Za-z_]\w*)?\$.*?(?:\$(?:[A-Za-z_]\w*)?\$|$)|'(?:[^']|'')*'?|` +
	`\b\d+(?:\.\d+)?\b`)

// short statement, without its values.
func short(sql string) string {
	sql = strings.TrimSpace(longBlanks.ReplaceAllString(values.ReplaceAllString(sql, "?"), " "))
	const most = 160
	if r := []rune(sql); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return sql
}

// keep continues where the server refuses: what is missing is listed.
func (s *server) keep(name string, err error, right string) error {
	var refused *pgconn.PgError
	if !errors.As(err, &refused) {
		return err
	}
	s.miss(name, class{right: right}.excuse(refused))
	return nil
}
