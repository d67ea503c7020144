package cluster_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/host/process"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/postgres/cluster/profile"
	"plimsoll/ground/postgres/installation"
	"plimsoll/ground/problem"
	"plimsoll/ground/problem/problemtest"
)

// TestLife goes once around with every engine that is here, side by side.
func TestLife(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, engine := range []string{installation.Plimsoll, installation.Vanilla, installation.System} {
		t.Run(engine, func(t *testing.T) {
			if _, err := installation.Find(t.Context(), engine); errors.Is(err, fs.ErrNotExist) {
				t.Skipf("NOT TESTED with %s: %v", engine, err)
			}
			b := benchIn(t, b.state)
			// As a person gets it: flushing, tuned.
			c, err := b.Up(t.Context(), engine, cluster.Spec{Engine: engine, Memory: "512MB"})
			check(t, err)
			b.downAtEnd(engine)
			wantSettingsApplied(t, c)
			st := b.status(engine)
			if st.State != cluster.Running || st.Flavour != engine || st.PID == 0 || st.Owner == nil ||
				st.Owner.What != "keeper" ||
				st.Port == 0 || st.DataBytes == nil || *st.DataBytes < 1<<20 || st.UptimeS == nil ||
				st.Profile != profile.Tuned {
				t.Errorf("status %+v", st)
			}
			if stock := engine != installation.Plimsoll; st.Patchset == nil || (*st.Patchset == 0) != stock {
				t.Errorf("patchset %v of %s", st.Patchset, engine)
			}
			check(t, b.Down(t.Context(), engine, cluster.Fast))
			if st := b.status(engine); st.State != cluster.Stopped || st.PID != 0 || st.Owner != nil ||
				!strings.HasPrefix(st.LastExit, "shut down") {
				t.Errorf("status after down %+v", st)
			}
			check(t, b.Down(t.Context(), engine, cluster.Fast)) // nothing to do
			check(t, b.Destroy(t.Context(), engine))
		})
	}
	entries, err := os.ReadDir(b.dir(""))
	check(t, err)
	for _, e := range entries {
		t.Errorf("%s is left", e.Name())
	}
}

