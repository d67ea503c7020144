package confusion

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/problem"
	"plimsoll/lab/load/scenario"
	"plimsoll/lab/load/script"
	"plimsoll/lab/prove/confusion/incident"
	"plimsoll/test/patience"
)

// TestCures: each incident that says how it is cured is planted under names that a person reads, a copy of its database
// is cured, and both are there with a scenario of what works in them.
func TestCures_CanBePlayed(t *testing.T) {
	s := stageFor(t, clustertest.Engine())
	if len(incident.Curable()) < 4 {
		t.Errorf("%d incidents can be cured, want four at least", len(incident.Curable()))
	}
	for _, f := range incident.Curable() {
		t.Run(f.Name, func(t *testing.T) {
			ctx := patience.Context(t)
			c := &Cure{Fault: f.Name, Does: f.Does, Engine: s.engine, Seed: SeedDefault, theatre: s}
			if err := c.open(ctx, f); err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := c.episode.end(); err != nil {
					t.Error(err)
				}
			}()
			for _, w := range c.episode.faults[0].Work {
				c.episode.start(w)
			}
			if err := c.episode.plant(ctx); err != nil {
				t.Fatal(err)
			}
			if err := c.cure(ctx); err != nil {
				t.Fatal(err)
			}
			if len(c.Cured) == 0 {
				t.Error("it does not say how it is cured")
			}
			for name, side := range map[string]CureSide{"shop": c.Sick, "shop_cured": c.Whole} {
				read, err := scenario.Read(side.Scenario)
				if err != nil {
					t.Fatalf("%v: %s", err, problem.HintOf(err))
				}
				if !strings.HasPrefix(read.Title, name+": ") {
					t.Errorf("title %q", read.Title)
				}
			}
			conn, err := pgconn.Connect(ctx, c.Whole.DSN)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close(ctx)
			for _, w := range append(c.episode.faults[0].After(), c.episode.load.Work...) {
				if err := w.Script.Run(ctx, conn, script.Extended, &script.Environment{
					Variables: map[string]script.Value{}, RNG: rand.New(rand.NewPCG(1, 1))}); err != nil {
					t.Errorf("%s in the cured database: %v", w.App, err)
				}
			}
		})
	}
	s.nothingLeft(t)
}

func TestPlayCure_NamesThoseThatCanBe(t *testing.T) {
	o := Options{Clusters: cluster.Open(clustertest.State(t)), Spec: clustertest.Spec()}
	for _, name := range []string{"hot-row", "random-keys", "nothing"} {
		_, err := PlayCure(t.Context(), o, name)
		if problem.ClassOf(err) != problem.Usage || !strings.Contains(problem.HintOf(err), "function-on-column") {
			t.Errorf("%s: %v (%s)", name, err, problem.HintOf(err))
		}
	}
}
