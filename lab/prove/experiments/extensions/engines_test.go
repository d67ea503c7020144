package extensions

import (
	"context"
	"errors"
	"testing"

	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/postgres/installation"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
)

// The measures must see on real servers what the claims speak of, or a verdict would be one on nothing.
func TestMeasuresOfExtensions_OnBothFlavours(t *testing.T) {
	for _, flavour := range []string{installation.Vanilla, installation.Plimsoll} {
		if _, err := installation.Find(t.Context(), flavour); err != nil {
			t.Skipf("the flavour %s is not built: %v", flavour, err)
		}
	}
	s := &site.Site{}
	clusters := cluster.Open(clustertest.State(t))
	err := site.BothFlavours(c17Settings...).Open(t.Context(), site.Bench{Clusters: clusters}, s)
	if err == nil {
		t.Run("AllAreCarried", func(t *testing.T) { seesExtensions(t, s) })
		t.Run("SearchFindsWhatIsThere", func(t *testing.T) { seesMatches(t, s) })
		t.Run("JoinsFindTheirRows", func(t *testing.T) { seesJoins(t, s) })
	}
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
}

// turned plays one turn of one side.
func turned(t *testing.T, measure func(context.Context, *trial.Record) (trial.Figures, error)) (f trial.Figures) {
	t.Helper()
	part := trial.Part{Rounds: 1, Counted: true, Sides: []trial.Side{{Name: "one",
		Open: func(_ context.Context, r *trial.Record) (trial.Turn, error) {
			return func(ctx context.Context, _ int) (_ trial.Figures, err error) {
				f, err = measure(ctx, r)
				return f, err
			}, nil
		}}}}
	made, err := trial.Trial{Parts: []trial.Part{part}, Rules: trial.Rules{Checks: []trial.Check{
		{Name: checkMatches, Want: "right"}, {Name: checkJoined, Want: "right"}}}}.Play(t.Context(),
		trial.Options{Say: t.Logf})
	if err != nil || len(f) == 0 {
		t.Fatalf("%+v, %v", made, err)
	}
	return f
}

func seesExtensions(t *testing.T, s *site.Site) {
	for _, v := range []site.Variant{site.Stock, site.Ours} {
		for _, one := range allCarried {
			f := turned(t, func(ctx context.Context, r *trial.Record) (trial.Figures, error) {
				return one.try(ctx, s.Servers, v, r)
			})
			if f[works] != 1 {
				t.Errorf("%s does not work on %s", one.name, v.Name)
			}
		}
	}
	if f := turned(t, func(ctx context.Context, r *trial.Record) (trial.Figures, error) {
		return notCarried.try(ctx, s.Servers, site.Stock, r)
	}); f[works] != 0 {
		t.Error("what is not there works")
	}
}

func seesMatches(t *testing.T, s *site.Site) {
	shape := likeShape{10_000, 2}
	if err := makeLikeTable(t.Context(), s.Servers, shape); err != nil {
		t.Fatal(err)
	}
	for _, way := range []string{genericMatcher, searched} {
		f := turned(t, func(ctx context.Context, r *trial.Record) (trial.Figures, error) {
			return search(ctx, s.Servers, r, way, shape)
		})
		if f[queryTime] <= 0 {
			t.Errorf("%s: %v", way, f)
		}
	}
}

func seesJoins(t *testing.T, s *site.Site) {
	const rows = 500
	if err := makeRegister(t.Context(), s.Servers, 10*rows); err != nil {
		t.Fatal(err)
	}
	for _, v := range []site.Variant{site.Stock, site.Ours} {
		for _, way := range waysOf(v) {
			for _, shape := range c35Shapes {
				f := turned(t, func(ctx context.Context, r *trial.Record) (trial.Figures, error) {
					return joinBatch(ctx, s.Servers, r, v, way, rows, shape)
				})
				if f[batchTime] <= 0 {
					t.Errorf("%s: %v", joinSide(v, way, rows, shape), f)
				}
			}
		}
	}
}
