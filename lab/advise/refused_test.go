package advise

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/test/patience"
)

// TestApplier is about other people's servers: with few privileges, busy, with hostile objects, and one that does not
// restart.
func TestApplier(t *testing.T) {
	b := newSmall(t)
	for name, test := range map[string]func(*testing.T, *bench){
		"OneRefusalStopsNoOther": oneRefusal, "TheOwnerOfATable": ownerOfATable, "Libraries": severalLibraries,
		"Timeouts": timeoutsOfTheDatabase, "BuildCancelled": buildCancelled, "LockWait": lockWait, "Traps": traps,
		"DroppedIndexIsPutBackWhole": droppedIndex, "DropOfWhatIsNeededNow": neededNow, "OwnIndexAlone": ownIndexAlone,
		"NameOfAnother": nameOfAnother, "RevertGoesOn": revertGoesOn, "Pooler": throughAPooler,
		"CommandLine": overriddenSetting,
	} {
		t.Run(name, func(t *testing.T) { test(t, b) })
	}
}

func oneRefusal(t *testing.T, b *bench) {
	dsn := planted(t, b)
	before := stateOf(t, dsn)
	all := append([]Advice{{ID: "wrong", Changes: []Change{plain("work_mem", "nonsense")}},
		{ID: "gone", Changes: []Change{{Kind: SQL, SQL: "ANALYZE public.gone"}}}}, several()...)
	h := Applier{DSN: dsn, Folder: t.TempDir()}
	out, err := h.Apply(patience.Context(t), all)
	if err == nil || !strings.Contains(err.Error(), "2 of 7 changes were refused") || out == nil ||
		len(out.Steps) != 5 {
		t.Fatalf("%v, %+v", err, out)
	}
	if len(out.Refused) != 2 || out.Refused[0].Advice != "wrong" || !strings.Contains(out.Refused[0].Why, "work_mem") ||
		out.Refused[1].Advice != "gone" || !strings.Contains(out.Refused[1].Why, "does not exist") {
		t.Errorf("refused %+v, want the wrong value and the missing table", out.Refused)
	}
	if _, err := h.Revert(patience.Context(t)); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(before, stateOf(t, dsn)); diff != "" {
		t.Errorf("before -, after the revert +:\n%s", diff)
	}
}

// ownerOfATable may change its indexes, and no setting.
func ownerOfATable(t *testing.T, b *bench) {
	dsn := planted(t, b)
	b.on(t, dsn, "CREATE ROLE clerk LOGIN PASSWORD 'x'", "GRANT pg_monitor TO clerk",
		"ALTER TABLE orders OWNER TO clerk",
		"GRANT CREATE ON SCHEMA public TO clerk")
	t.Cleanup(func() {
		b.on(t, dsn, "REASSIGN OWNED BY clerk TO CURRENT_USER", "DROP OWNED BY clerk", "DROP ROLE clerk")
	})
	h := Applier{DSN: withDatabase(t, dsn, value[string](t, dsn, "SELECT current_database()::text"), "clerk"),
		Folder: t.TempDir()}
	h.DSN = strings.Replace(h.DSN, "password='"+clustertest.Connect(t, dsn, "").Config().Password+"'", "password=x", 1)
	out, err := h.Apply(patience.Context(t), several())
	if err == nil || out == nil || len(out.Refused) != 2 || len(out.Steps) != 3 {
		t.Fatalf("%v, %+v", err, out)
	}
	for _, r := range out.Refused {
		if !strings.Contains(r.Why, "needs a superuser") {
			t.Errorf("refused %+v, want that a superuser is needed", r)
		}
	}
}

