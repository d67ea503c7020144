package cli

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"plimsoll/erp/audit"
	"plimsoll/erp/fill"
	"plimsoll/ground/problem"
	"plimsoll/platform/data/database"
)

// differencesShown by a check; all are counted.
const differencesShown = 20

func (a *app) checkFill(ctx context.Context, db *database.Database, options fill.Options) error {
	report, err := fill.Check(ctx, db, options)
	if err != nil {
		a.meter.End()
		return err
	}
	a.meter.Phase("audit", 0, "")
	books, err := audit.Run(ctx, db)
	a.meter.End()
	if err != nil {
		return err
	}
	if a.json {
		err = a.emit(struct {
			fill.Checked
			Violations int64 `json:"audit_violations"`
		}{report, books.Violations})
	} else {
		err = a.showChecked(report, books)
	}
	switch {
	case err != nil:
		return err
	case !books.Clean():
		return problem.New(problem.Threshold, fmt.Errorf("the books are wrong: %d violations", books.Violations),
			"'plimsoll audit' names them")
	case !report.Clean():
		return problem.New(problem.Threshold,
			fmt.Errorf("%d of %d units differ from what was filled", len(report.Differences), report.Units),
			"filled documents were changed since; unless a user did that, rows are lost or damaged")
	}
	return nil
}

func (a *app) showChecked(c fill.Checked, books audit.Report) error {
	for i, d := range c.Differences {
		if i == differencesShown {
			fmt.Fprintf(a.stdout, "… and %d more\n", len(c.Differences)-i)
			break
		}
		fmt.Fprintf(a.stdout, "%s: written %d rows with digest %016x, found %d with %016x\n", d.Unit,
			d.Expected.Rows, d.Expected.Digest, d.Found.Rows, d.Found.Digest)
	}
	fmt.Fprintf(a.stdout, "checked: %d units, %d documents, %d rows, digest %s; %d rows are newer\n", c.Units,
		c.Documents, c.Rows, c.Digest, c.Later)
	_, err := fmt.Fprintf(a.stdout, "audit: %d violations of %d invariants\n", books.Violations, len(books.Checks))
	return err
}

func (a *app) compareCopy(ctx context.Context, db *database.Database, options fill.Options) error {
	paces, err := fill.PacesOf(ctx, db)
	if err != nil {
		return err
	}
	raw, err := fill.RawCopy(ctx, db, tempDir(), options)
	a.meter.End()
	if err != nil {
		return err
	}
	type line struct {
		What  string  `json:"what"`
		Share float64 `json:"rows_per_second_against"`
		fill.Pace
	}
	lines := []line{
		{"fill, loading", paces.Loading.RowsPerSecond() / raw.Plain.RowsPerSecond(), paces.Loading},
		{"raw COPY without indexes", 1, raw.Plain},
		{"fill, loading and indexes", paces.Indexed.RowsPerSecond() / raw.Built.RowsPerSecond(), paces.Indexed},
		{"raw COPY, then indexes", 1, raw.Built},
		{"fill, with totals, statistics, freezing", paces.Whole.RowsPerSecond() / raw.Built.RowsPerSecond(),
			paces.Whole},
		{"raw COPY with indexes", raw.Indexed.RowsPerSecond() / raw.Built.RowsPerSecond(), raw.Indexed},
	}
	if a.json {
		return a.emit(map[string]any{"streams": raw.Streams, "paces": lines})
	}
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\tTIME\tROWS/S\tMB/S\tAGAINST RAW\t")
	for _, l := range lines {
		fmt.Fprintf(w, "%s\t%s\t%.0f\t%.1f\t%.0f %%\t\n", l.What, l.Elapsed.Round(10*time.Millisecond),
			l.RowsPerSecond(), l.BytesPerSecond()/1e6, 100*l.Share)
	}
	return w.Flush()
}
