package rowset

import (
	"maps"
	"sync"
	"sync/atomic"

	"plimsoll/platform/model/metadata"
)

// shelves of released tables. Only bulk producers of documents release any, and of about a hundred kinds; so lookups
// take no lock, and adding a kind replaces the map by a copy.
var (
	shelves  atomic.Pointer[map[kind]*sync.Pool]
	addShelf sync.Mutex
)

func init() { shelves.Store(&map[kind]*sync.Pool{}) }

// kindsMax bounds the kinds of tables that are kept: a caller that describes its columns again for each table gains
// nothing from releasing it.
const kindsMax = 1000

// kind of tables: their columns, identified by the address of the description.
type kind struct {
	first *metadata.Attribute
	n     int
}

func kindOf(attributes []metadata.Attribute) kind { return kind{&attributes[0], len(attributes)} }

// releasedRows is the capacity up to which a released table is kept: a large one would waste memory on few rows.
const releasedRows = 50

// Release says that the table and its columns are no longer used, so that New may reuse them for the same attributes.
// Releasing twice is a bug.
func (t *Table) Release() {
	if t.released {
		panic("rowset: a released table is not in use")
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

// released is an empty table of the attributes; nil if there is none.
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
