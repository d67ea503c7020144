package rowset

import (
	"fmt"
	"strings"

	"plimsoll/platform/data/database"
	"plimsoll/platform/data/temptable"
	"plimsoll/platform/model/metadata"
)

// TempColumns are the attributes as columns of a temp table.
func TempColumns(attributes []metadata.Attribute) []temptable.Column {
	columns := make([]temptable.Column, len(attributes))
	for i, a := range attributes {
		columns[i] = temptable.Column{Name: a.Name, Type: a.SQL()}
	}
	return columns
}

// Fill queues inserting all rows into a temp table, one statement each, and gathering its statistics. The table's first
// column is the row's number, from 1; the others are the attributes.
func (t *Table) Fill(w *database.Work, into *temptable.Table, name string) {
	var parameters []string
	for i := range len(t.Attributes) + 1 {
		parameters = append(parameters, fmt.Sprintf("$%d", i+1))
	}
	sql := "INSERT INTO " + into.Name() + " VALUES (" + strings.Join(parameters, ", ") + ")"
	for row := range t.rows {
		w.Fill(into, name, sql, t.Values([]any{row + 1}, row)...)
	}
	w.Analyze(into)
}
