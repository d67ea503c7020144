package report

import (
	"fmt"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/lab/run/result"
	"plimsoll/web"
)

// costTable of each kind of request.
func costTable(c result.Cost) web.Table {
	t := web.Table{Names: true, Class: "cost", Label: "Table of what requests cost",
		Title: "Means of each kind of request to the workers, from the log-in to the end of the drain",
		Columns: []string{"request to the workers", "count", "statements", "round trips", "rows written",
			"temp tables", "of them empty"}}
	for _, q := range c.Requests {
		t.Rows = append(t.Rows, []string{q.ID, human.Thousands(q.Count), mean(q.Statements), mean(q.RoundTrips),
			mean(q.Rows), mean(q.TempTables), human.Known(q.EmptyShare, unknown, human.Share)})
	}
	return t
}

// mean has as many digits as are significant.
func mean(v float64) string {
	switch {
	case v == 0:
		return "0"
	case v < 9.95:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

// costOfEach is the log and processor time of an operation, in words.
func costOfEach(c result.Cost) string {
	var parts []string
	if c.WALBytes != nil {
		parts = append(parts, "WAL "+human.Bytes(*c.WALBytes)+" per request")
	}
	if c.DatabaseMS != nil {
		parts = append(parts, "database "+mean(*c.DatabaseMS)+" ms of CPU per operation")
	}
	if c.WorkersMS != nil {
		parts = append(parts, "workers "+mean(*c.WorkersMS)+" ms")
	}
	return strings.Join(parts, ", ")
}

func costs(b *strings.Builder, c result.Cost) error {
	if len(c.Requests) == 0 {
		return nil
	}
	b.WriteString("\n")
	from := costTable(c)
	t := table{rows: append([][]string{from.Columns}, from.Rows...)}
	return t.write(b)
}
