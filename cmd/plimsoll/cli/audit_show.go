package cli

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"plimsoll/erp/audit"
	"plimsoll/ground/human"
)

var errShare = errors.New("must be above 0 and at most 100%")

// shareOf reads 1% or 0.01.
func shareOf(text string) (float64, error) {
	number, percent := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(number, 64)
	if percent {
		v /= 100
	}
	if err != nil || !(v > 0 && v <= 1) {
		return 0, fmt.Errorf("%q %w", text, errShare)
	}
	return v, nil
}

// showAudit lists the violated invariants, or all of them. Clean books take one line, but for what was asked for.
func (a *app) showAudit(r audited, all, details bool) error {
	if r.Clean() && !all && !details && r.underivable() == 0 {
		if err := a.showDigest(r.Books); err != nil {
			return err
		}
		_, err := fmt.Fprintln(a.stdout, cleanLine(r.Report))
		return err
	}
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	if all || !r.Clean() {
		fmt.Fprintln(w, "INVARIANT\tSCOPE\tCHECKED\tVIOLATIONS\tWHAT")
	}
	for _, c := range r.Checks {
		if !all && c.Violations == 0 {
			continue
		}
		scope, checked := string(r.Mode), strconv.FormatInt(c.Checked, 10)
		switch {
		case c.Unchanged:
			scope, checked = "unchanged", "-"
		case c.Whole:
			scope = "all"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\n", c.Invariant, scope, checked, c.Violations, c.Title)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, c := range r.Checks {
		for _, v := range c.Examples {
			fmt.Fprintf(a.stdout, "%s: %s: expected %s, found %s\n", c.Invariant, v.Where(), v.Expected, v.Found)
		}
	}
	for _, c := range r.Checks {
		if c.Underivable > 0 {
			fmt.Fprintf(a.stdout, "%s: %d rows not derivable after the boundary of costs: plimsoll restore puts them "+
				"in order\n", c.Invariant, c.Underivable)
		}
	}
	if err := a.showDigest(r.Books); err != nil {
		return err
	}
	fmt.Fprintln(a.stdout, lookedAt(r.Report))
	if r.Clean() {
		fmt.Fprintf(a.stdout, "audit: clean (%d invariants in %.1f s)\n", len(r.Checks), r.ElapsedMS/1000)
	} else {
		fmt.Fprintf(a.stdout, "audit: %d violations\n", r.Violations)
	}
	return nil
}

// underivable rows are worth a look although nothing is wrong.
func (r audited) underivable() (n int64) {
	for _, c := range r.Checks {
		n += c.Underivable
	}
	return n
}

// cleanLine says that nothing is wrong, and how far that goes.
func cleanLine(r audit.Report) string {
	scope := "everything"
	switch r.Mode {
	case audit.SinceClean:
		scope = fmt.Sprintf("changes since %s", r.Since.Local().Format(time.DateTime))
	case audit.Sample:
		scope = fmt.Sprintf("%s of documents and keys: one of %d wrong ones is found with %s", percent(r.Share),
			manyWrong, percent(1-math.Pow(1-r.Share, manyWrong)))
	}
	if r.Reason != "" {
		scope += "; no clean point to start from: " + r.Reason
	}
	return fmt.Sprintf("audit: clean (%d invariants in %.1f s, %s)", len(r.Checks), r.ElapsedMS/1000, scope)
}

func (a *app) showDigest(books *audit.Digest) error {
	if books == nil {
		return nil
	}
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\nTABLE\tROWS\tDIGEST")
	for _, t := range books.Tables {
		fmt.Fprintf(w, "%s\t%d\t%s\n", t.Table, t.Rows, t.Digest)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(a.stdout, "digest: %s\n", books.Digest)
	return err
}

// manyWrong is the number of wrong documents for which the probability of finding one is also shown.
const manyWrong = 100

// notDerived is what no audit can know about documents that it posts again.
const notDerived = "not derivable: balances at the time of posting, so whether a document was allowed, how much of " +
	"an order was\nreserved, of advances set off and of investments put to use is taken as the document has it"

// lookedAt describes what an audit has checked and what not.
func lookedAt(r audit.Report) string {
	var lines []string
	if r.Reason != "" {
		lines = append(lines, "audit: no clean point to start from: "+r.Reason)
	}
	switch r.Mode {
	case audit.SinceClean:
		lines = append(lines, fmt.Sprintf("checked: changes since %s: %d documents of %d, %d months of %d (by "+
			"organisation); %d invariants of %d in full, %d over unchanged tables",
			r.Since.Local().Format(time.DateTime), r.Documents, r.DocumentsAll, r.Months, r.MonthsAll, r.Whole(),
			len(r.Checks), r.Unchanged()))
	case audit.Sample:
		lines = append(lines, fmt.Sprintf("checked: %s of documents and keys (seed %d), %d invariants of %d in full",
			percent(r.Share), r.Seed, r.Whole(), len(r.Checks)),
			fmt.Sprintf("a single wrong document or key is found with a probability of %s, one of %d with %s",
				percent(r.Share), manyWrong, percent(1-math.Pow(1-r.Share, manyWrong))))
	default:
		lines = append(lines, "checked: everything")
	}
	lines = append(lines, notDerived)
	lines[len(lines)-2] += fmt.Sprintf("; %d rows read over %d connections", r.RowsRead, r.Connections)
	switch {
	case r.Kept:
		lines = append(lines, "clean point stored: plimsoll audit --since-clean starts from here")
	case r.Unkept != "":
		lines = append(lines, "no clean point stored: "+r.Unkept)
	}
	return strings.Join(lines, "\n")
}

func percent(share float64) string {
	return human.Decimal(100*share, 4) + " %"
}
