package diagnose

import (
	"fmt"

	"plimsoll/ground/human"
)

// What looking for a cause comes to:
//
//	found      it takes its part of the time: a problem, or a note
//	unknown    it cannot be told, and why: listed under what is unavailable
//	healthy    it was measured, and is not there or takes less than a note: "not the problem"
//	(nothing)  it takes little by itself, and more of it is in other findings, or the ledger shows time of that kind
//
// Silence is the last one: a sentence that denies what the ledger shows is worse than none.

// healthyOf is what may be said of a cause that was not found; empty: nothing.
func (m *measured) healthyOf(c cause, f *Finding) string {
	switch {
	case c.healthy == "" || m.ledger.TotalS <= 0:
		return ""
	case f != nil && f.partial:
		return ""
	case f != nil && f.there:
		return fmt.Sprintf("%s: it takes %s of the time", f.Title, human.Percent(priceOf(*f)))
	}
	seen := 0.0
	for _, class := range c.denies {
		seen += m.ledger.share(class)
	}
	if seen >= noteFrom.Value {
		return ""
	}
	return c.healthy
}
