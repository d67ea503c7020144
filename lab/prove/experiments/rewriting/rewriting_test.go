package rewriting

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/experiments/sitetest"
	"plimsoll/lab/prove/trial"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/worker/jobs"
)

func TestDealt(t *testing.T) {
	for _, c := range []struct {
		jobs, workers int
		want          []int
	}{{50, 1, []int{50}}, {50, 4, []int{13, 13, 12, 12}}, {75, 2, []int{38, 37}}} {
		if got := site.Distribute(c.jobs, c.workers); !slices.Equal(got, c.want) {
			t.Errorf("%d of %d: %v", c.jobs, c.workers, got)
		}
	}
}

func TestOnce_RefusesJobsThatWereNotDoneOnce(t *testing.T) {
	good := func() []jobs.Carried {
		return []jobs.Carried{{N: 0, Workers: []string{"a"}, Done: true}, {N: 1, Workers: []string{"b"}, Done: true},
			{N: 2, Workers: []string{"a"}, Done: true}}
	}
	if err := checkParts(good(), []int{2, 1}); err != nil {
		t.Error(err)
	}
	for name, spoil := range map[string]func([]jobs.Carried) []jobs.Carried{
		"Missing":    func(all []jobs.Carried) []jobs.Carried { return all[:2] },
		"Doubled":    func(all []jobs.Carried) []jobs.Carried { all[1].N = 0; return all },
		"BegunTwice": func(all []jobs.Carried) []jobs.Carried { all[1].Workers = []string{"a", "b"}; return all },
		"NotDone":    func(all []jobs.Carried) []jobs.Carried { all[0].Done = false; return all },
		"AtOne":      func(all []jobs.Carried) []jobs.Carried { all[1].Workers = []string{"a"}; return all },
	} {
		if checkParts(spoil(good()), []int{2, 1}) == nil {
			t.Errorf("%s is taken for done once", name)
		}
	}
}

// Real workers rewrite, one and two of them, large and small; what they acknowledge is what the server has done.
func TestRewriting_IsDoneByWorkersAndProved(t *testing.T) {
	// A worker that gets no processor for a turn loses its parts to another.
	b := site.Bench{Serve: sitetest.Program(t), Duration: 3 * time.Second, Repetitions: 1, Documents: 200}
	all := rewriting(b, &site.Site{Cluster: clustertest.Start(t)}, "", []rewritingSide{
		{"small", 1, 3, small(false)}, {"small, asynchronous", 1, 3, small(true)},
		{"large", 2, 3, posting.Rewriting{Documents: 20}},
	})
	f, err := all.Play(t.Context(), trial.Options{})
	if err != nil || f.Partial {
		t.Fatal(f.Partial, err)
	}
	measured := 0
	for _, figure := range f.Figures {
		paced := strings.HasSuffix(figure.Name, pace)
		if paced || strings.HasSuffix(figure.Name, waitsShare) {
			if measured++; len(figure.Values) != 1 || paced && figure.Values[0] <= 0 {
				t.Errorf("figure %+v, want one value, and a pace above zero", figure)
			}
		}
	}
	if measured != 6 {
		t.Errorf("figures %+v, want pace and waits of three sides", f.Figures)
	}
}

// What nobody acknowledged is found, and books that have changed.
func TestRewriting_ProofFindsWhatWasNotAcknowledged(t *testing.T) {
	dsn := sitetest.FilledDatabase(t)
	b := site.Bench{Serve: sitetest.Program(t)}
	for name, spoil := range map[string]struct {
		sql, want string
	}{
		"RowsTwice": {`WITH gone AS (DELETE FROM acc_stock
			WHERE recorder = (SELECT min(recorder::text)::uuid FROM acc_stock) RETURNING *)
			INSERT INTO acc_stock SELECT * FROM gone`, "the server counted"},
		"Books": {"UPDATE doc_goods_sale SET comment = 'changed'", "the books differ"},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := manage(t.Context(), b, dsn)
			if err != nil {
				t.Fatal(err)
			}
			defer m.close()
			if _, err := m.turn(t.Context(), rewritingSide{"small", 1, 2, small(true)}, 1); err != nil {
				t.Fatal(err)
			}
			change(t, dsn, spoil.sql)
			if err := m.prove(t.Context()); err == nil || !strings.Contains(err.Error(), spoil.want) {
				t.Errorf("%v, want %s", err, spoil.want)
			}
		})
	}
}

func change(t *testing.T, dsn, sql string) {
	t.Helper()
	conn := clustertest.Connect(t, dsn, "")
	defer conn.Close(context.Background())
	tag, err := conn.Exec(t.Context(), sql)
	if err != nil || tag.RowsAffected() == 0 {
		t.Fatalf("%v, error %v: want rows changed", tag, err)
	}
	if _, err := conn.Exec(t.Context(), "SELECT pg_stat_force_next_flush()"); err != nil {
		t.Fatal(err)
	}
}
