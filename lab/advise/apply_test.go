package advise

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/problem"
	"plimsoll/test/patience"
)

func newSmall(t *testing.T) *bench {
	t.Helper()
	return &bench{own: clustertest.Alone(t, map[string]string{"shared_buffers": "1MB"})}
}

// stateOf a server, as files, settings and indexes show it.
func stateOf(t *testing.T, dsn string) map[string]string {
	t.Helper()
	state := map[string]string{}
	for what, sql := range map[string]string{
		"settings": "SELECT string_agg(concat_ws('|', name, setting, source, sourcefile, pending_restart), E'\n' " +
			"ORDER BY name) FROM pg_settings WHERE source NOT IN ('client', 'session')",
		"files": "SELECT string_agg(concat_ws('|', name, setting, sourcefile, applied, error), E'\n' ORDER BY name, " +
			"sourcefile, setting) FROM pg_file_settings",
		"indexes": "SELECT coalesce(string_agg(indexdef, E'\n' ORDER BY indexname), '') FROM pg_indexes WHERE " +
			"schemaname = 'public'",
		"options": "SELECT coalesce(string_agg(relname || reloptions::text, E'\n' ORDER BY relname), '') FROM pg_class",
	} {
		state[what] = value[string](t, dsn, sql)
	}
	return state
}

func plain(name, value string) Change { return Change{Kind: Setting, Name: name, Value: value} }

// several kinds of changes, one of a setting that ALTER SYSTEM has set before.
func several() []Advice {
	return []Advice{
		{ID: "one", Changes: []Change{plain("work_mem", "9MB"), plain("random_page_cost", "1.1")},
			ExpectedGain: &Range{0.1, 0.3}},
		{ID: "two", Changes: []Change{{Kind: SQL, SQL: `DROP INDEX CONCURRENTLY IF EXISTS "public"."twice"`,
			Undo:  "CREATE INDEX CONCURRENTLY IF NOT EXISTS twice ON public.orders USING btree (customer)",
			Index: `"public"."twice"`}}},
		{ID: "three", Changes: []Change{{Kind: SQL, Index: `"public"."fresh"`,
			SQL:  `CREATE INDEX CONCURRENTLY IF NOT EXISTS "fresh" ON "public"."orders" (text)`,
			Undo: `DROP INDEX CONCURRENTLY IF EXISTS "public"."fresh"`}}},
		{ID: "four", Changes: []Change{{Kind: SQL, SQL: `ALTER TABLE "public"."orders" RESET (autovacuum_enabled)`,
			Undo: `ALTER TABLE "public"."orders" SET (autovacuum_enabled = off)`}}},
	}
}

func planted(t *testing.T, b *bench) (dsn string) {
	dsn = b.database(t)
	b.on(t, dsn, orders, "CREATE INDEX twice ON orders (customer)",
		"ALTER TABLE orders SET (autovacuum_enabled = off)", "ALTER SYSTEM SET work_mem = '7MB'")
	b.reload(t)
	t.Cleanup(func() {
		b.on(t, b.own.DSN(), "ALTER SYSTEM RESET work_mem", "ALTER SYSTEM RESET random_page_cost")
		b.reload(t)
	})
	return dsn
}

