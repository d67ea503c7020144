package reports

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"plimsoll/platform/books/document"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
	"plimsoll/platform/data/temptable"
)

// queryBatch is how reports work, in every shape of the ERP: a query puts its result into a temp table, the next one
// reads it. The base is read once for what the report tells in several ways, and statistics of the part that is left
// are exact.
type queryBatch struct {
	work   *database.Work
	tables []*temptable.Table
	limit  int // rows of the report
}

// begin a batch with a temp table of each structure, for a report of up to so many rows.
func begin(ctx context.Context, w *database.Work, limit int, structures ...temptable.Structure) (*queryBatch, error) {
	tables, err := w.Temp(ctx, structures...)
	return &queryBatch{w, tables, limit}, err
}

// fillTable puts the result of a query into the n-th table. In the text {0}, {1}, … are the tables.
func (b *queryBatch) fillTable(n int, name, query string, args ...any) {
	b.work.Fill(b.tables[n], name, "INSERT INTO "+b.tables[n].Name()+" "+b.text(query), args...)
	b.work.Expect(b.limit)
	b.work.Analyze(b.tables[n])
}

// query reads the tables.
func (b *queryBatch) query(name, query string, args ...any) *database.Statement {
	return b.work.Queue(name, b.text(query), args...)
}

func (b *queryBatch) text(query string) string {
	for n, t := range b.tables {
		query = strings.ReplaceAll(query, fmt.Sprintf("{%d}", n), t.Name())
	}
	return query
}

// limited reads ?limit=.
func limited(query url.Values, otherwise, most int) (limit int, err error) {
	given := query.Get("limit")
	if given == "" {
		return otherwise, nil
	}
	if limit, err = strconv.Atoi(given); err != nil || limit < 1 || limit > most {
		return 0, &document.Invalid{Field: "limit", Reason: fmt.Sprintf("a number from 1 to %d is expected", most)}
	}
	return limit, nil
}

// idOf reads an id of a query; zero when it is not given.
func idOf(query url.Values, name string) (v id.ID, err error) {
	given := query.Get(name)
	if given == "" {
		return v, nil
	}
	if v, err = id.Parse(given); err != nil {
		return v, &document.Invalid{Field: name, Reason: "an id is expected"}
	}
	return v, nil
}
