package cluster_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sys/unix"

	"plimsoll/ground/host/process"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/problem"
	"plimsoll/ground/problem/problemtest"
	"plimsoll/test/patience"
)

func TestUp_AfterThePostmasterWasKilled(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.up("a")
	ask(t, c, "CREATE TABLE kept AS SELECT 42 AS n")
	ask(t, c, "CHECKPOINT") // this cluster flushes nothing by itself
	before := b.status("a")
	check(t, c.Kill(t.Context()))
	patience.Until(t, "the keeper ends with its postmaster", func() bool { return !before.Owner.Alive() })
	st := b.status("a")
	if st.State != cluster.Crashed || st.Owner != nil || !strings.HasPrefix(st.LastExit, "signal: killed") {
		t.Errorf("status %+v", st)
	}
	problemtest.Want(t, c.Kill(t.Context()), problem.Usage, "is not running")
	c = b.up("a")
	if got := ask(t, c, "SELECT n::text FROM kept"); got != "42" {
		t.Errorf("got %s", got)
	}
	if st := b.status("a"); st.State != cluster.Running || st.LastExit != "" {
		t.Errorf("status %+v", st)
	}
}

func TestUp_AfterTheKeeperWasKilled(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.up("a")
	ask(t, c, "CREATE TABLE kept AS SELECT 42 AS n")
	before := b.status("a")
	check(t, before.Owner.Signal(syscall.SIGKILL))
	check(t, before.Owner.AwaitEnd(t.Context()))
	c = b.up("a") // at once, while the server still thinks it is ready
	after := b.status("a")
	if after.State != cluster.Running || after.PID == before.PID || after.Owner == nil ||
		after.Owner.ID == before.Owner.ID {
		t.Errorf("before %+v, after %+v", before, after)
	}
	if got := ask(t, c, "SELECT n::text FROM kept"); got != "42" {
		t.Errorf("got %s", got)
	}
}

func TestDown_AfterTheKeeperWasKilled(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.up("a")
	before := b.status("a")
	check(t, before.Owner.Signal(syscall.SIGKILL))
	check(t, b.Down(t.Context(), "a", cluster.Fast))
	if st := b.status("a"); st.State != cluster.Stopped {
		t.Errorf("status %+v", st)
	}
}

// A session that computes does not look whether its postmaster still lives.
func TestStart_EndsSessionsThatOutlivedTheirPostmaster(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.create("a")
	p := start(t, c)
	conn, err := pgx.Connect(t.Context(), c.DSN("").Secret())
	check(t, err)
	session, err := process.Of(int(conn.PgConn().PID()))
	check(t, err)
	busy := make(chan error)
	go func() {
		// Short series: the server keeps each in a file, and a long one would fill the disk while others wait.
		_, err := conn.Exec(t.Context(), "SET max_parallel_workers_per_gather = 0; SELECT count(*) FROM "+
			"generate_series(1, 10000) a, generate_series(1, 10000) b, generate_series(1, 10000) c WHERE a + b + c < 0")
		busy <- err
	}()
	patience.Until(t, "the session computes", func() bool {
		return ask(t, c, "SELECT count(*)::text FROM pg_stat_activity WHERE state = 'active' AND wait_event IS "+
			"NULL AND pid <> pg_backend_pid() AND query LIKE '%generate_series%'") == "1"
	})
	postmaster, err := process.Of(p.PID())
	check(t, err)
	check(t, postmaster.Signal(syscall.SIGKILL)) // it alone
	<-p.Exited()
	if !session.Alive() {
		t.Fatal("the session ended with its postmaster: nothing to test")
	}
	start(t, c)
	if session.Alive() {
		t.Error("the session of the former server still lives")
	}
	b.mustHear("ending ")
	if err := <-busy; err == nil {
		t.Error("the query ended well")
	}
}

func TestStart_StalePidFileWithALiveForeignPid(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.create("a")
	p := start(t, c)
	text, err := os.ReadFile(pidFile(c))
	check(t, err)
	check(t, p.Kill(t.Context()))
	// The server's user runs it: PostgreSQL would believe the file.
	foreign := b.sleeper(c)
	_, rest, _ := strings.Cut(string(text), "\n")
	check(t, os.WriteFile(pidFile(c), []byte(fmt.Sprintf("%d\n%s", foreign.PID, rest)), 0o600))
	if st := b.status("a"); st.State != cluster.Crashed || st.PID != 0 {
		t.Errorf("status %+v", st)
	}
	check(t, b.Down(t.Context(), "a", cluster.Immediate))
	problemtest.Want(t, c.Kill(t.Context()), problem.Usage)
	start(t, c)
	b.mustHear("removing a stale pid file")
	if !foreign.Alive() {
		t.Error("the foreign process was hit")
	}
}

