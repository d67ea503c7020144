package diagnose

import (
	"strings"
	"testing"

	"plimsoll/ground/postgres/waits"
)

// Connections that are hardly ever idle are a note with who has them: a job that works on one thing after the other
// looks the same as a pool in front of which users wait.
func TestPool_ThatIsAlwaysBusyIsANote(t *testing.T) {
	page := func(all, idle int) waits.User {
		return waits.User{Application: "page", User: "web", Database: "shop", All: all, Idle: idle, ForS: 0.004}
	}
	desk := waits.User{Application: "desk", User: "clerk", Database: "shop", All: 5, Idle: 4}
	seen := func(looks ...[]waits.User) func(*measured) {
		return func(m *measured) {
			m.pools = &pools{}
			for _, users := range looks {
				m.pools.take(users)
			}
		}
	}
	times := func(n int, users ...waits.User) (all [][]waits.User) {
		for range n {
			all = append(all, users)
		}
		return all
	}
	report := page(1, 0)
	report.ForS = 40
	full := func(m *measured) { m.host.Busy = new(0.99) }
	for _, c := range []struct {
		name, says string
		change     func(*measured)
	}{
		{"Two", "All 2 connections of page (role web, database shop) are", seen(append(times(9, page(2, 0), desk),
			[]waits.User{page(2, 1), desk})...)},
		{"One", "The one connection of page (role web, database shop) is", seen(times(8, desk, page(1, 0))...)},
		{"IdleHalfOfTheTime", "", seen(append(times(5, page(2, 0)), times(5, page(2, 2))...)...)},
		{"TheirNumberChanges", "", seen(append(times(5, page(2, 0)), times(5, page(3, 0))...)...)},
		{"CameLater", "", seen(append(times(1, desk), times(8, desk, page(2, 0))...)...)},
		{"OneLongReport", "", seen(times(9, report)...)},
		{"TooFewLooks", "", seen(times(3, page(2, 0))...)},
		{"TheProcessorsAreFull", "", together(seen(times(9, page(2, 0))...), full)},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, findings := said(plant(c.change, nil, active(9, "", "SELECT 1")))
			for _, f := range findings {
				if f.Name != poolTooSmall.name {
					continue
				}
				if c.says == "" || !strings.HasPrefix(f.Title, c.says) || f.Level != Note || f.Price != nil {
					t.Errorf("%+v, want a note without a price that says %q", f, c.says)
				}
				c.says = ""
			}
			if c.says != "" {
				t.Errorf("it does not say %q: %+v", c.says, findings)
			}
		})
	}
}
