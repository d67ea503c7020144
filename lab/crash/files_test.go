package crash_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/postgres/cluster/profile"
	"plimsoll/ground/postgres/storage"
	"plimsoll/lab/crash"
	"plimsoll/lab/crash/image"
	"plimsoll/test/thorough"
)

// filesBefore is there when the journal begins; filesLoad makes, renames and removes files of every kind.
const (
	filesBefore = `CREATE EXTENSION amcheck; CREATE TABLE kept (id int PRIMARY KEY, note text);
		INSERT INTO kept SELECT n, repeat('k', 300) FROM generate_series(1, 500) n;
		CREATE TABLE gone AS SELECT * FROM kept; CREATE TABLE emptied AS SELECT * FROM kept`
	filesLoad = `CREATE TABLE made (id int PRIMARY KEY, note text);
		INSERT INTO made SELECT n, repeat('m', 300) FROM generate_series(1, 500) n; CHECKPOINT; VACUUM FULL kept;
		VACUUM FULL pg_class; REINDEX TABLE made; TRUNCATE emptied; DROP TABLE gone; SELECT pg_switch_wal();
		CREATE DATABASE logged STRATEGY wal_log; CREATE DATABASE copied STRATEGY file_copy; CHECKPOINT`
)

// recorded is a server's journal of filesLoad and of single rows behind it.
func recorded(t *testing.T) (c *cluster.Cluster, records []storage.Record, begin uint64) {
	t.Helper()
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skipf("NOT TESTED: no C compiler: %v", err)
	}
	spec := clustertest.Copied(clustertest.Spec())
	spec.Unsafe = false
	c, err := cluster.Open(clustertest.State(t)).Create(t.Context(), "files", spec)
	if err != nil {
		t.Fatal(err)
	}
	execute(t, c, cluster.StartOptions{}, filesBefore)
	if err := c.KeepData(t.Context()); err != nil {
		t.Fatal(err)
	}
	dir, err := c.JournalDir()
	if err != nil {
		t.Fatal(err)
	}
	rows := ""
	for n := range 40 {
		rows += fmt.Sprintf("; INSERT INTO made VALUES (%d, 'm')", 1000+n)
		if n%20 == 10 {
			rows += "; CHECKPOINT"
		}
	}
	begin = execute(t, c, cluster.StartOptions{Journal: dir}, filesLoad, strings.TrimPrefix(rows, "; "))
	journal, err := storage.ReadJournal(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = journal.Close() })
	return c, journal.Records, begin
}

// execute statements on the server while it runs, and give the journal's last record before the last of the texts.
func execute(t *testing.T, c *cluster.Cluster, options cluster.StartOptions, texts ...string) (begin uint64) {
	t.Helper()
	p, err := c.Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := p.Stop(context.WithoutCancel(t.Context()), cluster.Fast); err != nil {
			t.Error(err)
		}
	}()
	conn, err := pgx.Connect(t.Context(), c.SocketDSN("").Secret())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	for _, text := range texts {
		if options.Journal != "" {
			state, err := storage.OpenState(options.Journal)
			if err != nil {
				t.Fatal(err)
			}
			begin = state.Last()
			if err := errors.Join(state.Err(), state.Close()); err != nil {
				t.Fatal(err)
			}
		}
		for sql := range strings.SplitSeq(text, ";") {
			if _, err := conn.Exec(t.Context(), sql); err != nil {
				t.Fatalf("%s: %v", sql, err)
			}
		}
	}
	return begin
}