func pidFile(c *cluster.Cluster) string { return filepath.Join(c.DataDir(), "postmaster.pid") }

// sleeper is a process of the server's user that has nothing to do with it.
func (b *bench) sleeper(c *cluster.Cluster) process.ID {
	b.t.Helper()
	account, err := process.OwnerOf(c.DataDir())
	check(b.t, err)
	cmd := exec.Command("sleep", "600")
	account.Run(cmd)
	child, err := process.StartChild(cmd, syscall.SIGKILL)
	check(b.t, err)
	b.t.Cleanup(func() {
		_ = child.Signal(syscall.SIGKILL)
		<-child.Exited()
	})
	return child.ID()
}

func TestStart_StaleSockets(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.create("a")
	p := start(t, c)
	check(t, p.Kill(t.Context()))
	foreign := b.sleeper(c)
	locks, err := filepath.Glob(filepath.Join(c.SocketDir, ".s.PGSQL.*.lock"))
	check(t, err)
	if len(locks) != 1 {
		t.Fatalf("locks %q", locks)
	}
	text, err := os.ReadFile(locks[0])
	check(t, err)
	_, rest, _ := strings.Cut(string(text), "\n")
	check(t, os.WriteFile(locks[0], []byte(fmt.Sprintf("%d\n%s", foreign.PID, rest)), 0o600))
	start(t, c)
}

func TestPort(t *testing.T) {
	t.Run("TakenByAnotherIsChosenAnew", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		c := b.create("a")
		taken := occupy(t) // before it is remembered, so that nobody else can come between
		rememberPort(t, c, taken)
		c = b.up("a")
		if c.Port == taken {
			t.Errorf("port %d again", c.Port)
		}
		// Another server may take the chosen port before ours does, and a third is chosen.
		b.mustHear(fmt.Sprintf("port %d is taken by another process, using ", taken))
		b.mustHear(fmt.Sprintf("using %d", c.Port))
		ask(t, c, "SELECT 'x'")
	})
	t.Run("IsRemembered", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		first := b.up("a").Port
		check(t, b.Down(t.Context(), "a", cluster.Fast))
		b.up("b")
		again := b.up("a").Port // another program may have taken it meanwhile
		if again != first && !b.heard(fmt.Sprintf("port %d is taken by another process", first)) {
			t.Errorf("%d, then %d", first, again)
		}
	})
	t.Run("AskedForAndTakenIsAnErrorWithAWayOut", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		taken := occupy(t)
		s := spec()
		s.Port = taken
		_, err := b.Up(t.Context(), "a", s)
		problemtest.Want(t, err, problem.Environment, fmt.Sprintf("port %d is in use", taken), "--port")
		wantNothingIn(t, b.dir(""))
		// Later on, too.
		b.create("a")
		_, err = b.Up(t.Context(), "a", s)
		problemtest.Want(t, err, problem.Environment, fmt.Sprintf("port %d is in use", taken), "--port")
	})
	t.Run("AskedForIsHad", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.downAtEnd("a")
		s := spec()
		var c *cluster.Cluster
		patience.Until(t, "a port that was free is still free when the server asks for it", func() (had bool) {
			s.Port = freePort(t)
			var err error
			c, err = b.Up(t.Context(), "a", s)
			if err != nil && !strings.Contains(err.Error(), "is in use") {
				t.Fatal(err)
			}
			return err == nil
		})
		if got := ask(t, c, "SELECT inet_server_port()::text"); got != itoa(s.Port) {
			t.Errorf("listens on %s", got)
		}
	})
	t.Run("OutOfRange", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		for _, port := range []int{-1, 1, 1023, 65536} {
			_, err := b.Create(t.Context(), "a", cluster.Spec{Port: port})
			problemtest.Want(t, err, problem.Usage, "invalid port")
		}
	})
}

// occupy listens on a port until the test ends.
func occupy(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	check(t, err)
	t.Cleanup(func() { l.Close() })
	return l.Addr().(*net.TCPAddr).Port
}

// freePort was free a moment ago; another process may have it by now.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	check(t, err)
	check(t, l.Close())
	return l.Addr().(*net.TCPAddr).Port
}

// rememberPort makes a stopped cluster one that had the port when it last ran.
func rememberPort(t *testing.T, c *cluster.Cluster, port int) {
	t.Helper()
	path := filepath.Join(c.Dir(), cluster.MarkerFile)
	text, err := os.ReadFile(path)
	check(t, err)
	changed := strings.Replace(string(text), `"port": 0,`, fmt.Sprintf(`"port": %d,`, port), 1)
	if changed == string(text) {
		t.Fatalf("no port in %s", text)
	}
	check(t, os.WriteFile(path, []byte(changed), 0o644))
}

