package audit_test

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"plimsoll/erp/audit"
	"plimsoll/erp/erptest"
	"plimsoll/test/thorough"
)

// corruption of books by statements: the invariants that must find it, and what one of them names.
type corruption struct {
	sql     string
	subject string
	want    []string
}

// corrupted books are named, by every mode of an audit. Corruptions that can be told apart are made at once, and an
// audit of everything takes turns with a sample of everything; thorough tests make one at a time and do both.
func corrupted(t *testing.T, c *erptest.Company, corruptions map[string]corruption) {
	for n, names := range atOnce(corruptions) {
		var made []corruption
		for _, name := range names {
			made = append(made, corruptions[name])
		}
		reports := audited(t, c, made, n)
		for i, name := range names {
			t.Run(name, func(t *testing.T) {
				for _, report := range reports {
					made[i].found(t, report)
				}
			})
		}
		t.Run("NoneBut"+strings.Join(names, "And"), func(t *testing.T) {
			for _, report := range reports {
				noneElse(t, report, made)
			}
		})
	}
}

// audited are the n-th books with corruptions, which are clean again afterwards.
func audited(t *testing.T, c *erptest.Company, made []corruption, n int) (reports []audit.Report) {
	t.Helper()
	var statements []string
	for _, one := range made {
		statements = append(statements, strings.Split(one.sql, "; ")...)
	}
	restore := snapshot(t, c, statements)
	defer restore()
	point(t, c)
	for _, statement := range statements {
		c.Exec(t, statement)
	}
	if thorough.Asked() || n%2 == 0 {
		_, whole := violated(t, c)
		reports = append(reports, whole)
	}
	if thorough.Asked() || n%2 == 1 {
		reports = append(reports, run(t, c, audit.Options{Mode: audit.Sample, Share: 1}))
	}
	return append(reports, sinceClean(t, c))
}

// atOnce are names of corruptions of which none writes what another one reads or what its invariants look at, and none
// breaks what another one breaks: whose an invariant's violation is can be told.
func atOnce(corruptions map[string]corruption) (groups [][]string) {
	if thorough.Asked() {
		for name := range corruptions {
			groups = append(groups, []string{name})
		}
		return groups
	}
	// Those that meet most others choose first: that makes fewer groups.
	meeting := map[string]int{}
	for name := range corruptions {
		for other := range corruptions {
			if corruptions[name].meets(corruptions[other]) {
				meeting[name]++
			}
		}
	}
	for _, name := range slices.SortedFunc(maps.Keys(corruptions), func(a, b string) int {
		return cmp.Or(cmp.Compare(meeting[b], meeting[a]), cmp.Compare(a, b))
	}) {
		fits := slices.IndexFunc(groups, func(group []string) bool {
			return !slices.ContainsFunc(group, func(other string) bool {
				return corruptions[name].meets(corruptions[other])
			})
		})
		if fits < 0 {
			groups, fits = append(groups, nil), len(groups)
		}
		groups[fits] = append(groups[fits], name)
	}
	return groups
}

var (
	mentioned = regexp.MustCompile(`\b(doc|inf|acc|gl)_[a-z0-9_]+`)
	written   = regexp.MustCompile(`(UPDATE|DELETE FROM|INSERT INTO) [a-z0-9_]+`)
)

func (c corruption) meets(other corruption) bool {
	return slices.ContainsFunc(c.want, other.mayBreak) || slices.ContainsFunc(other.want, c.mayBreak) ||
		c.writesFor(other) || other.writesFor(c)
}

// mayBreak reports whether a violation can be of the corruption, in one mode or another.
func (c corruption) mayBreak(id string) bool {
	return slices.Contains(c.want, id) || c.shownByItsMonth(id)
}

// writesFor reports whether it writes a table that the other one, or an invariant broken by it, reads.
func (c corruption) writesFor(other corruption) bool {
	read := other.sql
	for _, invariant := range audit.Invariants() {
		if slices.Contains(other.want, invariant.ID) {
			read += invariant.Wrong
		}
	}
	tables := mentioned.FindAllString(read, -1)
	return slices.ContainsFunc(written.FindAllString(c.sql, -1), func(statement string) bool {
		table := statement[strings.LastIndex(statement, " ")+1:]
		return slices.Contains(tables, table)
	})
}

// shownByItsMonth: since a clean point a current balance is compared with those of its months, and these with the
// movements. Which of the two shows what is wrong in a month depends, and is optional.
func (c corruption) shownByItsMonth(id string) bool {
	register, current := strings.CutSuffix(id, ".current")
	return current && slices.Contains(c.want, register+".monthly")
}

func (c corruption) optional(mode audit.Mode, id string) bool {
	return mode == audit.SinceClean && c.shownByItsMonth(id)
}

// found fails when a report does not show a corruption, or does not name its subject.
func (c corruption) found(t *testing.T, report audit.Report) {
	t.Helper()
	var ids, texts []string
	for _, check := range report.Checks {
		if check.Violations == 0 || !c.mayBreak(check.Invariant) {
			continue
		}
		ids = append(ids, check.Invariant)
		for _, v := range check.Examples {
			texts = append(texts, v.Subject+v.Expected+v.Found)
		}
	}
	for _, id := range c.want {
		if !slices.Contains(ids, id) && !c.optional(report.Mode, id) {
			t.Errorf("%s: did not find %s, only %v", report.Mode, id, ids)
		}
	}
	named := slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, c.subject) })
	if !named && (len(ids) == len(c.want) || len(ids) == 0) {
		t.Errorf("%s: no subject contains %q: %q", report.Mode, c.subject, texts)
	}
}

// noneElse fails when a report shows what none of the corruptions breaks.
func noneElse(t *testing.T, report audit.Report, made []corruption) {
	t.Helper()
	for _, check := range report.Checks {
		expected := slices.ContainsFunc(made, func(c corruption) bool {
			return slices.Contains(c.want, check.Invariant) || c.optional(report.Mode, check.Invariant)
		})
		if check.Violations > 0 && !expected && len(independent([]string{check.Invariant})) > 0 {
			t.Errorf("%s: violated %s, which is not: %+v", report.Mode, check.Invariant, check.Examples)
		}
	}
}

var bookTables = erptest.Books()

// snapshot keeps the books that statements name aside; the function it returns restores them.
func snapshot(t *testing.T, c *erptest.Company, statements []string) (restore func()) {
	named := slices.DeleteFunc(slices.Clone(bookTables), func(table string) bool {
		return !strings.Contains(fmt.Sprint(statements), table)
	})
	for _, table := range named {
		c.Exec(t, "CREATE TABLE kept_"+table+" AS TABLE "+table)
	}
	return func() {
		for _, table := range named {
			c.Exec(t, "TRUNCATE "+table)
			c.CopyRows(t, table, "kept_"+table)
			c.Exec(t, "DROP TABLE kept_"+table)
		}
	}
}
