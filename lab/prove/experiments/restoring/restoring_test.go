package restoring

import (
	"strings"
	"testing"
	"time"

	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/problem"
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
		if len(figure.Values) == 1 && figure.Values[0] > 0 && !strings.HasSuffix(figure.Name, trial.Busy) {
			slices++
		}
	}
	// two sides in slices with the pace of all, lean with its own and the time to the end
	if want := 2*(len(slices10)+1) + 2; slices != want {
		t.Errorf("%d figures, not %d: %+v", slices, want, f.Figures)
	}
}

// Each line of classic code takes a round trip or more, and each of these the delay: no thread is faster than that.
func TestRestoring_TheNetworkDelaysEachStatement(t *testing.T) {
	c := clustertest.Start(t)
	const threads, delay = 2, 10 * time.Millisecond
	b := site.Bench{Documents: 200, Threads: threads, Repetitions: 1, Duration: 50 * time.Millisecond}
	slow := monthTotals.on(site.Stock)
	slow.delay = delay
	all := restoring(b, func(site.Variant) (*cluster.Cluster, string) { return c, "" }, "", []restoringSide{slow})
	f, err := all.Play(t.Context(), trial.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const most = threads * float64(time.Second) / float64(delay)
	for _, figure := range f.Figures {
		if strings.HasSuffix(figure.Name, linePace) && (len(figure.Values) != 1 || figure.Values[0] > most) {
			t.Errorf("%+v, want one of at most %g", figure, most)
		}
	}
}

// A month for which no disk has room is refused before its bases are filled, a small one is not.
func TestRefuseNoRoom(t *testing.T) {
	if err := refuseNoRoom(site.Bench{Documents: 1 << 30}); problem.ClassOf(err) != problem.Environment ||
		!strings.Contains(err.Error(), "too little room") {
		t.Errorf("%v", err)
	}
	if err := refuseNoRoom(site.Bench{Documents: 1}); err != nil {
		t.Error(err)
	}
}
