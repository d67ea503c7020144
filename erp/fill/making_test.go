package fill

import (
	"context"
	"runtime/debug"
	"syscall"
	"testing"
	"time"
)

// made drains what a fill of some sizes makes, without a database: what there is to be loaded.
func made(tb testing.TB, o Options) (all Tally, units map[unit]Tally) {
	tb.Helper()
	sizes, err := SizesOf(o)
	if err != nil {
		tb.Fatal(err)
	}
	f := &filler{streams: 1, base: newBase(sizes), journal: &journal{units: map[unit]Tally{}}}
	columns := columnsOf(f.base.app)
	units = map[unit]Tally{}
	drain := func(u unit, produce func(*writer) error) {
		w := newWriter(f.base.app, columns, func(t *table) error {
			t.recycle()
			return nil
		})
		if err := produce(w); err != nil {
			tb.Fatal(err)
		}
		if err := w.flush(); err != nil {
			tb.Fatal(err)
		}
		all.add(w.tally)
		units[u] = w.tally
	}
	for i := range 1 + len(f.base.organisations) {
		lists := f.base.common()
		if i > 0 {
			lists = f.base.own(f.base.organisations[i-1])
		}
		for n, some := range cut(lists) {
			drain(unit{i - 1, none - n}, func(w *writer) error {
				for _, l := range some {
					if err := w.list(l); err != nil {
						return err
					}
				}
				return nil
			})
		}
	}
	for _, o := range f.base.organisations {
		h := f.base.history(o)
		for n := range o.parts {
			drain(unit{o.n, n}, func(w *writer) error { return h.part(n, w.document) })
		}
	}
	return all, units
}

// What making takes of the processor, which a fill shares with the server: go test ./erp/fill -run '^$' -bench Making.
func BenchmarkMaking(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // as the command has it
	for b.Loop() {
		before := processor()
		all, _ := made(b, Options{Scale: 0.01, Until: time.Date(2025, 6, 1, 0, 0, 0, 0, time.UTC)})
		b.ReportMetric((processor()-before).Seconds()*1e6/float64(all.Rows), "cpu-µs/row")
		b.ReportMetric((processor() - before).Seconds(), "cpu-s")
		b.Logf("%+v", all)
	}
	_ = context.Background
}

func processor() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
