package diagnose

import (
	"slices"

	"plimsoll/ground/postgres/waits"
)

// Kinds of the server's own use of processors, besides those that pg_stat_activity names.
const (
	usedHere      = "sessions of this database"
	usedElsewhere = "sessions of other databases"
	usedEnded     = "processes that have ended"
	usedRest      = "other processes of the server"
)

// Use of processors by one kind of the server's processes, as a share of all cores.
type Use struct {
	Kind  string  `json:"kind"`
	Share float64 `json:"share"`
}

// kindsOf processes, by the census.
func kindsOf(c waits.Census) map[int]string {
	kinds := map[int]string{}
	for _, pid := range c.PIDs {
		kinds[pid] = usedElsewhere
	}
	for _, pid := range c.Own {
		kinds[pid] = usedHere
	}
	for _, p := range c.Background {
		if kinds[p.PID] = p.Kind; p.Kind == kindParallel {
			kinds[p.PID] = usedElsewhere
			if p.Database == c.Database {
				kinds[p.PID] = usedHere
			}
		}
	}
	return kinds
}

// uses of processors by the server's own kinds; the rest of its tree is that of processes which no look met.
func (w *hostWatch) uses(h *Host, length float64) (all []Use) {
	if h.Database == nil || length <= 0 {
		return nil
	}
	by := amounts{}
	sum := 0.0
	for _, p := range w.used {
		if p.database && p.used > 0 {
			share := p.used.Seconds() / length / float64(h.Cores)
			by.add(nonEmpty(p.kind, usedRest), share)
			sum += share
		}
	}
	if rest := *h.Database - sum; rest > 0 {
		by.add(usedEnded, rest)
	}
	for kind, share := range by {
		all = append(all, Use{kind, share})
	}
	slices.SortFunc(all, func(a, b Use) int { return compareDown(a.Share, b.Share, a.Kind, b.Kind) })
	return all
}

// coresOf a kind; nil: not visible.
func (h *Host) coresOf(kind string) *float64 {
	if h == nil || h.Server == nil {
		return nil
	}
	for _, u := range h.Server {
		if u.Kind == kind {
			return new(u.Share * float64(h.Cores))
		}
	}
	return new(0.0)
}

// split of the server's own use of processors: by sessions of other databases, and by processes that serve no client.
// Where it is not known, all is this database's.
func (h *Host) split() (elsewhere, background float64) {
	sum := 0.0
	for _, u := range h.Server {
		switch sum += u.Share; u.Kind {
		case usedElsewhere:
			elsewhere += u.Share
		case usedHere, usedEnded, usedRest: // ended processes were sessions, most of them
		default:
			background += u.Share
		}
	}
	if sum <= 0 {
		return 0, 0
	}
	return elsewhere / sum, background / sum
}
