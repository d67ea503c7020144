package experiments

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/erp/fill"
	"plimsoll/lab/claims"
	"plimsoll/lab/cluster/clustertest"
	"plimsoll/lab/ratio"
	"plimsoll/platform/database"
	"plimsoll/platform/shape"
)

func TestBelow(t *testing.T) {
	for name, c := range map[string]struct {
		r       ratio.Ratio
		partial bool
		want    claims.Verdict
	}{
		"Smaller":    {ratio.Ratio{Ratio: 0.5, Low: 0.4, High: 0.9, Confidence: 0.97}, false, claims.Confirmed},
		"Straddling": {ratio.Ratio{Ratio: 0.9, Low: 0.8, High: 1.1, Confidence: 0.97}, false, claims.Inconclusive},
		"Larger":     {ratio.Ratio{Ratio: 1.5, Low: 1.2, High: 1.9, Confidence: 0.97}, false, claims.Refuted},
		"FewTurns":   {ratio.Ratio{Ratio: 0.5, Low: 0.5, High: 0.5, Confidence: 0.9}, false, claims.Inconclusive},
		"Stopped":    {ratio.Ratio{Ratio: 0.5, Low: 0.4, High: 0.9, Confidence: 0.97}, true, claims.Inconclusive},
		"Nothing":    {ratio.Ratio{}, false, claims.Inconclusive},
	} {
		if got, _ := below(c.r, c.partial); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestC15_Judge(t *testing.T) {
	for name, c := range map[string]struct {
		r    ratio.Ratio
		want claims.Verdict
	}{
		"MoreThanClaimed": {ratio.Ratio{Ratio: 1.2, Low: 1.1, High: 1.3, Confidence: 0.97}, claims.Confirmed},
		"SurelyLess":      {ratio.Ratio{Ratio: 1.01, Low: 0.99, High: 1.03, Confidence: 0.97}, claims.Refuted},
		"Noise":           {ratio.Ratio{Ratio: 1.08, Low: 0.98, High: 1.2, Confidence: 0.97}, claims.Inconclusive},
		"FewTurns":        {ratio.Ratio{Ratio: 1.2, Low: 1.1, High: 1.3, Confidence: 0.9}, claims.Inconclusive},
	} {
		if got, _ := (SkippedTruncates{}).judge(c.r, false); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestC16_Judge(t *testing.T) {
	faster := ratio.Ratio{Ratio: 0.5, Low: 0.4, High: 0.6, Confidence: 0.97}
	slower := ratio.Ratio{Ratio: 1.5, Low: 1.4, High: 1.6, Confidence: 0.97}
	unsure := ratio.Ratio{Ratio: 0.9, Low: 0.8, High: 1.1, Confidence: 0.97}
	for name, c := range map[string]struct {
		ratios []ratio.Ratio
		saved  float64
		want   claims.Verdict
	}{
		"AllFasterByEnough": {[]ratio.Ratio{faster, faster, faster}, 120, claims.Confirmed},
		"AllFasterByLittle": {[]ratio.Ratio{faster, faster, faster}, 40, claims.Inconclusive},
		"OneSlower":         {[]ratio.Ratio{slower, faster, faster}, 120, claims.Refuted},
		"OneUnsure":         {[]ratio.Ratio{unsure, faster, faster}, 120, claims.Inconclusive},
		"OneWayMissing":     {[]ratio.Ratio{faster, faster}, 120, claims.Inconclusive},
	} {
		if got, _ := (Chains{}).judge(c.ratios, c.saved, false); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// The load must be what its experiments say of it, whichever the chain and whatever lies on the way.
func TestQueryBatch_IsTheLoadThatTheConditionsDescribe(t *testing.T) {
	load := queryBatch{kinds: 2, tables: 10, empty: 0.4, rows: 10, steps: 20}.make()
	dsn, leave, err := delayed(clustertest.Database(t).Secret(), time.Microsecond)
	if err != nil {
		t.Fatal(err)
	}
	defer leave()
	for _, chain := range []int{1, 100} {
		db, err := database.Open(t.Context(), dsn, database.Options{Connections: 1, Chain: chain})
		if err != nil {
			t.Fatal(err)
		}
		if err := load.warm(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		ctx, counters := database.WithCounters(context.Background())
		if err := load.do(ctx, db, 1); err != nil {
			t.Fatal(err)
		}
		db.Close()
		temp := counters.TempTables
		if temp.Reused != 10 || temp.Created != 0 || temp.Skipped != 4 || temp.Truncates != 6 {
			t.Errorf("chain %d: %+v", chain, temp)
		}
		if one := counters.RoundTrips == counters.Statements; one != (chain == 1) {
			t.Errorf("chain %d: %+v", chain, counters)
		}
	}
}

// The documents of the experiments are posted by a worker of the shape asked for, each user under an account of its own.
func TestDocumentsAreWrittenInTheShapeAskedFor(t *testing.T) {
	dsn := clustertest.Database(t).Secret()
	db, err := database.Open(t.Context(), dsn, database.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := fill.Run(t.Context(), db, fill.Options{Items: 100, Counterparties: 50, Documents: 50}); err != nil {
		t.Fatal(err)
	}
	b := Bench{Duration: 100 * time.Millisecond, Repetitions: 2}
	d, err := b.onDocuments(t.Context(), dsn, b.Duration, b.Repetitions, shape.Tweaks{Chain: 100})
	if err != nil {
		t.Fatal(err)
	}
	f := claims.Finding{}
	d.into(&f, "")
	if len(f.Figures) != 6 || len(f.Conditions) != 1 || d.sides.names[1] != "classic, chains of 100" || len(d.made[0]["documents"]) != 2 {
		t.Errorf("%+v\n%+v", d, f)
	}
	var temp, users int64
	err = db.Read(t.Context(), func(w *database.Work) error {
		w.Queue("who posted", "SELECT count(DISTINCT author) FROM plimsoll_operation").Rows(func(r pgx.Rows) error { return r.Scan(&users) })
		return nil
	})
	o, openErr := open(t.Context(), dsn, classicShape(t))
	if openErr != nil {
		t.Fatal(openErr)
	}
	defer o.close()
	if warmErr := o.warm(t.Context()); warmErr != nil {
		t.Fatal(warmErr)
	}
	if temp = o.db.TempTables().Used(); err != nil || users != clients || temp < 12 {
		t.Errorf("%d users, %d temp tables, %v", users, temp, err)
	}
}

func classicShape(t *testing.T) shape.Shape {
	t.Helper()
	s, err := shape.New(shape.Classic, shape.Tweaks{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