// wantSettingsApplied reads the configuration as the server understood it.
func wantSettingsApplied(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	conn := clustertest.Connect(t, c.DSN("").Secret(), "")
	defer conn.Close(context.Background())
	rows, err := conn.Query(t.Context(), "SELECT name || ': ' || error FROM pg_file_settings WHERE error IS NOT NULL")
	check(t, err)
	wrong, err := pgx.CollectRows(rows, pgx.RowTo[string])
	check(t, err)
	if len(wrong) > 0 {
		t.Errorf("settings refused: %q", wrong)
	}
	for name, want := range map[string]string{
		"fsync": "on", "wal_level": "minimal", "data_checksums": "on", "server_encoding": "UTF8",
		"shared_buffers": "128MB",
		"cluster_name":   "plimsoll-" + c.Name(), "listen_addresses": "127.0.0.1",
		"password_encryption": "scram-sha-256",
	} {
		var got string
		check(t, conn.QueryRow(t.Context(), "SELECT current_setting($1)", name).Scan(&got))
		if got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	var lower string
	check(t, conn.QueryRow(t.Context(), "SELECT lower('ПРИХОД ÄÖ')").Scan(&lower))
	if lower != "приход äö" {
		t.Errorf("lower gives %q: the locale knows no alphabet but ASCII", lower)
	}
}

func TestCluster_FilesAreWhoseTheyShouldBe(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.create("a")
	start(t, c)
	account, err := process.ServerAccount()
	check(t, err)
	server := os.Geteuid()
	if account != nil {
		server = account.UID
	}
	for _, x := range []struct {
		name string
		mode os.FileMode
		uid  int
	}{
		{"data", 0o700, server},
		{c.SocketDir, 0o700, server}, // outside where its path would be too long
		{"log", 0o700, os.Geteuid()},
		{"log/postgres.log", 0o600, os.Geteuid()},
		{"pgpass", 0o600, os.Geteuid()},
		{"plimsoll.conf", 0o644, os.Geteuid()},
		{"plimsoll-cluster.json", 0o600, os.Geteuid()},
	} {
		path := x.name
		if !filepath.IsAbs(path) {
			path = filepath.Join(c.Dir(), path)
		}
		info, err := os.Lstat(path)
		check(t, err)
		if uid := int(info.Sys().(*syscall.Stat_t).Uid); info.Mode().Perm() != x.mode || uid != x.uid {
			t.Errorf("%s: mode %o of user %d, want %o of %d", x.name, info.Mode().Perm(), uid, x.mode, x.uid)
		}
	}
	if _, err := os.Stat(filepath.Join(c.Dir(), "initdb-password")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the password that initdb read still lies there")
	}
	text, err := os.ReadFile(c.LogFile())
	check(t, err)
	pgpass, err := os.ReadFile(filepath.Join(c.Dir(), "pgpass"))
	check(t, err)
	password := strings.TrimSpace(string(pgpass[strings.LastIndexByte(string(pgpass), ':')+1:]))
	if len(password) < 20 || strings.Contains(string(text), password) {
		t.Errorf("password of %d characters, or it is in the log", len(password))
	}
}

func TestCreate_WithTheDataOfAnother(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := spec()
	s.DataOf = b.create("a")
	for _, name := range []string{"b", "c"} {
		c, err := b.Create(t.Context(), name, s)
		check(t, err)
		start(t, c)
		if got := ask(t, c, "SELECT current_setting('cluster_name')"); got != "plimsoll-"+name {
			t.Errorf("%s is %s", name, got)
		}
	}
	if st := b.status("a"); st.State != cluster.Stopped {
		t.Errorf("status %+v", st)
	}
}

func TestCluster_RefusesAWrongPassword(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.create("a")
	start(t, c)
	for _, dsn := range []cluster.DSN{c.DSN(""), c.SocketDSN("")} {
		config, err := pgx.ParseConfig(dsn.Secret())
		check(t, err)
		config.Password = "wrong"
		conn, err := pgx.ConnectConfig(t.Context(), config)
		if err == nil {
			conn.Close(t.Context())
			t.Errorf("%s takes any password", dsn)
		}
	}
}

func TestCluster_UserConfWinsAndIsKept(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.create("a")
	const own = "work_mem = 7MB\nport = 1 # not his to say\n"
	check(t, os.WriteFile(c.UserConf(), []byte(own), 0o644))
	start(t, c)
	if got := ask(t, c, "SELECT current_setting('work_mem') || ' ' || "+
		"current_setting('cluster_name')"); got != "7MB plimsoll-a" {
		t.Errorf("got %s", got)
	}
	if text, err := os.ReadFile(c.UserConf()); err != nil || string(text) != own {
		t.Errorf("user.conf is now %q, %v", text, err)
	}
}

func TestCluster_WrongUserConfIsReported(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.create("a")
	check(t, os.WriteFile(c.UserConf(), []byte("work_mem = plenty\n"), 0o644))
	_, err := c.Start(t.Context(), cluster.StartOptions{})
	problemtest.Want(t, err, problem.Usage, "work_mem", "plenty", c.UserConf())
	// The keeper's words arrive too.
	_, err = b.Up(t.Context(), "a", cluster.Spec{})
	problemtest.Want(t, err, problem.Usage, "work_mem", "plenty", c.UserConf())
	check(t, os.Remove(c.UserConf()))
	start(t, c)
}

func TestCluster_SettingsFollowTheProfile(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.up("a")
	check(t, b.Down(t.Context(), "a", cluster.Fast))
	c, err := b.Up(t.Context(), "a", cluster.Spec{Profile: profile.Stock,
		Settings: []profile.Setting{{Name: "work_mem", Value: "9MB", Reason: "a test"}}})
	check(t, err)
	b.mustHear("settings changed with the machine or the profile: ")
	b.mustHear("jit off → default")
	if got := ask(t, c, "SELECT current_setting('work_mem') || ' ' || current_setting('jit')"); got != "9MB on" {
		t.Errorf("got %s", got)
	}
	_, err = b.Up(t.Context(), "a", cluster.Spec{Profile: profile.Tuned})
	problemtest.Want(t, err, problem.Usage, "other settings", "plimsoll down a")
	_, err = b.Up(t.Context(), "a", cluster.Spec{Port: c.Port})
	check(t, err) // it has the port
}

func TestCluster_StartOptionsAreForOneStart(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.create("a")
	p, err := c.Start(t.Context(), cluster.StartOptions{
		Settings: []profile.Setting{{Name: "work_mem", Value: "11MB"}}, Env: []string{"PLIMSOLL_TEST_MARK=here"},
	})
	check(t, err)
	if got := ask(t, c, "SHOW work_mem"); got != "11MB" {
		t.Errorf("got %s", got)
	}
	environ, err := os.ReadFile(filepath.Join("/proc", itoa(p.PID()), "environ"))
	check(t, err)
	if !strings.Contains(string(environ), "PLIMSOLL_TEST_MARK=here") {
		t.Error("the server does not have the variable")
	}
	check(t, p.Stop(t.Context(), cluster.Fast))
	start(t, c)
	if got := ask(t, c, "SHOW work_mem"); got == "11MB" {
		t.Error("it stuck")
	}
}

func TestCommand(t *testing.T) {
	t.Setenv("PGHOST", "nowhere.invalid")
	t.Setenv("PGOPTIONS", "-c nonsense=1")
	b := setup(t)
	c := b.create("a")
	start(t, c)
	_, err := c.Command(t.Context(), "no-such-program")
	problemtest.Want(t, err, problem.Environment, "no-such-program")
	cmd, err := c.Command(t.Context(), "psql", "-XAtc", "SELECT current_user")
	if err != nil && c.Server().Flavour == installation.Stock {
		t.Skipf("SKIP: stock from the registry has no psql: %v", err)
	}
	check(t, err)
	out, err := cmd.CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != cluster.Superuser {
		t.Errorf("got %q, %v", out, err)
	}
}
