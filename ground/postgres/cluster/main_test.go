package cluster_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"plimsoll/ground/host/process"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/test/leak"
	"plimsoll/test/patience"
)

// The test binary plays the other commands: `keep NAME`, as Up calls it, and
// what this variable names.
const roleVariable = "PLIMSOLL_TEST_ROLE"

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "keep" {
		err := cluster.Open("").Keep(context.Background(), os.Args[2])
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if role, ok := roles[os.Getenv(roleVariable)]; ok {
		if err := role(cluster.Open("")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	leak.Main(tidy{m})
}

// tidy fails tests that leave a process behind.
type tidy struct{ m *testing.M }

func (t tidy) Run() int {
	code := clustertest.Run(t.m)
	if left := leftRunning(); len(left) > 0 {
		fmt.Fprintf(os.Stderr, "left running:\n%s\n", strings.Join(left, "\n"))
		return max(code, 1)
	}
	return code
}

// leftRunning are the processes that name one of our state directories, by
// their command line or, as keepers do, by their environment.
func leftRunning() (left []string) {
	me := process.Self()
	mark := []byte(fmt.Sprintf("plimsoll-test-%d-%d-", me.PID, me.Start))
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == me.PID {
			continue
		}
		cmdline, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		environ, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
		if bytes.Contains(cmdline, mark) || bytes.Contains(environ, mark) {
			left = append(left, fmt.Sprintf("%d %s", pid, bytes.ReplaceAll(cmdline, []byte{0}, []byte{' '})))
		}
	}
	return left
}

var roles = map[string]func(*cluster.Store) error{
	"create": func(s *cluster.Store) error {
		_, err := s.Create(context.Background(), "a", spec())
		return err
	},
	// start holds a running cluster until its input ends, or forever.
	"start": func(s *cluster.Store) error {
		c, err := s.Find("a")
		if err != nil {
			return err
		}
		p, err := c.Start(context.Background(), cluster.StartOptions{})
		if err != nil {
			return err
		}
		fmt.Println("started")
		_, _ = io.Copy(io.Discard, os.Stdin)
		return p.Stop(context.Background(), cluster.Immediate)
	},
}

// spec is a cluster that flushes nothing, with a TCP port.
func spec() cluster.Spec {
	s := clustertest.Spec()
	s.SocketOnly = false
	return s
}

// bench is a store of a test's own, and what it said.
type bench struct {
	*cluster.Store
	t     *testing.T
	state string
	mu    sync.Mutex
	lines []string
}

func setup(t *testing.T) *bench {
	t.Helper()
	return benchIn(t, clustertest.State(t))
}

func benchIn(t *testing.T, state string) *bench {
	b := &bench{Store: cluster.Open(state), t: t, state: state}
	b.LockWait, b.StatusWait = patience.Max, patience.Max // the machine may be busy with other tests
	b.Say = func(message string) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.lines = append(b.lines, message)
	}
	return b
}

func (b *bench) heard(part string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Contains(strings.Join(b.lines, "\n"), part)
}

func (b *bench) mustHear(part string) {
	b.t.Helper()
	if !b.heard(part) {
		b.t.Errorf("it did not say %q but %q", part, b.lines)
	}
}

func (b *bench) dir(name string) string { return filepath.Join(b.state, "clusters", name) }

func (b *bench) create(name string) *cluster.Cluster {
	b.t.Helper()
	c, err := b.Create(b.t.Context(), name, clustertest.Copied(spec()))
	check(b.t, err)
	return c
}

// up brings a cluster up and down again when the test ends.
func (b *bench) up(name string) *cluster.Cluster {
	b.t.Helper()
	c, err := b.Up(b.t.Context(), name, clustertest.Copied(spec()))
	check(b.t, err)
	b.downAtEnd(name)
	return c
}

func (b *bench) downAtEnd(name string) {
	b.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience.Max)
		defer cancel()
		if err := b.Down(ctx, name, cluster.Immediate); err != nil && !errors.Is(err, fs.ErrNotExist) {
			b.t.Error(err)
		}
	})
}

func (b *bench) status(name string) cluster.Status {
	b.t.Helper()
	all, err := b.Status(b.t.Context())
	check(b.t, err)
	for _, st := range all {
		if st.Name == name {
			return st
		}
	}
	b.t.Fatalf("status does not show %s: %+v", name, all)
	return cluster.Status{}
}

// start runs a cluster as a child of the test.
func start(t *testing.T, c *cluster.Cluster) *cluster.Postmaster {
	t.Helper()
	p, err := c.Start(t.Context(), cluster.StartOptions{})
	check(t, err)
	t.Cleanup(func() {
		if err := p.Stop(context.Background(), cluster.Immediate); err != nil {
			t.Error(err)
		}
	})
	return p
}

// play runs this binary in a role; its end is waited for when the test ends.
func (b *bench) play(role string, env ...string) *player {
	b.t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), roleVariable+"="+role, "PLIMSOLL_STATE="+b.state), env...)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	check(b.t, err)
	stdout, err := cmd.StdoutPipe()
	check(b.t, err)
	check(b.t, cmd.Start())
	p := &player{cmd, stdin, stdout}
	b.t.Cleanup(func() {
		stdin.Close()
		_ = cmd.Wait()
	})
	return p
}

type player struct {
	*exec.Cmd
	stdin  io.Closer
	stdout io.Reader
}

func (p *player) kill() {
	_ = p.Process.Kill()
	_ = p.Wait()
}

// wantNothingIn checks that a command left no file.
func wantNothingIn(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range entries {
		t.Errorf("%s is left", e.Name())
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
