package replay

import (
	"container/heap"
	"time"
)

// following watches whether statements follow each other as in the log: one that began there after another had ended
// must do so here.
type following struct {
	under byEnd         // those given that may not have ended here
	slack time.Duration // of the log's clock
}

// given: a statement was handed to its session.
func (f *following) given(t *turn) { heap.Push(&f.under, t) }

// begins a statement; false: one that had ended before it in the log has not ended here.
func (f *following) begins(t *turn) bool {
	for len(f.under) > 0 && f.under[0].ended {
		heap.Pop(&f.under)
	}
	return len(f.under) == 0 || f.under[0] == t || !f.under[0].end().Add(f.slack).Before(t.Begun)
}

// end of a statement in the log.
func (s *statement) end() time.Time { return s.Begun.Add(s.Took) }

// byEnd is a heap, what ended first in the log on top.
type byEnd []*turn

func (h byEnd) Len() int           { return len(h) }
func (h byEnd) Less(i, j int) bool { return h[i].end().Before(h[j].end()) }
func (h byEnd) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *byEnd) Push(x any)        { *h = append(*h, x.(*turn)) }
func (h *byEnd) Pop() any {
	old := *h
	last := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return last
}
