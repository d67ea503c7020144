package run

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"plimsoll/lab/run/result"
)

// sawing is a heap that is collected every 50 s, on top of what stays.
func sawing(second int) float64 { return 50e6 + 1e6*float64(second%50) }

func TestMemoryTrends(t *testing.T) {
	m := &meter{}
	for second := 0; second <= 700; second += 5 {
		generator, workers := sawing(second), sawing(second)+40e3*float64(second)
		look := memoryLook{at: time.Duration(second) * time.Second}
		look.held[generatorCPU], look.held[workersCPU] = &generator, &workers
		m.memories = append(m.memories, look)
	}
	const from, to = 100 * time.Second, 700 * time.Second
	all := map[string]result.Memory{}
	for _, one := range m.memoryTrends(from, to) {
		all[one.Of] = one
	}
	t.Run("SawOfCollectionsIsNoGrowth", func(t *testing.T) {
		if g := all["generator"]; g.Grows() || g.Growth() > 0.02 || g.Growth() < -0.02 {
			t.Errorf("%+v: %.3f", g, g.Growth())
		}
	})
	t.Run("LeakIs", func(t *testing.T) {
		// 40 kB/s over 200 s between the middles of the halves
		if w := all["workers"]; !w.Grows() || w.Last-w.First < 7.5e6 || w.Last-w.First > 8.5e6 || w.Max < w.Last {
			t.Errorf("%+v: %.3f", w, w.Growth())
		}
	})
	t.Run("WarmUpIsLeftOut", func(t *testing.T) {
		if g := all["generator"]; g.FromS != 300 || g.ToS != 700 {
			t.Errorf("want 300 s to 700 s, got %+v", g)
		}
	})
	t.Run("UnknownIsLeftOut", func(t *testing.T) {
		if _, found := all["database"]; found {
			t.Errorf("want no figures of the database, got %+v", all)
		}
	})
	t.Run("ShortRunsTellNothing", func(t *testing.T) {
		if all := m.memoryTrends(from, from+MemorySteadyMin-1); all != nil {
			t.Errorf("want no trend, got %+v", all)
		}
	})
}

func TestMemoryIsLookedAtEveryFewSeconds(t *testing.T) {
	m := &meter{}
	for _, at := range []float64{0, 1, 2, 3.9, 5.01, 6, 9.8, 11, 14.9, 15.1} {
		m.lookAtMemory(time.Duration(at * float64(time.Second)))
	}
	var looked []float64
	for _, look := range m.memories {
		looked = append(looked, look.at.Seconds())
		if look.held[generatorCPU] == nil || look.held[workersCPU] != nil || look.held[databaseCPU] != nil {
			t.Errorf("at %v: %+v", look.at, look.held)
		}
	}
	if diff := cmp.Diff([]float64{0, 5.01, 9.8, 14.9}, looked); diff != "" {
		t.Error(diff)
	}
	if m.memoryAt(generatorCPU, -1) != nil ||
		m.memoryAt(generatorCPU, time.Second) != m.memories[0].held[generatorCPU] ||
		m.memoryAt(generatorCPU, time.Hour) != m.memories[3].held[generatorCPU] ||
		m.memoryAt(workersCPU, time.Hour) != nil {
		t.Error("not the last that was known")
	}
}