// severalLibraries: each advice was given for itself; one that cannot be loaded is in no list.
func severalLibraries(t *testing.T, b *bench) {
	dsn := b.database(t)
	library := func(name string) Advice {
		return Advice{ID: name, Changes: []Change{{Kind: Setting, Name: preloaded, Value: name, Restart: true,
			Library: name}}}
	}
	h := Applier{DSN: dsn, Folder: t.TempDir()}
	out, err := h.Apply(patience.Context(t), []Advice{library("nosuch"), library("pg_stat_statements"),
		library("auto_explain")})
	t.Cleanup(func() { b.on(t, dsn, "ALTER SYSTEM RESET "+preloaded); b.reload(t) })
	if err == nil || out == nil || len(out.Refused) != 1 || out.Refused[0].Advice != "nosuch" {
		t.Fatalf("%v, %+v", err, out)
	}
	if last := out.Steps[1].Change.Value; last != "pg_stat_statements,auto_explain" {
		t.Errorf("%s = %s", preloaded, last)
	}
}

// timeoutsOfTheDatabase are for the application's statements, and a build takes as long as it takes.
func timeoutsOfTheDatabase(t *testing.T, b *bench) {
	dsn := planted(t, b)
	name := value[string](t, dsn, "SELECT current_database()::text")
	reader := dsn + " options='-c statement_timeout=0 -c lock_timeout=0'"
	writer := clustertest.Connect(t, dsn, "")
	run(t, writer, "BEGIN", "INSERT INTO orders VALUES (1)")
	for _, setting := range []string{"statement_timeout", "lock_timeout"} {
		b.on(t, dsn, "ALTER DATABASE "+name+" SET "+setting+" = '100ms'")
	}
	h := Applier{DSN: dsn, Folder: t.TempDir()}
	ended := make(chan error)
	go func() {
		_, err := h.Apply(patience.Context(t), several()[2:3])
		ended <- err
	}()
	patience.Until(t, "the build waits for longer than the timeouts", func() bool {
		select {
		case err := <-ended:
			t.Fatalf("%v; %d indexes are left unfinished", err, unfinished(t, reader))
		default:
		}
		return value[int](t, b.own.DSN(), "SELECT count(*) FROM pg_stat_activity WHERE application_name = '"+ownName+
			"' AND query LIKE 'CREATE%' AND wait_event_type = 'Lock' AND datname = '"+name+
			"' AND clock_timestamp() - state_change > interval '500 ms'") == 1
	})
	run(t, writer, "ROLLBACK")
	if err := <-ended; err != nil || unfinished(t, reader) != 0 {
		t.Errorf("%v; %d indexes are left unfinished", err, unfinished(t, reader))
	}
}

func unfinished(t *testing.T, dsn string) int {
	t.Helper()
	return value[int](t, dsn, "SELECT count(*) FROM pg_index WHERE NOT indisvalid")
}

// buildCancelled by somebody: it is reported, the invalid index is dropped, and the other builds go on.
func buildCancelled(t *testing.T, b *bench) {
	dsn := planted(t, b)
	writer := clustertest.Connect(t, dsn, "")
	run(t, writer, "BEGIN", "INSERT INTO orders VALUES (1)")
	type answer struct {
		out *Outcome
		err error
	}
	h := Applier{DSN: dsn, Folder: t.TempDir()}
	ended := make(chan answer)
	go func() {
		out, err := h.Apply(patience.Context(t), several()[2:])
		ended <- answer{out, err}
	}()
	patience.Until(t, "the build is cancelled", func() bool {
		return value[int](t, dsn, "SELECT count(*) FROM pg_stat_activity WHERE application_name = '"+ownName+
			"' AND query LIKE 'CREATE%' AND wait_event_type = 'Lock' AND datname = current_database() "+
			"AND pg_cancel_backend(pid)") == 1
	})
	run(t, writer, "ROLLBACK")
	a := <-ended
	if a.err == nil || a.out == nil || len(a.out.Refused) != 1 || len(a.out.Steps) != 1 ||
		!strings.Contains(a.out.Refused[0].Why, "cancel") {
		t.Fatalf("%v, %+v", a.err, a.out)
	}
	if n := unfinished(t, dsn); n != 0 && !strings.Contains(a.out.Refused[0].Why, "left unfinished") {
		t.Errorf("%d indexes are left unfinished, and it is said that %+v", n, a.out.Refused)
	}
}

