// Package bench owns the SQL of the engine's measurements: what a business application does with temporary tables, its
// wide tables, and how it looks for a part of a name. The commands beside it and the lab's experiments play the same
// files.
package bench

import (
	"embed"
	"fmt"
	"strconv"
	"strings"
)

//go:embed workloads/*.sql live-tables.sql wide-table.sql like-table.sql like.sql
var files embed.FS

// Cycles are workloads whose run is one life of a table: made, filled, read, dropped.
const (
	Cycle            = "cycle"             // one statement a transaction
	CycleTransaction = "cycle-transaction" // all in one
	NoAnalyze        = "cycle-no-analyze"  // without statistics
	NoIndex          = "cycle-no-index"    // and without an index
	NoTable          = "no-table"          // the query alone
)

// Storm is a workload of nothing but invalidation messages.
const Storm = "storm"

// Workload is a script for pgbench.
func Workload(name string) (string, error) {
	text, err := files.ReadFile("workloads/" + name + ".sql")
	if err != nil {
		return "", fmt.Errorf("no workload %q: %w", name, err)
	}
	return string(text), nil
}

// Statements are those of a workload without pgbench's own commands, one by one.
func Statements(name string) (all []string, err error) {
	text, err := Workload(name)
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "--") {
			all = append(all, line)
		}
	}
	return all, err
}

// LiveTables is SQL that makes n temporary tables which live on in the session.
func LiveTables(n int) (string, error) { return filled("live-tables.sql", ":live", strconv.Itoa(n)) }

// WideTable is SQL that makes the table wide_N of n columns.
func WideTable(columns, rows int) (string, error) {
	return filled("wide-table.sql", ":columns", strconv.Itoa(columns), ":rows", strconv.Itoa(rows))
}

// LikeTable is SQL that makes the table like_N of so many values of N characters; one in every so many has the text
// that Like looks for.
func LikeTable(characters, rows, every int) (string, error) {
	return filled("like-table.sql", ":length", strconv.Itoa(characters), ":rows", strconv.Itoa(rows),
		":every", strconv.Itoa(every))
}

// Like is the query of a part of a value over such a table.
func Like(characters int) (string, error) {
	return filled("like.sql", ":length", strconv.Itoa(characters))
}

// filled is a file with values in place of its variables: name, value, name, value, …
func filled(name string, variables ...string) (string, error) {
	text, err := files.ReadFile(name)
	return strings.NewReplacer(variables...).Replace(string(text)), err
}
