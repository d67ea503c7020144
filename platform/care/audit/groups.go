package audit

import (
	"context"
	"fmt"

	"plimsoll/platform/books/group"
)

// groups of objects that are changed over several transactions are whole or not done at all, unless they are in
// progress. A snapshot does not show who is working on them, so groups are looked at as they are now.
func (a *auditing) groups(ctx context.Context) error {
	check := Check{Invariant: "groups.whole",
		Title: "Work over several transactions is complete or undone, unless it is in progress"}
	left, err := group.Left(ctx, a.db)
	if err != nil {
		return err
	}
	check.Unchanged = a.report.Mode == SinceClean && len(left) == 0
	check.Whole = !check.Unchanged
	for _, g := range left {
		check.Checked++
		if g.Done == 0 {
			continue // begun, but nothing was done
		}
		check.Violations++
		if len(check.Examples) < a.options.Examples {
			check.Examples = append(check.Examples, Violation{Subject: fmt.Sprintf("group %s (%s)", g.ID, g.Title),
				Expected: fmt.Sprintf("%d of %d done, or none", g.Planned, g.Planned),
				Found:    fmt.Sprintf("%d of %d: 'plimsoll groups' finishes or undoes it", g.Done, g.Planned)})
		}
	}
	a.report.Checks = append(a.report.Checks, check)
	return nil
}
