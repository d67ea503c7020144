package fill

import (
	"maps"
	"runtime/debug"
	"sync"
	"syscall"
	"testing"
	"time"

	"plimsoll/test/thorough"
)

// maker makes what a fill would load, and drops it: no database is needed.
type maker struct {
	testing.TB
	*base
	columns map[string][]string
}

func newMaker(tb testing.TB, o Options) maker {
	tb.Helper()
	o.Until = time.Date(2025, 6, 1, 0, 0, 0, 0, time.UTC)
	sizes, err := SizesOf(o)
	if err != nil {
		tb.Fatal(err)
	}
	b := newBase(sizes)
	return maker{tb, b, columnsOf(b.app)}
}

// unit of work and its tally.
func (m maker) unit(produce func(*writer) error) Tally {
	w := newWriter(m.app, m.columns, func(t *table) error {
		t.recycle()
		return nil
	})
	err := produce(w)
	if err == nil {
		err = w.flush()
	}
	if err != nil {
		m.Error(err)
	}
	return w.tally
}

// lists of an organisation, or of none.
func (m maker) lists(of int, lists []list) map[unit]Tally {
	made := map[unit]Tally{}
	for n, some := range cut(lists) {
		made[unit{of, none - n}] = m.unit(func(w *writer) (err error) {
			for i := 0; i < len(some) && err == nil; i++ {
				err = w.list(some[i])
			}
			return err
		})
	}
	return made
}

func (m maker) history(o *organisation) map[unit]Tally {
	made, h := map[unit]Tally{}, m.base.history(o)
	for n := range o.parts {
		made[unit{o.n, n}] = m.unit(func(w *writer) error { return h.part(n, w.document) })
	}
	return made
}

// all units, one after the other.
func (m maker) all() map[unit]Tally {
	made := m.lists(none, m.common())
	for _, o := range m.organisations {
		maps.Copy(made, m.lists(o.n, m.listsOf(o)))
		maps.Copy(made, m.history(o))
	}
	return made
}

func sum(made map[unit]Tally) (all Tally) {
	for _, t := range made {
		all.add(t)
	}
	return all
}

// Tables of a document are used again for another one, of another organisation and in another stream: nothing of what
// they have held shows.
func TestWhatIsUsedAgainShowsNothingOfBefore(t *testing.T) {
	documents := thorough.Or(4000, 2000)
	options := Options{Organisations: 4, Documents: documents, Items: 200, Warehouses: 9, Counterparties: 200, Seed: 11}
	first := newMaker(t, options).all()
	m, together := newMaker(t, options), map[unit]Tally{}
	var mutex sync.Mutex
	var streams sync.WaitGroup
	for _, o := range m.organisations {
		streams.Add(1)
		go func() {
			defer streams.Done()
			made := m.history(o)
			mutex.Lock()
			defer mutex.Unlock()
			maps.Copy(together, made)
		}()
	}
	streams.Wait()
	for u, tally := range together {
		if first[u] != tally {
			t.Errorf("%v: %+v, alone %+v", u, tally, first[u])
		}
	}
	if got := sum(first); got.Documents < int64(documents) || got.Rows < 10*got.Documents {
		t.Errorf("%+v: too little to tell anything", got)
	}
}

// BenchmarkMaking tells what making takes of the processors, which a fill shares with the server it loads.
func BenchmarkMaking(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // as the command has it
	var all Tally
	before := processor()
	for b.Loop() {
		all.add(sum(newMaker(b, Options{Scale: 0.01}).all()))
	}
	took := processor() - before
	b.ReportMetric(took.Seconds()/float64(b.N), "cpu-s/op")
	b.ReportMetric(took.Seconds()*1e6/float64(all.Rows), "cpu-µs/row")
	b.ReportMetric(took.Seconds()*1e6/float64(all.Documents), "cpu-µs/document")
}

func processor() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
