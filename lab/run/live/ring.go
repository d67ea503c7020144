package live

// ring keeps the most recent items.
type ring[T any] struct {
	most    int
	items   []T // from first on, wrapping around
	first   int
	dropped int64 // number of the last dropped item; 0: none
	number  func(T) int64
}

func newRing[T any](most int, number func(T) int64) ring[T] {
	return ring[T]{most: most, number: number}
}

func (r *ring[T]) add(item T) {
	if len(r.items) < r.most {
		r.items = append(r.items, item)
		return
	}
	r.dropped = r.number(r.items[r.first])
	r.items[r.first] = item
	r.first = (r.first + 1) % r.most
}

func (r *ring[T]) len() int { return len(r.items) }

// at counts from the oldest item.
func (r *ring[T]) at(i int) T { return r.items[(r.first+i)%len(r.items)] }

// since returns the items with numbers above n, oldest first.
func (r *ring[T]) since(n int64) []T {
	var news []T
	from := r.len()
	for from > 0 && r.number(r.at(from-1)) > n {
		from--
	}
	for ; from < r.len(); from++ {
		news = append(news, r.at(from))
	}
	return news
}

// tail returns at most the last n items, oldest first.
func (r *ring[T]) tail(n int) []T {
	var last []T
	for i := max(0, r.len()-n); i < r.len(); i++ {
		last = append(last, r.at(i))
	}
	return last
}
