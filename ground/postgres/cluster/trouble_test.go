package cluster_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"plimsoll/ground/host/lock"
	"plimsoll/ground/host/process"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/postgres/installation"
	"plimsoll/ground/problem"
	"plimsoll/ground/problem/problemtest"
	"plimsoll/test/patience"
)

func TestForeignFolder_IsNeverTouched(t *testing.T) {
	t.Parallel()
	b := setup(t)
	precious := filepath.Join(b.dir("mine"), "data", "precious")
	check(t, os.MkdirAll(filepath.Dir(precious), 0o755))
	check(t, os.WriteFile(precious, []byte("x"), 0o644))
	for name, act := range map[string]func() error{
		"Create":  func() error { _, err := b.Create(t.Context(), "mine", spec()); return err },
		"Up":      func() error { _, err := b.Up(t.Context(), "mine", spec()); return err },
		"Down":    func() error { return b.Down(t.Context(), "mine", cluster.Fast) },
		"Destroy": func() error { return b.Destroy(t.Context(), "mine") },
		"Find":    func() error { _, err := b.Find("mine"); return err },
	} {
		t.Run(name, func(t *testing.T) {
			problemtest.Want(t, act(), problem.Environment, "mine", cluster.MarkerFile, "left alone")
		})
	}
	if st := b.status("mine"); st.State != cluster.Foreign || st.Problem == "" {
		t.Errorf("status %+v", st)
	}
	if text, err := os.ReadFile(precious); err != nil || string(text) != "x" {
		t.Errorf("the file holds %q, %v", text, err)
	}
}

func TestBrokenMarker_IsReportedAndLeftAlone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for name, text := range map[string]string{"garbled": "{", "newer": `{"format": 99, "name": "newer"}`,
		"copied": `{"format": 1, "name": "other"}`} {
		check(t, os.MkdirAll(b.dir(name), 0o755))
		check(t, os.WriteFile(filepath.Join(b.dir(name), cluster.MarkerFile), []byte(text), 0o644))
		if st := b.status(name); st.State != cluster.Broken || st.Problem == "" {
			t.Errorf("status %+v", st)
		}
		if err := b.Destroy(t.Context(), name); err == nil {
			t.Errorf("%s was destroyed", name)
		}
		if _, err := os.Stat(b.dir(name)); err != nil {
			t.Error(err)
		}
	}
}

// A cluster of another user is not broken: this one may not read it.
func TestMarkerOfAnotherUser_IsHidden(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("NOT TESTED as root, who may read everything; TestAsAnOrdinaryUser runs it")
	}
	t.Parallel()
	b := setup(t)
	check(t, os.MkdirAll(b.dir("theirs"), 0o755))
	check(t, os.WriteFile(filepath.Join(b.dir("theirs"), cluster.MarkerFile), []byte("{}"), 0))
	if st := b.status("theirs"); st.State != cluster.Hidden ||
		!strings.Contains(st.Problem, "as the user who created it") {
		t.Errorf("status %+v", st)
	}
}

func TestName(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, name := range []string{"", ".", "..", "../x", "a/b", ".a", "-a", "_a", "A", "a b", "a~1", "ä",
		strings.Repeat("a", 41)} {
		_, err := b.Create(t.Context(), name, spec())
		problemtest.Want(t, err, problem.Usage, "invalid cluster name")
		_, err = b.Find(name)
		problemtest.Want(t, err, problem.Usage, "invalid cluster name")
	}
	for _, name := range []string{"a", "0", "erp-2_vanilla", strings.Repeat("a", 40)} {
		check(t, cluster.CheckName(name))
	}
	wantNothingIn(t, b.state)
}

func TestCreate_RefusesWhatIsThere(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.create("a")
	_, err := b.Create(t.Context(), "a", spec())
	problemtest.Want(t, err, problem.Usage, "already exists", "plimsoll up")
}

