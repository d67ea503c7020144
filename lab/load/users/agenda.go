package users

import (
	"container/heap"
	"time"
)

// entry is a user who is due, or in the open model an arrival, with what it brings.
type entry struct {
	due       time.Duration
	number    int32
	operation int32
}

// agenda is the thinking users by due time; equal times by user, so that a run
// can be repeated.
type agenda []entry

func (a agenda) Len() int { return len(a) }
func (a agenda) Less(i, k int) bool {
	return a[i].due < a[k].due || a[i].due == a[k].due && a[i].number < a[k].number
}
func (a agenda) Swap(i, k int) { a[i], a[k] = a[k], a[i] }
func (a *agenda) Push(x any)   { *a = append(*a, x.(entry)) }
func (a *agenda) Pop() any {
	last := (*a)[len(*a)-1]
	*a = (*a)[:len(*a)-1]
	return last
}

func (a *agenda) add(e entry) { heap.Push(a, e) }

// next is the first due time; false when nobody thinks.
func (a agenda) next() (time.Duration, bool) {
	if len(a) == 0 {
		return 0, false
	}
	return a[0].due, true
}

// take removes the first user who is due by now.
func (a *agenda) take(now time.Duration) (entry, bool) {
	if due, any := a.next(); !any || due > now {
		return entry{}, false
	}
	return heap.Pop(a).(entry), true
}
