package cluster_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/ground/host/process"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/test/patience"
)

// hostile is the server's user who puts links to what is root's in the way of root's commands.
type hostile struct {
	*bench
	*process.Account
	cluster *cluster.Cluster
	victim  string // root's folder; whoever opens something there followed a link
	watch   int
	reached atomic.Int64 // connections to root's socket
}

func newHostile(t *testing.T) *hostile {
	t.Helper()
	account, err := process.ServerAccount()
	check(t, err)
	if account == nil {
		t.Skip("needs root: links are put in root's way")
	}
	b := setup(t)
	h := &hostile{bench: b, Account: account, cluster: b.create("a"), victim: filepath.Join(t.TempDir(), "victim")}
	check(t, os.Mkdir(h.victim, 0o700))
	for _, name := range []string{"postmaster.pid", "PG_VERSION", "postgresql.conf", "1", "pg_control"} {
		check(t, os.WriteFile(filepath.Join(h.victim, name), []byte("root's own\n"), 0o600))
	}
	h.listen()
	h.watch, err = unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	check(t, err)
	t.Cleanup(func() { unix.Close(h.watch) })
	_, err = unix.InotifyAddWatch(h.watch, h.victim, unix.IN_ALL_EVENTS)
	check(t, err)
	return h
}

// listen on root's socket, to which nothing but a link of the hostile user's leads.
func (h *hostile) listen() {
	l, err := net.Listen("unix", h.socket())
	check(h.t, err)
	h.t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			h.reached.Add(1)
			conn.Close()
		}
	}()
}

func (h *hostile) socket() string { return filepath.Join(h.victim, "socket") }

// untouched fails when anybody opened, changed or removed what is root's since the last time.
func (h *hostile) untouched(step string) {
	h.t.Helper()
	buffer := make([]byte, 64<<10)
	if n, err := unix.Read(h.watch, buffer); n > 0 || err != unix.EAGAIN {
		h.t.Errorf("%s: root followed a link: %d bytes of events, %v; %q", step, n, err, h.lines)
	}
	if n := h.reached.Load(); n > 0 {
		h.t.Errorf("%s: root connected to a socket behind a link", step)
	}
}

// swap puts a link to what is root's in a place of the cluster's folder, with the rights of the server's user; back
// undoes it.
func (h *hostile) swap(place, target string) (back func()) {
	h.t.Helper()
	path := filepath.Join(h.cluster.Dir(), place)
	var err error
	h.WithPermissions(func() {
		_ = os.Rename(path, path+".aside")
		err = os.Symlink(target, path)
	})
	check(h.t, err)
	return func() {
		h.WithPermissions(func() {
			_ = os.Remove(path)
			_ = os.Rename(path+".aside", path)
		})
	}
}

// places are what root looks at below the data and next to the socket.
func (h *hostile) places() map[string]string {
	return map[string]string{
		"data/postgresql.conf": filepath.Join(h.victim, "postgresql.conf"),
		"data/postmaster.pid":  filepath.Join(h.victim, "postmaster.pid"),
		"data/PG_VERSION":      filepath.Join(h.victim, "PG_VERSION"),
		"data/base/1":          h.victim,
		"data/base":            h.victim,
		"data/global":          h.victim,
		"data/pg_wal":          h.victim,
	}
}

func TestHostileUser_LinksInTheDataLeadRootNowhere(t *testing.T) {
	h := newHostile(t)
	steps := []struct {
		name string
		do   func()
	}{
		{"status", func() { h.status("a") }},
		{"up", func() {
			if _, err := h.Up(t.Context(), "a", spec()); err == nil {
				check(t, h.Down(t.Context(), "a", cluster.Immediate))
			}
		}},
		{"down", func() { _ = h.Down(t.Context(), "a", cluster.Fast) }},
	}
	for place, target := range h.places() {
		back := h.swap(place, target)
		for _, step := range steps {
			step.do()
			h.untouched(step.name + " with a link at " + place)
		}
		back()
	}
	if st := h.status("a"); st.State != cluster.Stopped {
		t.Errorf("it is %s", st.State)
	}
}

func TestHostileUser_LinksInPlaceOfTheSocketLeadRootNowhere(t *testing.T) {
	h := newHostile(t)
	c := h.up("a")
	socket := filepath.Join("run", ".s.PGSQL."+strconv.Itoa(c.Port))
	back := h.swap(socket, h.socket())
	if st := h.status("a"); st.Problem == "" {
		t.Errorf("status sees nothing wrong: %+v", st)
	}
	h.untouched("status with a link at the socket")
	back()
	check(t, h.Down(t.Context(), "a", cluster.Fast))
	back = h.swap(socket, h.socket())
	defer back()
	h.up("a")
	h.untouched("up with a link at the socket")
}

// It swaps folders and links to and fro while root walks.
func TestHostileUser_RacesLeadRootNowhere(t *testing.T) {
	h := newHostile(t)
	base := filepath.Join(h.cluster.DataDir(), "base")
	check(t, os.Lchown(base, h.UID, h.GID))
	var folder int
	var err error
	h.WithPermissions(func() {
		check(t, os.Symlink(h.victim, filepath.Join(base, "0")))
		folder, err = unix.Open(base, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	})
	check(t, err)
	defer unix.Close(folder)
	ctx, stop := context.WithCancel(t.Context())
	var swaps atomic.Int64
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		h.WithPermissions(func() {
			for ctx.Err() == nil && unix.Renameat2(folder, "0", folder, "1", unix.RENAME_EXCHANGE) == nil {
				swaps.Add(1)
			}
		})
	}()
	defer func() {
		stop()
		<-ended
	}()
	const looks, swapsMin = 200, 1000
	for n := 0; n < looks || swaps.Load() < swapsMin && ctx.Err() == nil; n++ {
		h.status("a")
	}
	h.untouched("status in a race")
	_ = h.Destroy(t.Context(), "a") // which may lose the race, but harms nobody
	h.untouched("destroy in a race")
}

func TestRoot_KeepsNoClusterWhereAnotherUserMaySwapIt(t *testing.T) {
	h := newHostile(t)
	check(t, os.Chown(h.state, h.UID, h.GID))
	_, findErr := h.Find("a")
	_, createErr := h.Create(t.Context(), "b", spec())
	_, listErr := h.Status(t.Context())
	for step, err := range map[string]error{"find": findErr, "create": createErr, "status": listErr} {
		if err == nil {
			t.Errorf("%s: no error", step)
		}
	}
	_, err := os.Lstat(h.dir("b"))
	if !os.IsNotExist(err) {
		t.Errorf("made a cluster there: %v", err)
	}
	check(t, os.Chown(h.state, 0, 0))
	limit, cancel := context.WithTimeout(t.Context(), patience.Max+time.Second)
	defer cancel()
	check(t, h.Destroy(limit, "a"))
}
