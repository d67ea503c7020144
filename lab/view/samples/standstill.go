package samples

import (
	"cmp"
	"slices"
	"time"
)

// Standstill is a time in which users waited and nobody got a valid answer, since the start of the ramp.
type Standstill struct {
	FromS float64 `json:"from_s"`
	ToS   float64 `json:"to_s"`
}

// standstills of the steady state, of at least a second and ten times the mean time between answers. One counts from
// when somebody waited for what came at its end, or failed within it.
//
// Ends count by the second, as in a run: users waited whose operation ended in the second of the first answer, or
// failed since the last one. A run that heard of their ends only in the next second knows of the user of that answer
// alone: its standstill may begin that much later, and be too short for one.
func standstills(head Head, rows []Row, arrived int) (all []Standstill, latest []float64) {
	ends := slices.Clone(rows)
	slices.SortStableFunc(ends, func(a, b Row) int { return cmp.Compare(a.Done, b.Done) })
	least := int64(time.Second)
	if arrived > 0 {
		least = max(least, 10*(head.To-head.From)/int64(arrived))
	}
	add := func(from, late, to int64) {
		from, to = max(from, head.From), min(to, head.To)
		if to-from < least {
			return
		}
		all = append(all, Standstill{float64(from) / 1e9, float64(to) / 1e9})
		if late = max(late, head.From); to-late < least {
			late = to
		}
		latest = append(latest, float64(late)/1e9)
	}
	last, failedDue, failedDone := int64(0), int64(-1), int64(0)
	for i, r := range ends {
		if !answered(r) {
			if failedDue < 0 || r.Due < failedDue {
				failedDue = r.Due
			}
			failedDone = r.Done
			continue
		}
		if due := waiting(ends[i:]); r.Done-last >= least {
			if failedDue >= 0 {
				due = min(due, failedDue)
			}
			add(max(last, due), max(last, r.Due), r.Done)
		}
		last, failedDue = r.Done, -1
	}
	if failedDue >= 0 {
		from := max(last, failedDue)
		add(from, from, failedDone)
	}
	return all, latest
}

// waiting is when the first was due of those that ended in the second of the first.
func waiting(ends []Row) int64 {
	due, second := ends[0].Due, ends[0].Done/int64(time.Second)
	for _, r := range ends {
		if r.Done/int64(time.Second) != second {
			break
		}
		due = min(due, r.Due)
	}
	return due
}
