package trial

import (
	"runtime"
	"slices"
	"time"

	"plimsoll/ground/host/cpu"
)

// Busy is how busy the processors are in a turn, in percent: whether a machine is idle or full changes most answers.
// The engine measures it where a part declares it and the turn itself does not.
const Busy = "processors busy"

// BusySeries declares it.
var BusySeries = Series{Name: Busy, Unit: "%"}

// watchProcessors from now on; the end adds the figure.
func (p Part) watchProcessors() func(Figures) {
	if !slices.ContainsFunc(p.Series, func(s Series) bool { return s.Name == Busy }) {
		return func(Figures) {}
	}
	before, err := cpu.ReadSystem()
	began := time.Now()
	return func(f Figures) {
		after, afterErr := cpu.ReadSystem()
		if _, has := f[Busy]; has || f == nil || err != nil || afterErr != nil {
			return
		}
		f[Busy] = 100 * (after.Busy - before.Busy).Seconds() / time.Since(began).Seconds() / float64(runtime.NumCPU())
	}
}