func roundTrip(t *testing.T, b *bench) {
	dsn := planted(t, b)
	before := stateOf(t, dsn)
	h := Applier{DSN: dsn, Folder: t.TempDir(), Cluster: "here"}
	out, err := h.Apply(patience.Context(t), several())
	if err != nil || len(out.Steps) != 5 || out.Needs != "" {
		t.Fatalf("%v, %+v", err, out)
	}
	if mem := value[string](t, dsn, "SHOW work_mem"); mem != "9MB" {
		t.Errorf("work_mem is %s", mem)
	}
	want := []string{"--set-a work_mem=7168", "--set-b work_mem=9MB", `CREATE INDEX IF NOT EXISTS "fresh"`,
		"plimsoll compare here"}
	for _, text := range want {
		if !strings.Contains(out.Command, text) {
			t.Errorf("the comparison lacks %q: %s", text, out.Command)
		}
	}
	again, err := h.Apply(patience.Context(t), several())
	if err != nil || len(again.Already) != 4 {
		t.Errorf("applied twice: %v, %+v", err, again)
	}
	if _, err := h.Measured(patience.Context(t), Actual{Verdict: "better", Metric: "latency_ms", Gain: 0.2,
		Interval: Range{0.15, 0.25}, Confidence: 0.95}); err != nil {
		t.Fatal(err)
	}
	j, err := h.Journal(patience.Context(t))
	if err != nil || len(j.Applied()) < 5 {
		t.Fatalf("%v, %+v", err, j)
	}
	if text := j.Applied()[0].GainText(); !strings.Contains(text, "expected: 10 % to 30 %") ||
		!strings.Contains(text, "actual: latency_ms 20.0 % lower (15.0 % to 25.0 %, 95 % confidence): better") {
		t.Errorf("gain %s, want the expected and the actual one", text)
	}
	for range 2 { // the second finds nothing to do
		if _, err := h.Revert(patience.Context(t)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before, stateOf(t, dsn)); diff != "" {
			t.Fatalf("before -, after the revert +:\n%s", diff)
		}
	}
}

// stoppedInBetween: wherever it is stopped, the journal knows enough to undo it, or to go on.
func stoppedInBetween(t *testing.T, b *bench) {
	for stop := range 4 {
		t.Run(fmt.Sprint("After", stop), func(t *testing.T) {
			dsn := planted(t, b)
			before := stateOf(t, dsn)
			ctx, cancel := context.WithCancel(patience.Context(t))
			defer cancel()
			lines := 0
			h := Applier{DSN: dsn, Folder: t.TempDir(), Say: func(string, ...any) {
				if lines++; lines > stop {
					cancel()
				}
			}}
			if _, err := h.Apply(ctx, several()); err == nil {
				t.Fatal("it was not stopped")
			}
			h.Say = nil
			if stop%2 == 0 {
				if _, err := h.Apply(patience.Context(t), several()); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := h.Revert(patience.Context(t)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before, stateOf(t, dsn)); diff != "" {
				t.Errorf("before -, after the revert +:\n%s", diff)
			}
		})
	}
}

// buildStopped: an index whose build was cut in two is neither taken for one that is there, nor left behind.
func buildStopped(t *testing.T, b *bench) {
	for name, goesOn := range map[string]bool{"GoesOn": true, "IsReverted": false} {
		t.Run(name, func(t *testing.T) { buildStoppedAnd(t, b, goesOn) })
	}
}

func buildStoppedAnd(t *testing.T, b *bench, goesOn bool) {
	dsn := planted(t, b)
	before := stateOf(t, dsn)
	h := Applier{DSN: dsn, Folder: t.TempDir()}
	writer := clustertest.Connect(t, dsn, "")
	run(t, writer, "BEGIN", "INSERT INTO orders VALUES (1)") // CREATE INDEX CONCURRENTLY waits for its end
	ctx, cancel := context.WithCancel(patience.Context(t))
	defer cancel()
	ended := make(chan error)
	go func() {
		_, err := h.Apply(ctx, several()[2:3])
		ended <- err
	}()
	patience.Until(t, "the index is being built", func() bool {
		return value[int](t, dsn, "SELECT count(*) FROM pg_index WHERE NOT indisvalid") == 1 && value[int](t, dsn,
			"SELECT "+
				"count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()") == 1
	})
	cancel()
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "is left unfinished") {
		t.Fatalf("it was not stopped, or does not say what it leaves: %v", err)
	}
	run(t, writer, "ROLLBACK")
	patience.Until(t, "its session has ended", func() bool {
		return value[int](t, dsn, "SELECT count(*) FROM pg_stat_activity WHERE application_name = '"+ownName+"'") == 0
	})
	if goesOn {
		if _, err := h.Apply(patience.Context(t), several()[2:3]); err != nil {
			t.Fatal(err)
		}
	}
	if n := value[int](t, dsn, "SELECT count(*) FROM pg_index WHERE NOT indisvalid"); goesOn && n != 0 {
		t.Errorf("%d indexes are not finished", n)
	}
	if _, err := h.Revert(patience.Context(t)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, stateOf(t, dsn)); diff != "" {
		t.Errorf("before -, after the revert +:\n%s", diff)
	}
}

