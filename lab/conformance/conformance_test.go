package conformance_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/postgres/cluster/profile"
	"plimsoll/ground/postgres/installation"
	"plimsoll/ground/problem"
	"plimsoll/ground/problem/problemtest"
	"plimsoll/lab/conformance"
	"plimsoll/test/patience"
)

func TestMain(m *testing.M) { clustertest.Main(m) }

// server starts an engine with a profile, and gives the connection string of its superuser.
func server(t *testing.T, engine string, name profile.Name, settings ...profile.Setting) (*cluster.Cluster, string) {
	t.Helper()
	found, err := installation.Find(t.Context(), engine)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("NOT TESTED: %v", err)
	}
	check(t, err)
	s := clustertest.Spec()
	s.Engine, s.Profile, s.Settings = engine, name, append(s.Settings, settings...)
	c, err := cluster.Open(clustertest.State(t)).Create(patience.Context(t), "a", s)
	check(t, err)
	t.Logf("on %s", found)
	start(t, c)
	return c, c.SocketDSN("").Secret()
}

func start(t *testing.T, c *cluster.Cluster, env ...string) *cluster.Postmaster {
	t.Helper()
	p, err := c.Start(patience.Context(t), cluster.StartOptions{Env: env})
	check(t, err)
	t.Cleanup(func() {
		if err := p.Stop(context.Background(), cluster.Immediate); err != nil {
			t.Error(err)
		}
	})
	return p
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// played checks a server, and that nothing is left on it.
func played(t *testing.T, dsn string) *conformance.Report {
	t.Helper()
	const state = `SELECT string_agg(datname, ' ' ORDER BY datname) || ' ' || (SELECT count(*) FROM pg_class)
		FROM pg_database`
	before := clustertest.Value(t, dsn, state)
	r, err := conformance.Check(patience.Context(t), conformance.Options{DSN: dsn})
	check(t, err)
	if after := clustertest.Value(t, dsn, state); after != before {
		t.Errorf("before: %s; after: %s", before, after)
	}
	for _, s := range r.Steps {
		if (s.Outcome == conformance.OK) != (s.Cure == "") || s.Expected == "" || s.Statement == "" {
			t.Errorf("incomplete: %+v", s)
		}
	}
	return r
}

// ended are the names of the steps that ended so. What the machine's locales are is not the server's.
func ended(r *conformance.Report, as conformance.Outcome) (names []string) {
	for _, s := range r.Steps {
		if s.Outcome == as && !strings.HasPrefix(s.Name, "session.locale_") {
			names = append(names, s.Name)
		}
	}
	return names
}

func wantEnded(t *testing.T, r *conformance.Report, as conformance.Outcome, want ...string) {
	t.Helper()
	if got := ended(r, as); !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", as, got, want)
		for _, s := range r.Steps {
			if slices.Contains(got, s.Name) {
				t.Logf("%+v", s)
			}
		}
	}
}

func TestOneC_OnOurServerWithItsProfile(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{installation.Plimsoll, installation.Vanilla} { // both are built with the extensions
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			_, dsn := server(t, engine, profile.OneC)
			r := played(t, dsn)
			wantEnded(t, r, conformance.Failed)
			wantEnded(t, r, conformance.Blocked)
			wantEnded(t, r, conformance.Note, "probe.tablespace_index", "probe.tablespace_data",
				"infobase.tablespace_data", "infobase.tablespace_index")
		})
	}
}

func TestOneC_OnOurServerWithStocksSettings(t *testing.T) {
	t.Parallel()
	_, dsn := server(t, installation.Plimsoll, profile.Stock)
	r := played(t, dsn)
	wantEnded(t, r, conformance.Failed)
	wantEnded(t, r, conformance.Note, "server.locks", "extension.mchar.template",
		"extension.fasttrun.template", "extension.fulleq.template", "probe.tablespace_index", "probe.tablespace_data",
		"infobase.tablespace_data", "infobase.tablespace_index", "temporary.statistics", "temporary.empty_table")
}

// Which steps fail on a server as a distribution has it, and on stock 18, whose build here has the extensions: it is
// told to look for them elsewhere.
func TestOneC_OnAServerWithoutExtensions(t *testing.T) {
	t.Parallel()
	t.Run(installation.System, func(t *testing.T) {
		t.Parallel()
		c, dsn := server(t, installation.System, profile.Stock)
		if c.Server().HasLibrary("mchar") {
			t.Skipf("NOT TESTED: %s has the extensions", c.Server())
		}
		wantLacking(t, dsn)
	})
	t.Run(installation.Vanilla, func(t *testing.T) {
		t.Parallel()
		_, dsn := server(t, installation.Vanilla, profile.Stock,
			profile.Setting{Name: "extension_control_path", Value: "/nonexistent"})
		wantLacking(t, dsn)
	})
}

func wantLacking(t *testing.T, dsn string) {
	t.Helper()
	r := played(t, dsn)
	wantEnded(t, r, conformance.Failed, "extension.mchar.available", "extension.fasttrun.available",
		"extension.fulleq.available")
	for _, name := range []string{"probe.mchar", "function.vassn", "infobase.config", "infobase.v8users",
		"infobase.reference", "temporary.create", "temporary.fasttruncate", "statement.fulleq", "statement.case"} {
		if !slices.Contains(ended(r, conformance.Blocked), name) {
			t.Errorf("%s was not blocked", name)
		}
	}
	for _, name := range []string{"session.strings", "session.lock_timeout", "function.datediff2.call",
		"statement.backslash", "statement.bytes"} {
		if !slices.Contains(ended(r, conformance.OK), name) {
			t.Errorf("%s is not ok", name)
		}
	}
	problemtest.Want(t, r.Err(), problem.Threshold, "a 1C server cannot work on this server", "cures")
	var b bytes.Buffer
	check(t, r.Text(&b))
	for _, part := range []string{"failed  extension.mchar.available", "expected a version", "answer   no row",
		"cure     install the extensions", "blocked probe.mchar", "not sent: extension.mchar is not ok"} {
		if !strings.Contains(b.String(), part) {
			t.Errorf("no %q in\n%s", part, b.String())
		}
	}
}

