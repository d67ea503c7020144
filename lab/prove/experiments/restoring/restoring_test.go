package restoring

import (
	"testing"
	"time"

	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
)

// Classic restores slices of the whole month, lean all of it, and the books are right afterwards.
func TestRestoring_SlicesTheWholeMonth(t *testing.T) {
	c := clustertest.Start(t)
	// A slice ends with the first document after its time, so that none does what the next is to find undone.
	b := site.Bench{Documents: 200, Threads: 2, Repetitions: 1, Duration: 50 * time.Millisecond}
	all := restoring(b, func(site.Variant) (*cluster.Cluster, string) { return c, "" }, "",
		[]restoringSide{wholeWarehouse.on(site.Stock), monthTotals.on(site.Stock), setBySet.on(site.Stock)})
	f, err := all.Play(t.Context(), trial.Options{})
	if err != nil {
		t.Fatal(err)
	}
	slices := 0
	for _, figure := range f.Figures {
		if len(figure.Values) == 1 && figure.Values[0] > 0 {
			slices++
		}
	}
	// two sides in slices with the pace of all, lean with its own and the time to the end
	if want := 2*(len(slices10)+1) + 2; slices != want {
		t.Errorf("%d figures, not %d: %+v", slices, want, f.Figures)
	}
}
