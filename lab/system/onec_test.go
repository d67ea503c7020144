package system_test

import (
	"context"
	"strings"
	"testing"

	"plimsoll/lab/load/onec"
	"plimsoll/lab/load/scenario"
	"plimsoll/lab/system"
)

// Systems of a 1C load differ by cluster and outfit; the base of each kind of texts is filled once.
func TestUp_OfA1CLoad(t *testing.T) {
	ctx, clusters := context.Background(), store(t)
	if _, err := clusters.Create(ctx, "test", spec()); err != nil {
		t.Fatal(err)
	}
	var said progressLog
	l := local(clusters, &said)
	l.OneC.Sizes = onec.Sizes{Documents: 24, Items: 8, Partners: 4, Warehouses: 4}
	plain, most := on(t, "test+plain", scenario.OneC), on(t, "test", scenario.OneC)
	down, err := l.Up(ctx, letter, plain, most)
	if err != nil {
		t.Fatal(err)
	}
	if plain.Outfit != onec.Plain || !strings.Contains(plain.Run.DSN, "/onec_plain?") ||
		!strings.Contains(plain.Run.Scale, "plain texts: 24 documents, 8 items") {
		t.Errorf("%s: %s, %s", plain.Name, plain.Outfit, plain.Run.Scale)
	}
	server, err := onec.Probe(ctx, plain.Run.DSN)
	if err != nil {
		t.Fatal(err)
	}
	if want, _ := onec.Auto.On(server); most.Outfit != want {
		t.Errorf("the most that the server has is %s, not %s", want, most.Outfit)
	}
	for _, y := range []*system.System{plain, most} {
		report, err := onec.Audit(ctx, y.Run.DSN, nil)
		if err != nil || !report.Clean() || y.Run.Profile == "" || y.Restarts() == nil {
			t.Errorf("%s: %+v, %v", y.Name, report, err)
		}
	}
	if err := down(); err != nil {
		t.Error(err)
	}
	before := len(said.all)
	if down, err = l.Up(ctx, letter, on(t, "test+plain", scenario.OneC)); err != nil {
		t.Fatal(err)
	}
	for _, line := range said.all[before:] {
		if strings.Contains(line, "filled") {
			t.Errorf("filled again: %s", line)
		}
	}
	if err := down(); err != nil {
		t.Error(err)
	}
}

func TestOn_RefusesUnknownOutfits(t *testing.T) {
	y := on(t, "test", scenario.OneC)
	for _, text := range []string{"test+lean", "test+", "+plain"} {
		if _, err := y.On(text); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
}