func TestUp_TwoAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.downAtEnd("a")
	var both sync.WaitGroup
	for range 2 {
		both.Add(1)
		go func() {
			defer both.Done()
			c, err := benchIn(t, b.state).Up(t.Context(), "a", spec())
			if err != nil {
				t.Error(err)
				return
			}
			conn, err := pgx.Connect(t.Context(), c.DSN("").Secret())
			if err != nil {
				t.Error(err)
				return
			}
			conn.Close(t.Context())
		}()
	}
	both.Wait()
	if st := b.status("a"); st.State != cluster.Running || st.Owner == nil {
		t.Errorf("status %+v", st)
	}
}

func TestKeeper_PassesAReloadOn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.up("a")
	check(t, os.WriteFile(c.UserConf(), []byte("work_mem = 13MB\n"), 0o644))
	check(t, b.status("a").Owner.Signal(syscall.SIGHUP))
	patience.Until(t, "the server has read its settings again", func() bool {
		return ask(t, c, "SHOW work_mem") == "13MB"
	})
}

// An experiment's cluster is its own, but its server can be stopped.
func TestOwnedByAProcess(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.LockWait = 0
	b.create("a")
	p := b.play("start")
	p.await(t, "started")
	st := b.status("a")
	if st.State != cluster.Running || st.Owner == nil || st.Owner.PID != p.Process.Pid || st.Owner.What != "process" {
		t.Errorf("status %+v", st)
	}
	_, err := mustFind(b, "a").Start(t.Context(), cluster.StartOptions{})
	problemtest.Want(t, err, problem.Environment, fmt.Sprintf("pid %d", p.Process.Pid))
	b.LockWait = time.Hour // ended by Ctrl-C
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, act := range []func() error{
		func() error { _, err := mustFind(b, "a").Start(ctx, cluster.StartOptions{}); return err },
		func() error { _, err := b.Create(ctx, "b", spec()); return err },
	} {
		if err := act(); problem.ClassOf(err) != problem.Interrupted {
			t.Errorf("got %v (class %v)", err, problem.ClassOf(err))
		}
	}
	problemtest.Want(t, b.Destroy(t.Context(), "a"), problem.Usage, "is running", "plimsoll down a")
	check(t, b.Down(t.Context(), "a", cluster.Fast))
	if st := b.status("a"); st.State != cluster.Stopped {
		t.Errorf("status %+v", st)
	}
}

func TestStart_DiesWithItsProcess(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.create("a")
	p := b.play("start")
	p.await(t, "started")
	pid, err := process.Of(b.status("a").PID)
	check(t, err)
	p.kill()
	check(t, pid.AwaitEnd(t.Context()))
	start(t, mustFind(b, "a"))
}

func (p *player) await(t *testing.T, word string) {
	t.Helper()
	buf := make([]byte, len(word))
	if _, err := p.stdout.Read(buf); err != nil || string(buf) != word {
		t.Fatalf("it said %q, %v", buf, err)
	}
}

func mustFind(b *bench, name string) *cluster.Cluster {
	b.t.Helper()
	c, err := b.Find(name)
	check(b.t, err)
	return c
}

// A server that starts again on the same data removes the memory of the one before. Where the data go, nobody would.
func TestDestroy_OfAKilledClusterLeavesNoSharedMemory(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.create("a")
	p := start(t, c)
	text, err := os.ReadFile(pidFile(c))
	check(t, err)
	var key, id int
	_, err = fmt.Sscan(strings.Split(string(text), "\n")[6], &key, &id)
	check(t, err)
	// The last argument of each mapping is its file.
	maps, err := os.ReadFile(filepath.Join("/proc", itoa(p.PID()), "maps"))
	check(t, err)
	segments := slices.DeleteFunc(strings.Fields(string(maps)), func(word string) bool {
		return !strings.HasPrefix(word, "/dev/shm/PostgreSQL.")
	})
	check(t, p.Kill(t.Context()))
	var is unix.SysvShmDesc
	if _, err := unix.SysvShmCtl(id, unix.IPC_STAT, &is); err != nil || len(segments) == 0 {
		t.Fatalf("a killed server leaves memory: %q, %v", segments, err)
	}
	check(t, b.Destroy(t.Context(), "a"))
	if _, err := unix.SysvShmCtl(id, unix.IPC_STAT, &is); err == nil {
		if _, err := unix.SysvShmCtl(id, unix.IPC_RMID, nil); err != nil {
			t.Skipf("NOT TESTED: we may not remove memory of the server's user: %v", err)
		}
		t.Errorf("its memory %d is left", id)
	}
	for _, segment := range segments {
		if _, err := os.Stat(segment); err == nil {
			t.Errorf("%s is left", segment)
		}
	}
}
