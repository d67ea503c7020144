package slowness

import (
	"errors"
	"slices"
	"testing"
	"time"

	"plimsoll/erp/fill"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/lab/prove/delay"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/experiments/sitetest"
)

// ended are ends that a test makes at its own end, the last first.
func ended(t *testing.T) func(func() error) {
	var ends []func() error
	t.Cleanup(func() {
		for _, end := range slices.Backward(ends) {
			if err := end(); err != nil {
				t.Error(err)
			}
		}
	})
	return func(end func() error) { ends = append(ends, end) }
}

// A desk apart reaches its database through the network alone, each round trip after the delay. A diagnosis of a
// process of its own names the network by what the kernel measures of the connections, though all share this machine.
func TestDesk_InANetworkOfItsOwn(t *testing.T) {
	if why := delay.Impossible(); why != "" {
		t.Skipf("NOT TESTED: cannot be had here, because %s", why)
	}
	defer func(usual int) { site.Warmings = usual }(site.Warmings)
	site.Warmings = 1
	const slow = 2 * time.Millisecond
	b := site.Bench{Serve: sitetest.Program(t), Engine: clustertest.Engine(),
		Clusters: cluster.Open(clustertest.State(t))}
	o := newOffice(b, 0, slow)
	o.scale = fill.ScaleMin
	atEnd := ended(t)
	if err := o.begin(t.Context(), atEnd); err != nil {
		t.Fatal(err)
	}
	// Most connections are those of others, who are near and have nothing to do.
	for range 2 {
		near, err := o.copy(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		others := arrangement{users: 3, network: o.networks[0]}
		if _, err := newDesk(t.Context(), b, near, others, atEnd); err != nil {
			t.Fatal(err)
		}
	}
	dsn, err := o.copy(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	d, err := newDesk(t.Context(), b, dsn, arrangement{users: 1, network: o.networks[slow]}, atEnd)
	if err != nil {
		t.Fatal(err)
	}
	if d.trip < slow {
		t.Errorf("a round trip takes %s, less than its delay", d.trip)
	}
	times, found, err := d.watched(t.Context(), 3*time.Second, 0, 1, d.diagnosed)
	if err != nil {
		t.Fatal(err)
	}
	// begin, statements, commit
	if least := 3 * slow; len(times) == 0 || times[0] < least {
		t.Errorf("documents took %v, at least %s", times, least)
	}
	for _, l := range found.Limits {
		if l.Name == "one core filled" && l.Value != filled {
			t.Errorf("one core is filled from %g on, want %g", l.Value, filled)
		}
	}
	if trip := found.Host.RoundTripS; trip == nil || *trip < slow.Seconds() || !namesNetwork(found) {
		t.Errorf("the kernel's round trip is %v; findings %+v, not told %+v", trip, found.Findings, found.Unavailable)
	}
}

// filled is from when on the diagnosis says that one core is.
const filled = 0.9

// The users of forms must fill the thread, by the bar of the diagnosis, though they ask for less where it is slow.
func TestForms_FillTheThread(t *testing.T) {
	// some of the time goes to interrupts and to the scheduler
	if busy := formsBusy(formUsers, formsBeyond); busy < filled+0.05 {
		t.Errorf("the thread is busy %.3f of the time, the diagnosis names it from %.2f on", busy, filled)
	}
	if busy := formsBusy(formUsers, 1.2); busy > filled {
		t.Errorf("with 1.2 it is busy %.3f: the formula", busy)
	}
	if busy := formsBusy(1, 1); busy != 0.5 {
		t.Errorf("one user who thinks as long as he is served keeps it busy %.3f, want 0.5", busy)
	}
}

// A worker of one thread does all that is asked of it, and its forms come back.
func TestDesk_OfOneThread(t *testing.T) {
	b := site.Bench{Serve: sitetest.Program(t)}
	d, err := newDesk(t.Context(), b, sitetest.FilledDatabase(t), arrangement{users: 1, threads: 1}, ended(t))
	if err != nil {
		t.Fatal(err)
	}
	f, err := openForms(t.Context(), d.worker.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	times, err := f.play(t.Context(), 100*time.Millisecond, 0)
	if err != nil || len(times) < formUsers {
		t.Errorf("%d forms of %d users, %v", len(times), formUsers, err)
	}
	back, err := f.client.Kept(t.Context(), f.sessions[0], "form", nil)
	if err != nil || string(back) != string(f.value) {
		t.Errorf("%d bytes came back of %d, %v", len(back), len(f.value), err)
	}
	figures, err := d.beside(t.Context(), f, &formPace{think: time.Millisecond}, time.Second, 1)
	if err = errors.Join(err, site.CheckAlive(d.worker)); err != nil {
		t.Fatal(err)
	}
	if figures[documentTime] <= 0 || figures[formTime] <= 0 || figures[processors] < 1 {
		t.Errorf("figures %v", figures)
	}
}