func TestCreate_RefusesABadSpec(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for name, s := range map[string]cluster.Spec{
		"memory": {Memory: "a lot"}, "profile": {Profile: "fast"}, "exclude": {Port: 20000, SocketOnly: true},
		"engine": {Engine: "oracle"},
	} {
		_, err := b.Create(t.Context(), "a", s)
		problemtest.Want(t, err, problem.Usage, name)
		_, err = b.Up(t.Context(), "a", s)
		problemtest.Want(t, err, problem.Usage, name)
	}
	wantNothingIn(t, b.dir(""))
}

func TestCreate_WithoutAnEngine(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, err := b.Create(t.Context(), "a", cluster.Spec{Engine: "/nonexistent/prefix"})
	problemtest.Want(t, err, problem.Environment, "/nonexistent/prefix", "make engine")
	wantNothingIn(t, b.dir(""))
}

func TestFind_SaysHowToMakeOne(t *testing.T) {
	t.Parallel()
	_, err := setup(t).Find("a")
	problemtest.Want(t, err, problem.Usage, `no cluster "a"`, "plimsoll up")
}

func TestUp_WithAnotherEngineThanTheDataWasMadeWith(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.create("a")
	other := "vanilla"
	if c.Server().Flavour == other {
		other = "plimsoll"
	}
	_, err := b.Up(t.Context(), "a", cluster.Spec{Engine: other})
	problemtest.Want(t, err, problem.Usage, "was created with engine", "another name")
	b.downAtEnd("a")
	_, err = b.Up(t.Context(), "a", cluster.Spec{Engine: c.Server().Prefix + "/"})
	check(t, err) // the same by another word
}

// growing is the folder of a create under way, or empty.
func (b *bench) growing() string {
	found, _ := filepath.Glob(filepath.Join(b.dir(""), ".a~*"))
	if len(found) == 0 {
		return ""
	}
	return found[0]
}

func TestCreate_CancelledAtAnyPointLeavesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, point := range []string{cluster.MarkerFile, "pgpass", "data/PG_VERSION", "data/global/pg_control",
		"data/base/5"} {
		t.Run(filepath.Base(point), func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			created := make(chan error, 1)
			go func() {
				_, err := b.Create(ctx, "a", spec())
				created <- err
			}()
			patience.Until(t, "it gets to "+point, func() bool {
				_, err := os.Stat(filepath.Join(b.growing(), point))
				return len(created) > 0 || err == nil
			})
			cancel()
			if err := <-created; err == nil { // it was quicker than our look: then all of it is there
				check(t, b.Destroy(t.Context(), "a"))
			} else if problem.ClassOf(err) != problem.Interrupted {
				t.Errorf("got %v", err)
			}
			wantNothingIn(t, b.dir(""))
		})
	}
	b.create("a")
}

// hangingInitdb is the script of an initdb that starts a server of its own, as initdb does, makes a folder, and hangs.
const hangingInitdb = `#!/bin/sh
worker=$(readlink -f "$(dirname "$0")/../worker/postgres")
cd "$2" # of --pgdata
"$worker" 600 &
until [ "$(readlink "/proc/$!/exe")" = "$worker" ]; do :; done
mkdir global
kill -STOP $$
`

// hangingEngine is the folder of an engine whose initdb hangs when its data folder contains the folder global.
func hangingEngine(t *testing.T) string {
	t.Helper()
	srv, err := installation.Find(t.Context(), clustertest.Engine())
	check(t, err)
	postgres, err := srv.Program("postgres")
	check(t, err)
	sleep, err := exec.LookPath("sleep")
	check(t, err)
	prefix := filepath.Join(clustertest.State(t), "engine")
	for _, dir := range []string{"bin", "worker"} {
		check(t, os.MkdirAll(filepath.Join(prefix, dir), 0o755))
	}
	check(t, os.Symlink(postgres, filepath.Join(prefix, "bin", "postgres")))
	makeProgram(t, strings.NewReader(hangingInitdb), filepath.Join(prefix, "bin", "initdb"))
	copyProgram(t, sleep, filepath.Join(prefix, "worker", "postgres"))
	return prefix
}

