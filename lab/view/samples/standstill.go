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
// A run sees less: it knows of each second the first and the last answer that it heard of, and puts what it hears after
// a standstill of its own into the second in which that began. It cannot miss those that are certain: seconds longer
// than any time within them in which the generator did nothing at all.
func standstills(head Head, rows []Row, arrived int) (all, certain []Standstill) {
	ends := slices.Clone(rows)
	slices.SortStableFunc(ends, func(a, b Row) int { return cmp.Compare(a.Done, b.Done) })
	least := int64(time.Second)
	if arrived > 0 {
		least = max(least, 10*(head.To-head.From)/int64(arrived))
	}
	add := func(from, to int64) {
		from, to = max(from, head.From), min(to, head.To)
		if to-from >= least {
			all = append(all, Standstill{float64(from) / 1e9, float64(to) / 1e9})
		}
	}
	idle := idleTimes(rows)
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
			add(max(last, due), r.Done)
			from, to := max(last, r.Due, head.From), min(r.Done, head.To)
			if to-from-idle(from, to)-heardWithin >= least {
				certain = append(certain, Standstill{float64(from) / 1e9, float64(to) / 1e9})
			}
		}
		last, failedDue = r.Done, -1
	}
	if failedDue >= 0 {
		add(max(last, failedDue), failedDone)
	}
	return all, certain
}

// heardWithin so long of an answer, a run counts it in its second or the next.
const heardWithin = int64(2 * time.Second)

// idleTimes gives the longest time within a stretch in which no operation was sent and none ended.
func idleTimes(rows []Row) func(from, to int64) int64 {
	at := make([]int64, 0, 2*len(rows))
	for _, r := range rows {
		at = append(at, r.Sent, r.Done)
	}
	slices.Sort(at)
	return func(from, to int64) (longest int64) {
		i, _ := slices.BinarySearch(at, from)
		for ; i < len(at) && at[i] < to; i++ {
			longest, from = max(longest, at[i]-from), at[i]
		}
		return max(longest, to-from)
	}
}

// waiting is when the first was due of those that were answered in the second of the first.
func waiting(ends []Row) int64 {
	due, second := ends[0].Due, ends[0].Done/int64(time.Second)
	for _, r := range ends {
		if r.Done/int64(time.Second) != second {
			break
		}
		if answered(r) {
			due = min(due, r.Due)
		}
	}
	return due
}
