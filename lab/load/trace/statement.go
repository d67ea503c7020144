package trace

import (
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"plimsoll/ground/human"
)

// rowsKept are the rows whose values are kept.
const rowsKept = 3

// Statement that was sent to the database. A nil one records nothing.
type Statement struct {
	SQL        string      `json:"sql"`
	Parameters []Parameter `json:"parameters,omitempty"` // of $1, $2, …
	Results    []Result    `json:"results,omitempty"`    // several for a text of several statements
	Error      string      `json:"error,omitempty"`
	MS         float64     `json:"ms"`

	began time.Time
}

// Parameter is the variable behind $1, $2, …; its value is null for NULL.
type Parameter struct {
	Name  string  `json:"name"`
	Value *string `json:"value"`
}

// Result of a statement: how many rows it gave or changed, and the first of those that it gave.
type Result struct {
	Command string      `json:"command"` // as the server names it: SELECT 1
	Rows    int64       `json:"rows"`
	Columns []string    `json:"columns,omitempty"`
	Values  [][]*string `json:"values,omitempty"`
}

// Send records a statement that is about to be sent.
func (t *Trace) Send(sql string, names []string, values [][]byte) *Statement {
	if t == nil {
		return nil
	}
	s := &Statement{SQL: sql, began: time.Now()}
	for i, name := range names {
		s.Parameters = append(s.Parameters, Parameter{name, valueText(values[i])})
	}
	t.add(Event{Statement: s})
	return s
}

func valueText(value []byte) *string {
	if value == nil {
		return nil
	}
	text := string(value)
	return &text
}

// Read an answer to its end, and keep its first rows. A nil statement only closes it.
func (s *Statement) Read(answer *pgconn.ResultReader) error {
	if s == nil {
		_, err := answer.Close()
		return err
	}
	var r Result
	for answer.NextRow() {
		if len(r.Values) < rowsKept {
			r.Values = append(r.Values, rowText(answer.Values()))
		}
	}
	fields := answer.FieldDescriptions()
	tag, err := answer.Close()
	if err == nil {
		s.keep(r, tag, fields)
	}
	return err
}

// Got records a result that was read already.
func (s *Statement) Got(result *pgconn.Result) {
	if s == nil || result == nil || result.Err != nil {
		return
	}
	var r Result
	for _, row := range result.Rows[:min(rowsKept, len(result.Rows))] {
		r.Values = append(r.Values, rowText(row))
	}
	s.keep(r, result.CommandTag, result.FieldDescriptions)
}

func (s *Statement) keep(r Result, tag pgconn.CommandTag, fields []pgconn.FieldDescription) {
	r.Command, r.Rows = tag.String(), tag.RowsAffected()
	for _, field := range fields {
		r.Columns = append(r.Columns, field.Name)
	}
	s.Results = append(s.Results, r)
}

// rowText copies a row, whose bytes are the connection's. All results come as text.
func rowText(row [][]byte) (all []*string) {
	for _, value := range row {
		all = append(all, valueText(value))
	}
	return all
}

// End of a statement; it gives the error back.
func (s *Statement) End(err error) error {
	if s == nil {
		return err
	}
	s.MS = human.MS(time.Since(s.began))
	if err != nil {
		s.Error = err.Error()
	}
	return err
}
