package report

import (
	"plimsoll/ground/human"
	"plimsoll/lab/run/result"
)

// operationStatements are the statements that took an operation's time, with their plans. The page has those of the
// worst operations, or of all where nobody knows which operation sent them; the JSON has all.
type operationStatements struct {
	Title, ID string
	Rows      []statementRow
}

type statementRow struct {
	Share, Time, Short, Text string
	How                      string // empty: there is no plan
	Lines, Remarks           []string
}

// Words for how a plan was come by.
var plannedHow = map[string]string{
	"generic": "Plan for any values, as the planner estimates it",
	"custom":  "Plan for the values of one call, as the planner estimates it",
	"logged":  "Plan that the server wrote to its log",
}

// shortText runes of a statement stand in its line; all of it stands beneath.
const shortText = 120

func (v *view) addStatements(r *result.Result) {
	if d := r.Diagnosis; d != nil && len(d.Statements) > 0 {
		v.Statements = append(v.Statements, operationStatements{"All operations", "", statementRows(d.Statements)})
	}
	for _, op := range worstFirst(r) {
		if len(op.Statements) > 0 && len(v.Statements) < worstShown {
			v.Statements = append(v.Statements, operationStatements{op.Title, op.ID, statementRows(op.Statements)})
		}
	}
}

func statementRows(all []result.Statement) (rows []statementRow) {
	for _, s := range all {
		row := statementRow{Share: human.Percent1(s.Share), Time: human.Seconds(s.S), Short: s.Text, Text: s.Text}
		if text := []rune(s.Text); len(text) > shortText {
			row.Short = string(text[:shortText-1]) + "…"
		}
		if s.Plan != nil {
			row.How, row.Lines, row.Remarks = plannedHow[s.Plan.How], s.Plan.Lines, s.Plan.Remarks
		}
		rows = append(rows, row)
	}
	return rows
}