// awaitHanging returns when the hanging initdb of a create hangs.
func (b *bench) awaitHanging() {
	b.t.Helper()
	patience.Until(b.t, "initdb hangs", func() bool {
		g := b.growing()
		_, err := os.Stat(filepath.Join(g, "data", "global"))
		return g != "" && err == nil
	})
}

// An initdb that hangs is not waited for.
func TestCreate_CancelledEndsInitdb(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := spec()
	s.Engine = hangingEngine(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	failed := make(chan error)
	go func() {
		_, err := b.Create(ctx, "a", s)
		failed <- err
	}()
	b.awaitHanging()
	initdb := b.child("sh")
	if initdb.PID == 0 {
		t.Fatal("initdb does not run")
	}
	cancel()
	if err := <-failed; problem.ClassOf(err) != problem.Interrupted {
		t.Errorf("got %v", err)
	}
	if initdb.Alive() {
		t.Error("initdb still lives")
	}
	wantNothingIn(t, b.dir(""))
}

// child is a child of ours that works on this store.
func (b *bench) child(program string) process.ID {
	b.t.Helper()
	family, err := process.Self().Descendants()
	check(b.t, err)
	for _, id := range family {
		cmdline, _ := os.ReadFile(filepath.Join("/proc", itoa(id.PID), "cmdline"))
		name, args, _ := strings.Cut(string(cmdline), "\x00")
		if filepath.Base(name) == program && strings.Contains(args, b.state) {
			return id
		}
	}
	return process.ID{}
}

func TestCreate_KilledDoesNotBlockTheNext(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.play("create", clustertest.EngineVariable+"="+hangingEngine(t))
	b.awaitHanging()
	left := b.growing()
	p.kill()
	// One killed before it had its marker.
	unmarked := filepath.Join(b.dir(""), ".a~1")
	check(t, os.Mkdir(unmarked, 0o700))
	// And one that is not ours, whatever it is called.
	precious := filepath.Join(b.dir(""), ".a~2", "precious")
	check(t, os.MkdirAll(filepath.Dir(precious), 0o700))
	check(t, os.WriteFile(precious, nil, 0o600))
	start(t, b.create("a"))
	for _, gone := range []string{left, unmarked} {
		if _, err := os.Stat(gone); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left: %v", gone, err)
		}
	}
	if _, err := os.Stat(precious); err != nil {
		t.Error(err)
	}
	b.mustHear("left by a killed command")
}

func TestDestroy_KilledHalfwayIsFinishedByTheNext(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.create("a")
	left := filepath.Join(b.dir(""), ".a~77")
	check(t, os.Rename(c.Dir(), left))
	check(t, os.RemoveAll(filepath.Join(left, "log")))
	// A child that another test is just starting may still hold the lock of "a", as if somebody worked on it: the next
	// to look finds a new file.
	l, err := lock.Acquire(t.Context(), filepath.Join(b.dir(""), ".a.lock"), "test", patience.Max)
	check(t, err)
	check(t, l.Remove())
	b.create("b")
	wantOnly(t, b.dir(""), "b")
}

func wantOnly(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	check(t, err)
	var got []string
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".lock") {
			got = append(got, e.Name())
		}
	}
	if strings.Join(got, " ") != strings.Join(names, " ") {
		t.Errorf("got %q, want %q", got, names)
	}
}

