package cli

import (
	"context"
	"io"
	"strconv"
	"strings"
	"testing"

	"plimsoll/test/patience"
)

// A base that is cloned while the ERP posts has clean books: what was posted until a moment, and nothing of what came
// then. The audit of the copy finds what is planted there.
func TestClone_OfTheERPUnderLoadIsClean(t *testing.T) {
	s := newStand(t)
	plimsoll(t, append(s.upOne, "--log", "replica")...).want(t, ExitOK)
	plimsoll(t, "fill", "--cluster", s.one, "--small").want(t, ExitOK)
	posted := func(cluster string) int {
		o := plimsoll(t, "psql", cluster, "--", "-Atqc", "SELECT count(*) FROM plimsoll_operation")
		n, err := strconv.Atoi(strings.TrimSpace(o.stdout))
		if err != nil {
			t.Fatalf("%v: %+v", err, o)
		}
		return n
	}
	before := posted(s.one)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	ended := make(chan int, 1)
	go func() {
		ended <- Exec(ctx, []string{"run", "--cluster", s.one, "--users", "30", "--think", "300ms", "--ramp", "0s",
			"--duration", "1h"}, nil, io.Discard, io.Discard)
	}()
	patience.Until(t, "the ERP posts", func() bool { return posted(s.one) > before })
	// Slow enough that the ERP posts while it copies.
	plimsoll(t, "clone", "copy", "--of", s.one, "--fast", "--max-rate", "50M").want(t, ExitOK)
	within := posted("copy")
	patience.Until(t, "the ERP goes on", func() bool { return posted(s.one) > within })
	stop()
	if code := <-ended; code != ExitInterrupted {
		t.Errorf("the load ended with %d", code)
	}
	if within <= before {
		t.Errorf("%d operations in the copy, %d before the load", within, before)
	}
	for _, cluster := range []string{"copy", s.one} {
		plimsoll(t, "audit", "--cluster", cluster).want(t, ExitOK)
	}
	plimsoll(t, "psql", "copy", "--", "-qc", "UPDATE acc_stock_totals SET quantity = quantity + 1 WHERE ctid = "+
		"(SELECT min(ctid) FROM acc_stock_totals)").want(t, ExitOK)
	plimsoll(t, "audit", "--cluster", "copy").want(t, ExitThreshold)
	plimsoll(t, "audit", "--cluster", s.one).want(t, ExitOK) // the original is another base
}
