package layer

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/problem"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/experiments/sitetest"
	"plimsoll/lab/prove/trial"
	"plimsoll/platform/data/database"
	"plimsoll/platform/worker/shape"
)

// The load must be what its experiments say of it, whichever the chain and whatever lies on the way.
func TestQueryBatch_IsTheLoadThatTheConditionsDescribe(t *testing.T) {
	load := queryBatch{kinds: 2, tables: 10, empty: 0.4, rows: 10, steps: 20}.make()
	dsn, proxy, err := site.Delayed(clustertest.Database(t).Secret(), time.Microsecond)
	if err != nil {
		t.Fatal(err)
	}
	defer proxy.Close()
	for _, chain := range []int{1, 100} {
		db, err := database.Open(t.Context(), dsn, database.Options{Connections: 1, Chain: chain})
		if err != nil {
			t.Fatal(err)
		}
		if err := load.warm(t.Context(), db, 0); err != nil {
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

// Pools that the memory does not hold answer another question.
func TestC18_RefusesAMachineThatWouldSwap(t *testing.T) {
	if err := c18Fits(c18Memory); err != nil {
		t.Error(err)
	}
	err := c18Fits(c18Memory - 1)
	if problem.ClassOf(err) != problem.Usage || !strings.Contains(problem.HintOf(err), "--archive") {
		t.Errorf("%v, hint %q", err, problem.HintOf(err))
	}
}

// A turn after which the delay is not true is no data, and corrects it.
func TestPath_ATurnWhoseDelayIsNotTrueIsMadeAgain(t *testing.T) {
	path := newPath(&site.Address{DSN: clustertest.Database(t).Secret()}, 100*time.Microsecond)
	path.precise = time.Minute // this machine may be busy
	played := 0
	part := path.exact(trial.Part{Rounds: 4, Open: path.open, Series: []trial.Series{{Name: "turn"}},
		Sides: []trial.Side{{Open: func(context.Context, *trial.Record) (trial.Turn, error) {
			return func(context.Context, int) (trial.Figures, error) {
				switch played++; played {
				case 2:
					path.delay -= time.Hour
				case 3:
					path.delay += time.Hour
					if held := path.proxy.Held(); held != 0 {
						t.Errorf("%s is held back, though the round trip took an hour too long", held)
					}
				}
				return trial.Figures{"turn": float64(played)}, nil
			}, nil
		}}}})
	var said []string
	f, err := trial.Trial{Parts: []trial.Part{part}}.Play(t.Context(), trial.Options{
		Say: func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }})
	if err != nil || len(f.Figures) != 1 || !slices.Equal(f.Figures[0].Values, []float64{1, 3, 4, 5}) {
		t.Errorf("%+v, %v", f.Figures, err)
	}
	if want := "is void and repeated: the round trip after it misses the delay"; len(said) != 1 ||
		!strings.Contains(said[0], want) {
		t.Errorf("said was %q", said)
	}
}

// The documents of the experiments are posted by a worker of the shape asked for, each user under an account of its
// own.
func TestDocumentsAreWrittenInTheShapeAskedFor(t *testing.T) {
	defer func(usual int) { site.Warmings = usual }(site.Warmings)
	site.Warmings = 1
	dsn := sitetest.FilledDatabase(t)
	db, err := database.Open(t.Context(), dsn, database.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	bare := trial.Part{Turn: 100 * time.Millisecond, Rounds: 2}
	documents := trial.Trial{Parts: []trial.Part{postedDocuments(&site.Address{DSN: dsn}, bare,
		shape.Tweaks{Chain: 100})}}
	f, err := documents.Play(t.Context(), trial.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Figures) != 6 || f.Figures[0].Name != "posted documents, classic, chains of 100: documents" ||
		len(f.Figures[0].Values) != 2 {
		t.Errorf("finding %+v, want six figures, of two turns each", f)
	}
	var temp, users int64
	err = db.Read(t.Context(), func(w *database.Work) error {
		w.Queue("who posted", "SELECT count(DISTINCT author) FROM plimsoll_operation").Rows(func(r pgx.Rows) error {
			return r.Scan(&users)
		})
		return nil
	})
	o, openErr := openPosting(t.Context(), dsn, classicShape(t), site.NewAccounts())
	if openErr != nil {
		t.Fatal(openErr)
	}
	defer o.close()
	o.Operations = o.Operations[:1]
	if warmErr := o.Warm(t.Context()); warmErr != nil {
		t.Fatal(warmErr)
	}
	if temp = o.db.TempTables().Used(); err != nil || users != site.Clients || temp < 12 {
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