func somebodyElse(t *testing.T, b *bench) {
	dsn := planted(t, b)
	h := Applier{DSN: dsn, Folder: t.TempDir()}
	if _, err := h.Apply(patience.Context(t), several()[:1]); err != nil {
		t.Fatal(err)
	}
	b.on(t, dsn, "ALTER SYSTEM SET work_mem = '11MB'")
	out, err := h.Revert(patience.Context(t))
	if err != nil || len(out.Steps) != 2 || out.Steps[1].State != Left {
		t.Errorf("%v, %+v", err, out)
	}
	if mem := value[string](t, dsn, "SHOW work_mem"); mem != "11MB" {
		t.Errorf("work_mem is %s, want what somebody else has set", mem)
	}
}

func restartIsReportedOrDone(t *testing.T, b *bench) {
	dsn := b.database(t)
	was := value[string](t, dsn, "SHOW wal_buffers")
	advice := []Advice{{ID: "log", Changes: []Change{{Kind: Setting, Name: "wal_buffers", Value: "3MB",
		Restart: true}}}}
	h := Applier{DSN: dsn, Folder: t.TempDir()}
	out, err := h.Apply(patience.Context(t), advice)
	if err != nil || !strings.Contains(out.Needs, "restart") || value[string](t, dsn, "SHOW wal_buffers") != was {
		t.Fatalf("%v, %+v", err, out)
	}
	if a := advised(t, dsn).Find("restart:wal_buffers"); a == nil || a.Level != Note {
		t.Errorf("a change that waits for a restart: %+v", a)
	}
	h.Restart = func(ctx context.Context) error {
		if _, bounded := ctx.Deadline(); bounded {
			t.Error("a restart that is given up halfway leaves the server down")
		}
		b.own.Stop()
		b.own.Start()
		return nil
	}
	if out, err := h.Apply(patience.Context(t), advice); err != nil || out.Needs != "" ||
		value[string](t, dsn, "SHOW wal_buffers") != "3MB" {
		t.Errorf("%v, %+v", err, out)
	}
	if _, err := h.Revert(patience.Context(t)); err != nil || value[string](t, dsn, "SHOW wal_buffers") != was {
		t.Errorf("not as before: %v", err)
	}
}

func refusals(t *testing.T, b *bench) {
	dsn := b.database(t)
	r := advised(t, dsn)
	if _, err := r.Choose([]string{"setting:work_memory"}); problem.ClassOf(err) != problem.Usage {
		t.Errorf("an unknown ID: %v, want a usage error", err)
	}
	r.Advice = append(r.Advice, Advice{ID: "person", Level: Problem}, Advice{ID: "note", Level: Note,
		Changes: []Change{plain("work_mem", "9MB")}})
	if _, err := r.Choose([]string{"person"}); problem.ClassOf(err) != problem.Usage {
		t.Errorf("advice for a person: %v, want a usage error", err)
	}
	if chosen, err := r.Choose(nil); err != nil || len(chosen) != 0 {
		t.Errorf("--all takes notes, too: %+v, %v", chosen, err)
	}
	_, err := (Applier{DSN: dsn, Folder: "/proc/nowhere"}).Apply(patience.Context(t), several())
	if err == nil || errors.Is(err, context.Canceled) || value[string](t, dsn, "SHOW work_mem") == "9MB" {
		t.Errorf("changed without a journal: %v", err)
	}
}