// lockWait: a change of a table waits for others a bounded time.
func lockWait(t *testing.T, b *bench) {
	dsn := planted(t, b)
	other := clustertest.Connect(t, dsn, "")
	run(t, other, "BEGIN", "LOCK TABLE orders IN SHARE UPDATE EXCLUSIVE MODE")
	h := Applier{DSN: dsn, Folder: t.TempDir(), LockWait: 50 * time.Millisecond}
	out, err := h.Apply(patience.Context(t), append(several()[3:], several()[:1]...))
	if err == nil || out == nil || len(out.Refused) != 1 || len(out.Steps) != 2 ||
		!strings.Contains(out.Refused[0].Why, "lock timeout") {
		t.Errorf("%v, %+v", err, out)
	}
}

// traps: a user who may create objects must not be able to make a superuser run their code.
func traps(t *testing.T, b *bench) {
	dsn := planted(t, b)
	sprung := clustertest.Traps(t, dsn)
	h := Applier{DSN: dsn, Folder: t.TempDir()}
	if _, err := h.Apply(patience.Context(t), several()); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(patience.Context(t), Options{DSN: dsn}); err != nil {
		t.Error(err)
	}
	if _, err := h.Revert(patience.Context(t)); err != nil {
		t.Fatal(err)
	}
	if told := sprung(); len(told) > 0 {
		t.Errorf("it ran %d times what a user had planted, such as %q", len(told), told[0])
	}
}

const definedSQL = `SELECT concat_ws('|', pg_get_indexdef(i.oid), s.spcname, obj_description(i.oid), x.indisclustered,
	x.indisvalid, (SELECT string_agg(concat(attnum, ' ', attstattarget), ',') FROM pg_attribute WHERE attrelid = i.oid
	AND attstattarget >= 0), (SELECT count(*) FROM pg_stats WHERE tablename = i.relname))
	FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid LEFT JOIN pg_tablespace s ON s.oid = i.reltablespace
	WHERE i.relname = 'special'`

func droppedIndex(t *testing.T, b *bench) {
	dsn := planted(t, b)
	b.on(t, dsn, "SET allow_in_place_tablespaces = on", "CREATE TABLESPACE apart LOCATION ''")
	t.Cleanup(func() { b.on(t, b.own.DSN(), "DROP TABLESPACE apart") })
	t.Cleanup(func() { b.on(t, dsn, "DROP INDEX special") })
	b.on(t, dsn, `CREATE INDEX special ON orders (id, lower(text), (customer + id)) INCLUDE (text)
		WITH (fillfactor = 70) TABLESPACE apart WHERE customer > 3 AND text <> ' WHERE '`,
		"COMMENT ON INDEX special IS 'for the year''s end'", "ALTER INDEX special ALTER COLUMN 2 SET STATISTICS 77",
		"ALTER INDEX special ALTER COLUMN 3 SET STATISTICS 0", "ANALYZE orders")
	before := value[string](t, dsn, definedSQL)
	drop := index{Schema: "public", Name: "special", Definition: value[string](t, dsn,
		"SELECT pg_get_indexdef('special'::regclass)")}.drop()
	h := Applier{DSN: dsn, Folder: t.TempDir()}
	out, err := h.Apply(patience.Context(t), []Advice{{ID: "special", Changes: []Change{drop}}})
	if err != nil || value[int](t, dsn, "SELECT count(*) FROM pg_class WHERE relname = 'special'") != 0 {
		t.Fatal(err)
	}
	if !strings.Contains(out.Command, "TABLESPACE") || strings.Contains(out.Command, "CONCURRENTLY") {
		t.Errorf("%s, want the tablespace, without CONCURRENTLY", out.Command)
	}
	if _, err := h.Revert(patience.Context(t)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, value[string](t, dsn, definedSQL)); diff != "" {
		t.Errorf("before -, after the revert +:\n%s", diff)
	}
}