// Of the locales one is enough: a 1C server asks for that of its language.
func TestOneC_IsContentWithOneLocale(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(clustertest.State(t), "locale")
	check(t, os.Mkdir(dir, 0o755))
	for _, name := range []string{"en_US", "C"} { // a server under LOCPATH finds no other locales
		made := exec.Command("localedef", "-i", name, "-f", "UTF-8", filepath.Join(dir, name+".UTF-8"))
		if out, err := made.CombinedOutput(); err != nil {
			t.Skipf("NOT TESTED: localedef: %v: %s", err, out)
		}
	}
	s := clustertest.Copied(clustertest.Spec())
	s.Profile = profile.OneC
	c, err := cluster.Open(clustertest.State(t)).Create(patience.Context(t), "a", s)
	check(t, err)
	if !c.Server().HasLibrary("mchar") {
		t.Skipf("NOT TESTED: %s has no mchar", c.Server())
	}
	start(t, c, "LOCPATH="+dir)
	r := played(t, c.SocketDSN("").Secret())
	check(t, r.Err())
	outcomes := map[string]conformance.Outcome{}
	for _, s := range r.Steps {
		outcomes[s.Name] = s.Outcome
	}
	if outcomes["session.locale_en"] != conformance.OK || outcomes["session.locale_ru"] != conformance.Note {
		t.Errorf("want session.locale_en ok and session.locale_ru a note, got %v", outcomes)
	}
}

// A server that is broken in one respect fails in that one.
func TestOneC_FindsWhatIsWrong(t *testing.T) {
	t.Parallel()
	_, dsn := server(t, installation.Plimsoll, profile.OneC)
	in := func(sql string) { clustertest.Value(t, templateOf(t, dsn), sql) }
	in("CREATE TABLE config (n int)")
	in("CREATE FUNCTION datediff2() RETURNS int LANGUAGE sql AS 'SELECT 1'")
	in("ALTER EXTENSION fasttrun DROP FUNCTION fasttruncate(text); DROP FUNCTION fasttruncate(text)")
	r := played(t, dsn)
	wantEnded(t, r, conformance.Failed, "probe.datediff2", "probe.tables", "infobase.config", "temporary.fasttruncate")
	for _, s := range r.Steps {
		if s.Name == "infobase.config" && s.Said != `ERROR: relation "config" already exists (42P07)` {
			t.Errorf("it said %q", s.Said)
		}
	}
}

func templateOf(t *testing.T, dsn string) string {
	t.Helper()
	config, err := pgx.ParseConfig(dsn)
	check(t, err)
	return strings.Replace(dsn, "/"+config.Database, "/template1", 1)
}

func TestOneC_NeedsARoleThatMayCreateDatabases(t *testing.T) {
	t.Parallel()
	c, dsn := server(t, installation.Plimsoll, profile.Stock)
	clustertest.Value(t, dsn, "CREATE ROLE nobody LOGIN PASSWORD 'x'; CREATE ROLE maker LOGIN CREATEDB PASSWORD 'x'")
	as := func(role string) string {
		config, err := pgx.ParseConfig(dsn)
		check(t, err)
		return fmt.Sprintf("host=%s port=%d user=%s password=x dbname=postgres", c.SocketDir, config.Port, role)
	}
	_, err := conformance.Check(patience.Context(t), conformance.Options{DSN: as("nobody")})
	problemtest.Want(t, err, problem.Environment, "may not create databases", "CREATEDB")
	r := played(t, as("maker"))
	wantEnded(t, r, conformance.Failed, "server.role")
}

func TestOneC_LeavesNothingWhenInterrupted(t *testing.T) {
	t.Parallel()
	_, dsn := server(t, installation.Plimsoll, profile.Stock)
	ctx, stop := context.WithCancel(patience.Context(t))
	defer stop()
	r, err := conformance.Check(ctx, conformance.Options{DSN: dsn, Progress: func(done, all int, _ string) {
		if done == all/2 {
			stop()
		}
	}})
	if problem.ClassOf(err) != problem.Interrupted || r == nil || len(r.Steps) == 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if left := clustertest.Value(t, dsn, "SELECT count(*) FROM pg_database WHERE datname ~ 'check'"); left != "0" {
		t.Errorf("%s databases are left", left)
	}
}

func TestOneC_DropsWhatAKilledCheckLeft(t *testing.T) {
	t.Parallel()
	_, dsn := server(t, installation.Plimsoll, profile.Stock)
	const ours = "made by plimsoll check, which drops it at its end"
	for name, comment := range map[string]string{"plimsoll_check_1000_1": ours, "plimsoll_check_1000_2": "not ours",
		"plimsoll_check_x": ours, "plimsoll_check_99999999999_1": ours} {
		clustertest.Value(t, dsn, "CREATE DATABASE "+name)
		clustertest.Value(t, dsn, "COMMENT ON DATABASE "+name+" IS '"+comment+"'")
	}
	_, err := conformance.Check(patience.Context(t), conformance.Options{DSN: dsn})
	check(t, err)
	const left = "SELECT string_agg(datname, ' ' ORDER BY datname) FROM pg_database WHERE datname ~ 'check'"
	const want = "plimsoll_check_1000_2 plimsoll_check_99999999999_1 plimsoll_check_x"
	if got := clustertest.Value(t, dsn, left); got != want {
		t.Errorf("left are %q, want %q", got, want)
	}
}
