package rowset

import (
	"maps"
	"sync"
	"sync/atomic"

	"plimsoll/platform/metadata"
)

// shelves of tables that were released. Only who makes millions of documents in a row releases any, and then of a hundred kinds, so they are looked up
// without a lock and replaced by a copy when one is added.
var (
	shelves  atomic.Pointer[map[kind]*sync.Pool]
	addShelf sync.Mutex
)

func init() { shelves.Store(&map[kind]*sync.Pool{}) }

// kindsMax is how many kinds of tables are kept: who describes the same columns anew for each table has nothing of releasing it.
const kindsMax = 1000

// kind of tables: what columns they have, by where these are described.
type kind struct {
	first *metadata.Attribute
	n     int
}

func kindOf(attributes []metadata.Attribute) kind { return kind{&attributes[0], len(attributes)} }

// releasedRows a table may have that is kept: in a long one few rows would take much room.
const releasedRows = 50

// Release says that nobody looks at a table any more, nor at a column of it: a new one of the same attributes may be made of it. To say so twice is a mistake of
// the program.
func (t *Table) Release() {
	if t.released {
		panic("rowset: a table is released that nobody has")
	}
	if t.released = true; len(t.Attributes) == 0 || t.rows > releasedRows {
		return
	}
	if shelf := shelfOf(kindOf(t.Attributes)); shelf != nil {
		shelf.Put(t)
	}
}

func shelfOf(k kind) *sync.Pool {
	all := *shelves.Load()
	if shelf := all[k]; shelf != nil || len(all) >= kindsMax {
		return shelf
	}
	addShelf.Lock()
	defer addShelf.Unlock()
	more := maps.Clone(*shelves.Load())
	if more[k] == nil {
		more[k] = &sync.Pool{}
	}
	shelves.Store(&more)
	return more[k]
}

// released table of the attributes, with no rows; nil when there is none.
func released(attributes []metadata.Attribute) *Table {
	all := *shelves.Load()
	if len(all) == 0 || len(attributes) == 0 {
		return nil
	}
	shelf := all[kindOf(attributes)]
	if shelf == nil {
		return nil
	}
	t, _ := shelf.Get().(*Table)
	if t != nil {
		t.rows, t.released = 0, false
		for _, c := range t.columns {
			c.empty()
		}
	}
	return t
}
