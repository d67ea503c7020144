package advise

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/human"
	"plimsoll/lab/diagnose/condition"
)

// missingIndexes: tables that are read whole for a few rows, by statements that compare columns with values.
var missingIndexes = class{
	name: "missing indexes", healthy: "statements do not read whole tables for a few rows",
	causes: []string{"missing-index"},
	find: func(ctx context.Context, s *server) ([]Advice, error) {
		tables, err := s.tables(ctx)
		if err != nil {
			return nil, err
		}
		byTable, err := s.indexes(ctx)
		if err != nil {
			return nil, err
		}
		if _, err := s.figures(ctx); err != nil {
			return nil, err
		}
		var named, noted []Advice
		for _, t := range tables {
			if t.Scans < scansLeast.Value || t.Scanned < rowsScan.Value*t.Scans || len(named) >= tablesMost {
				continue
			}
			ran, err := s.statements(ctx)
			if err != nil {
				return named, err
			}
			ran = mentioning(ran, t.Name)
			if len(ran) == 0 && len(noted) >= tablesMost {
				continue
			}
			columns, err := ask[column](ctx, s, columnsSQL, t.OID, t.Schema, t.Name)
			if err != nil {
				return named, err
			}
			if a := s.wholeScans(t, columns, byTable[t.String()], ran); len(a.Changes) > 0 {
				named = append(named, a)
			} else if len(noted) < tablesMost {
				noted = append(noted, a)
			}
		}
		return fewScans(append(named, noted...)), nil
	},
}

// mentioning are the statements with a name somewhere: to look at each of them closely takes long.
func mentioning(all []statement, name string) (some []statement) {
	name = strings.ToLower(name)
	for _, one := range all {
		if strings.Contains(strings.ToLower(one.Query), name) {
			some = append(some, one)
		}
	}
	return some
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
		Title:     fmt.Sprintf("%d more tables are scanned completely", len(tables)),
		Mechanism: "Reports, audits and exports read whole tables, as they should; so do statements without an index.",
		Evidence:  []string{names},
		Do:        []string{"see pg_stat_user_tables: seq_scan, and seq_tup_read per scan"},
		Prove:     "plimsoll advise --for 2m    names the index of a table that is missing one under this load"})
}

func (s *server) wholeScans(t table, columns []column, indexes []index, statements []statement) Advice {
	a := Advice{ID: "scan:" + t.String(), Level: Note, Title: "Statements read all of " + t.String(),
		Mechanism: "Without an index that fits the condition, every row is read to find a few.",
		Evidence: []string{fmt.Sprintf("%.0f scans read %.0f rows each; the table has %.0f (%s)", t.Scans,
			t.Scanned/t.Scans, t.Live, human.Bytes(t.Size))},
		Do: []string{"EXPLAIN (ANALYZE, BUFFERS) its statements: a Seq Scan that removes most rows by its filter " +
			"needs an index on the filter's columns"},
		Prove:  s.compare([]string{"--sql-b 'CREATE INDEX ON " + t.sql() + " (…)'"}, false, true),
		Revert: "DROP INDEX CONCURRENTLY NAME, of an index that you make", object: t.Name}
	for _, one := range statements {
		if one.Mean > 0 && one.Calls < scansLeast.Value {
			continue // others read the table whole
		}
		keys := compared(one.Query, t.Name, columns, condition.Equals)
		all := slices.Concat(keys, compared(one.Query, t.Name, columns, condition.Among))
		if len(keys) == 0 || hasIndexFor(all, columns, indexes) {
			continue
		}
		used, rows, why := s.useful(t, keys, one)
		if why != "" {
			a.Evidence = append(a.Evidence, why)
		}
		if len(used) > 0 {
			return s.missingIndex(a, t, used, rows, one, statements)
		}
	}
	const most = 4
	a.Evidence = a.Evidence[:min(most, len(a.Evidence))]
	return a
}

// missingIndex is a problem where the statement takes its part of the time. It is built by its ID alone where writes
// may cost more than it saves.
func (s *server) missingIndex(a Advice, t table, used []column, rows float64, one statement,
	statements []statement) Advice {
	var names, plain []string
	for _, k := range used {
		names, plain = append(names, pgx.Identifier{k.Name}.Sanitize()), append(plain, k.Name)
	}
	name := indexName(t.Name, plain)
	create := fmt.Sprintf("CREATE INDEX CONCURRENTLY IF NOT EXISTS %s ON %s (%s)", pgx.Identifier{name}.Sanitize(),
		t.sql(), strings.Join(names, ", "))
	a.ID = "scan:" + t.String() + "(" + strings.Join(plain, ",") + ")"
	a.Title = "An index of " + t.String() + " on " + strings.Join(plain, ", ") + " is missing"
	seen := "the diagnosis saw it: "
	if one.Calls > 0 {
		seen = fmt.Sprintf("it ran %.0f times, %.1f ms each: ", one.Calls, one.Mean)
	}
	a.Evidence = append(a.Evidence[:1], seen+short(one.Query), fmt.Sprintf("it finds about %.0f of %.0f rows, by the "+
		"statistics of its columns: the planner would use the index", rows, t.Live))
	if s.takes(one, t) {
		a.Level = Problem
	}
	if saved := max(t.Scanned, one.Calls*t.Live); saved < indexWrites.Value*t.Written {
		a.Level, a.asked = Note, true
		a.Evidence = append(a.Evidence, fmt.Sprintf("%.0f rows were also written: each would be entered into the index",
			t.Written))
	}
	for _, other := range statements {
		if other.Calls >= one.Calls && sets(other.Query, t.Name, plain) {
			a.asked = true
			a.Evidence = append(a.Evidence, fmt.Sprintf("a statement that sets it ran %.0f times: its updates would "+
				"write to all indexes (no longer HOT)", other.Calls))
			break
		}
	}
	if need := 20 * t.Live; s.host != nil && 2*need > float64(s.host.DiskFreeBytes) {
		a.asked = true
		a.Evidence = append(a.Evidence, human.Bytes(float64(s.host.DiskFreeBytes))+" of disk are free")
	}
	a.Changes = []Change{{Kind: SQL, SQL: create, Index: quoted(t.Schema, name),
		Undo: "DROP INDEX CONCURRENTLY IF EXISTS " + quoted(t.Schema, name)}}
	a.Memory = fmt.Sprintf("none; about %s of disk and cache, and each write to the table updates it",
		human.Bytes(20*t.Live))
	a.Do, a.Prove, a.Revert = nil, "", ""
	return a
}

// takes says whether a statement takes a part of the time that matters: of all statements, where they are counted, else
// of a processor that reads the table's rows.
func (s *server) takes(one statement, t table) bool {
	total := 0.0
	for _, each := range s.ran {
		total += each.Total
	}
	if total > 0 && one.Total > 0 {
		return one.Total >= indexShare.Value*total
	}
	if s.counted == nil {
		return false
	}
	perS := s.counted.perSecond(t.Scanned)
	return perS != nil && *perS >= scanRowsPS.Value
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
