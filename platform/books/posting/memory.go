package posting

import (
	"errors"
	"time"

	"plimsoll/platform/books/register"
)

// memory holds the layers of keys while documents take from them in the order of time.
type memory struct {
	register *register.Register
	open     *register.Aged
	queues   map[string]*queue
	since    map[string]time.Time // by layer
}

// queue is the rows of a key's layers that are not used up, oldest first.
type queue struct{ rows []int }

func newMemory(r *register.Register, open *register.Aged) *memory {
	m := &memory{r, open, map[string]*queue{}, make(map[string]time.Time, len(open.Since))}
	for row, since := range open.Since {
		key := r.Leading(open.Keys, row)
		if m.queues[key] == nil {
			m.queues[key] = &queue{}
		}
		m.queues[key].rows = append(m.queues[key].rows, row)
		m.since[r.Key(open.Keys, row)] = since
	}
	return m
}

// addLayers adds as many layers of each key as the required quantity needs.
func (m *memory) addLayers(given *register.Layers, required map[string]int64) map[string]time.Time {
	var rows []int
	for _, key := range sortedKeys(required) {
		if m.queues[key] == nil {
			continue // the rules will refuse
		}
		left := required[key]
		for _, row := range m.queues[key].rows {
			if left <= 0 {
				break
			}
			rows = append(rows, row)
			left -= resource(m.open.Left, row, 0)
		}
	}
	given.Keys.Add(m.open.Keys, rows)
	given.Left.Add(m.open.Left, rows)
	return m.since
}

// take reduces the oldest layer by a movement.
func (m *memory) take(key, layer string, moved *register.Movements, row int) error {
	q := m.queues[key]
	if q == nil || len(q.rows) == 0 || m.register.Key(m.open.Keys, q.rows[0]) != layer || !moved.Expense[row] {
		return errors.New("the rules use layers in a different order than they were given")
	}
	m.register.Take(m.open.Left, q.rows[0], moved, row)
	if resource(m.open.Left, q.rows[0], 0) == 0 {
		q.rows = q.rows[1:]
	}
	return nil
}
