package users

// queue is the users who are due but wait for a slot, first come, first served.
type queue struct {
	entries []entry
	head    int
}

func (q *queue) len() int { return len(q.entries) - q.head }

func (q *queue) add(e entry) {
	// Take up the room of those who have gone once it is half of all: each entry is
	// then moved once on average.
	if q.head > len(q.entries)/2 {
		q.entries, q.head = q.entries[:copy(q.entries, q.entries[q.head:])], 0
	}
	q.entries = append(q.entries, e)
}

func (q *queue) take() entry {
	q.head++
	return q.entries[q.head-1]
}