// neededNow: since the advice somebody has made the index the one that replication finds rows by.
func neededNow(t *testing.T, b *bench) {
	dsn := planted(t, b)
	b.on(t, dsn, "ALTER TABLE orders CLUSTER ON twice")
	out, err := (Applier{DSN: dsn, Folder: t.TempDir()}).Apply(patience.Context(t), several()[1:2])
	if err == nil || out == nil || len(out.Refused) != 1 ||
		!strings.Contains(out.Refused[0].Why, "needed now by CLUSTER") {
		t.Errorf("%v, %+v", err, out)
	}
}

// ownIndexAlone: an index that somebody else has put in the place of ours stays.
func ownIndexAlone(t *testing.T, b *bench) {
	dsn := planted(t, b)
	h := Applier{DSN: dsn, Folder: t.TempDir()}
	if _, err := h.Apply(patience.Context(t), several()[2:3]); err != nil {
		t.Fatal(err)
	}
	b.on(t, dsn, "DROP INDEX fresh", "CREATE INDEX fresh ON orders (id, customer)")
	out, err := h.Revert(patience.Context(t))
	if err != nil || len(out.Steps) != 1 || out.Steps[0].State != Left ||
		value[int](t, dsn, "SELECT count(*) FROM pg_class WHERE relname = 'fresh'") != 1 {
		t.Errorf("%v, %+v", err, out)
	}
}

// nameOfAnother: an index of that name on other columns is not the one that is missing.
func nameOfAnother(t *testing.T, b *bench) {
	dsn := planted(t, b)
	b.on(t, dsn, "CREATE INDEX fresh ON orders (id, customer)")
	out, err := (Applier{DSN: dsn, Folder: t.TempDir()}).Apply(patience.Context(t), several()[2:3])
	if err == nil || out == nil || len(out.Refused) != 1 ||
		!strings.Contains(out.Refused[0].Why, "another index has its") {
		t.Errorf("%v, %+v", err, out)
	}
}

// revertGoesOn with the other steps where one cannot be undone.
func revertGoesOn(t *testing.T, b *bench) {
	dsn := planted(t, b)
	h := Applier{DSN: dsn, Folder: t.TempDir()}
	if _, err := h.Apply(patience.Context(t), several()); err != nil {
		t.Fatal(err)
	}
	b.on(t, dsn, "DROP TABLE orders")
	out, err := h.Revert(patience.Context(t))
	if err != nil || len(out.Steps) != 5 {
		t.Errorf("%v, %+v", err, out)
	}
	if mem := value[string](t, dsn, "SHOW work_mem"); mem != "7MB" {
		t.Errorf("work_mem is %s: it was not restored", mem)
	}
}

func throughAPooler(t *testing.T, b *bench) {
	dsn := planted(t, b)
	_, err := (Applier{DSN: clustertest.Pooler(t, dsn), Folder: t.TempDir()}).Apply(patience.Context(t), several())
	if err == nil || !strings.Contains(err.Error(), "pooler") || value[string](t, dsn, "SHOW work_mem") != "7MB" {
		t.Errorf("%v, want the pooler refused and work_mem unchanged", err)
	}
}

// overriddenSetting: ALTER SYSTEM writes it, and no session gets it.
func overriddenSetting(t *testing.T, b *bench) {
	dsn := planted(t, b)
	b.on(t, dsn, "ALTER DATABASE "+value[string](t, dsn, "SELECT current_database()::text")+" SET random_page_cost = 3")
	h := Applier{DSN: dsn, Folder: t.TempDir()}
	out, err := h.Apply(patience.Context(t), several()[:1])
	if err != nil || !strings.Contains(out.Needs, "random_page_cost (database)") ||
		strings.Contains(out.Needs, "work_mem") {
		t.Errorf("%v, %+v", err, out)
	}
}