func TestUp_CancelledAtAnyPointLeavesAStoppedCluster(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.create("a")
	for name, reached := range map[string]func() bool{
		"KeeperHoldsTheLock": func() bool { return b.status("a").Owner != nil },
		"ServerStarts":       func() bool { _, err := os.Stat(pidFile(c)); return err == nil },
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := make(chan error)
			go func() {
				_, err := b.Up(ctx, "a", cluster.Spec{})
				done <- err
			}()
			patience.Until(t, "it gets there", reached)
			cancel()
			err := <-done
			// It may have been faster than we are: then it is up, and whole.
			if err == nil {
				check(t, b.Down(t.Context(), "a", cluster.Fast))
				return
			}
			if problem.ClassOf(err) != problem.Interrupted {
				t.Errorf("got %v", err)
			}
			if st := b.status("a"); st.State != cluster.Stopped || st.Owner != nil {
				t.Errorf("status %+v", st)
			}
		})
	}
}

func TestSocketPath_TooLongForTheSystemIsReplaced(t *testing.T) {
	t.Parallel()
	deep := filepath.Join(clustertest.State(t), strings.Repeat("deep-", 20))
	b := benchIn(t, deep)
	c, err := b.Create(t.Context(), "a", clustertest.Spec())
	check(t, err)
	if strings.HasPrefix(c.SocketDir, deep) {
		t.Fatalf("socket in %s", c.SocketDir)
	}
	p := start(t, c)
	if got := ask(t, c, "SELECT 'here'"); got != "here" {
		t.Error(got)
	}
	check(t, p.Stop(t.Context(), cluster.Immediate))
	check(t, b.Destroy(t.Context(), "a"))
	if _, err := os.Stat(c.SocketDir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is left", c.SocketDir)
	}
}

func TestSocketPath_OfSomebodyElseIsRefused(t *testing.T) {
	t.Parallel()
	b := benchIn(t, filepath.Join(clustertest.State(t), strings.Repeat("deep-", 20)))
	c, err := b.Create(t.Context(), "a", clustertest.Spec())
	check(t, err)
	trap := clustertest.State(t)
	check(t, os.Symlink(trap, c.SocketDir))
	t.Cleanup(func() { os.Remove(c.SocketDir) })
	_, err = c.Start(t.Context(), cluster.StartOptions{})
	problemtest.Want(t, err, problem.Environment, "not a private folder")
}

func TestState_ThatTheServersUserCannotEnter(t *testing.T) {
	account, err := process.ServerAccount()
	check(t, err)
	if account == nil {
		t.Skip("NOT TESTED: only root has a server's user")
	}
	t.Parallel()
	closed := filepath.Join(clustertest.State(t), "closed")
	check(t, os.Mkdir(closed, 0o700))
	_, err = benchIn(t, closed).Create(t.Context(), "a", spec())
	problemtest.Want(t, err, problem.Environment, "cannot enter "+closed, "PLIMSOLL_STATE", "chmod o+x")
	wantNothingIn(t, filepath.Join(closed, "clusters"))
}

// TestAsAnOrdinaryUser runs some tests of this binary as an ordinary user.
func TestAsAnOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("NOT TESTED again: already an ordinary user")
	}
	t.Parallel()
	dir := clustertest.State(t)
	binary := filepath.Join(dir, "tests")
	copyProgram(t, os.Args[0], binary)
	own, err := os.MkdirTemp("", "pl-*") // short, for the sockets' sake
	check(t, err)
	t.Cleanup(func() { check(t, os.RemoveAll(own)) })
	const nobody = 65534
	check(t, os.Chown(own, nobody, nobody))
	cmd := exec.Command(binary, "-test.v", "-test.run",
		"^(TestCluster_FilesAreWhoseTheyShouldBe|TestUp_AfterTheKeeperWasKilled|"+
			"TestStart_StalePidFileWithALiveForeignPid|TestReadOnlyState|TestMarkerOfAnotherUser_IsHidden)$")
	cmd.Dir = own
	cmd.Env = append(os.Environ(), "TMPDIR="+own, "HOME="+own, "PLIMSOLL_CACHE="+cacheHere())
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Count(string(out), "--- PASS") < 5 {
		t.Errorf("%v\n%s", err, out)
	}
}