// faultsAfter a cut of the power are what is missing or damaged.
func faultsAfter(t *testing.T, c *cluster.Cluster, records []storage.Record, cut image.Cut) (faults []string) {
	t.Helper()
	err := c.Rewind(t.Context(), func(data string) error {
		_, err := image.Build(c.KeptData(), data, records, cut)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	p, err := c.Start(t.Context(), cluster.StartOptions{Settings: []profile.Setting{{Name: "fsync", Value: "off"}}})
	if err != nil {
		return []string{"it does not start: " + err.Error()}
	}
	defer func() {
		if err := p.Kill(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}()
	for database, sql := range map[string]string{
		"": `SELECT (SELECT count(*) >= 500 FROM made) AND (SELECT count(*) = 500 FROM kept)
			AND (SELECT count(*) = 0 FROM emptied) AND to_regclass('gone') IS NULL`,
		"logged": "SELECT count(*) > 300 FROM pg_class", "copied": "SELECT count(*) > 300 FROM pg_class"} {
		faults = append(faults, faultsIn(t, c, database, sql)...)
	}
	return faults
}

func faultsIn(t *testing.T, c *cluster.Cluster, database, sql string) []string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), c.SocketDSN(database).Secret())
	if err != nil {
		return []string{err.Error()}
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	var whole bool
	if err := conn.QueryRow(t.Context(), sql).Scan(&whole); err != nil {
		return []string{err.Error()}
	}
	if !whole {
		return []string{"rows are missing in database " + database}
	}
	if database != "" {
		return nil
	}
	faults, err := crash.Amcheck(t.Context(), conn)
	if err != nil {
		t.Fatal(err)
	}
	return faults
}

// PostgreSQL bears the strict model: what it makes, renames and removes is there after a checkpoint. It does not bear
// one that forgets the name of a new file after its fsync: this is what the rule of first names is for.
func TestFilesOfTablesOutliveAPowerCut(t *testing.T) {
	c, records, begin := recorded(t)
	for _, model := range image.Models {
		n, faulty := uint64(thorough.Or(100, 6)), 0
		for seed := range n {
			if model == image.POSIX && faulty > 0 {
				break // one shows that the rule is needed
			}
			random := rand.New(rand.NewPCG(seed, 3))
			at := begin + 1 + random.Uint64N(uint64(len(records))-begin)
			faults := faultsAfter(t, c, records, image.Cut{At: at, Seed: seed, Model: model})
			if len(faults) > 0 {
				faulty++
			}
			if len(faults) > 0 && model != image.POSIX {
				t.Errorf("%s, seed %d, record %d: %q", model, seed, at, faults)
			}
		}
		t.Logf("%s: %d cuts leave faults, of at most %d", model, faulty, n)
		if model == image.POSIX && faulty == 0 {
			t.Error("without the rule of first names nothing is lost: the rule is not needed, or files are not tried")
		}
	}
}

// A value out of line that is gone is damage, though its row is whole: the row is looked at with its value.
func TestAmcheckFollowsValuesOutOfLine(t *testing.T) {
	spec := clustertest.Copied(clustertest.Spec())
	c, err := cluster.Open(clustertest.State(t)).Create(t.Context(), "toast", spec)
	if err != nil {
		t.Fatal(err)
	}
	execute(t, c, cluster.StartOptions{}, `CREATE EXTENSION amcheck;
		CREATE TABLE long (id int, value text STORAGE EXTERNAL);
		INSERT INTO long SELECT n, repeat('v', 3000) FROM generate_series(1, 20) n`)
	if faults := amcheckOf(t, c); len(faults) > 0 {
		t.Fatalf("a healthy server: %q", faults)
	}
	file := valueOf(t, c, "SELECT pg_relation_filepath(reltoastrelid) FROM pg_class WHERE relname = 'long'")
	empty, err := os.OpenFile(filepath.Join(c.DataDir(), file), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = empty.WriteAt(make([]byte, 8192), 0) // a page that is new again, as a lost write leaves it
	if err := errors.Join(err, empty.Close()); err != nil {
		t.Fatal(err)
	}
	if faults := amcheckOf(t, c); len(faults) == 0 {
		t.Error("values are gone, and amcheck finds nothing")
	} else {
		t.Logf("%q", faults)
	}
}

func amcheckOf(t *testing.T, c *cluster.Cluster) (faults []string) {
	t.Helper()
	connected(t, c, func(conn *pgx.Conn) (err error) {
		faults, err = crash.Amcheck(t.Context(), conn)
		return err
	})
	return faults
}

func valueOf(t *testing.T, c *cluster.Cluster, sql string) (text string) {
	t.Helper()
	connected(t, c, func(conn *pgx.Conn) error { return conn.QueryRow(t.Context(), sql).Scan(&text) })
	return text
}

// connected starts the server for one thing.
func connected(t *testing.T, c *cluster.Cluster, do func(conn *pgx.Conn) error) {
	t.Helper()
	p, err := c.Start(t.Context(), cluster.StartOptions{})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), c.SocketDSN("").Secret())
	if err == nil {
		err = errors.Join(do(conn), conn.Close(context.WithoutCancel(t.Context())))
	}
	if err := errors.Join(err, p.Stop(context.WithoutCancel(t.Context()), cluster.Fast)); err != nil {
		t.Fatal(err)
	}
}
