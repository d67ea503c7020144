package process_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"plimsoll/ground/host/process"
	"plimsoll/test/leak"
	"plimsoll/test/patience"
)

// The test binary plays the parent that dies, when this names a role.
const roleVariable = "PLIMSOLL_TEST_ROLE"

func TestMain(m *testing.M) {
	if os.Getenv(roleVariable) == "parent" {
		playParent()
	}
	leak.Main(m)
}

// playParent starts a child that its death ends, says its number, and waits.
func playParent() {
	cmd := exec.Command("sleep", "600")
	if a, _ := process.ServerAccount(); a != nil { // the change of user clears the signal if set too early
		a.Run(cmd)
	}
	c, err := process.StartChild(cmd, syscall.SIGTERM)
	if err != nil {
		panic(err)
	}
	fmt.Println(c.ID().PID)
	_, _ = io.Copy(io.Discard, os.Stdin)
	select {}
}

func TestChild(t *testing.T) {
	t.Run("DiesWithItsParent", func(t *testing.T) {
		parent := exec.Command(os.Args[0])
		parent.Env = append(os.Environ(), roleVariable+"=parent")
		parent.Stderr = os.Stderr
		out, err := parent.StdoutPipe()
		check(t, err)
		check(t, parent.Start())
		line, err := bufio.NewReader(out).ReadString('\n')
		check(t, err)
		var pid int
		_, err = fmt.Sscan(line, &pid)
		check(t, err)
		child, err := process.Of(pid)
		check(t, err)
		check(t, parent.Process.Kill())
		_ = parent.Wait()
		check(t, child.AwaitEnd(patience.Context(t)))
	})
	t.Run("OutlivesTheThreadsOfItsParent", func(t *testing.T) {
		stop := endThreads()
		defer stop()
		var children []*process.Child
		for range 100 {
			children = append(children, sleeper(t))
		}
		stop()
		for _, c := range children {
			if !c.ID().Alive() {
				t.Fatal("a child died with a thread")
			}
		}
	})
	t.Run("SaysHowItEnded", func(t *testing.T) {
		c, err := process.StartChild(exec.Command("sh", "-c", "exit 7"), syscall.SIGKILL)
		check(t, err)
		<-c.Exited()
		if c.Err() == nil || c.Err().Error() != "exit status 7" {
			t.Errorf("got %v", c.Err())
		}
		if err := c.Signal(syscall.SIGTERM); !errors.Is(err, process.ErrGone) {
			t.Errorf("signal after the end: %v", err)
		}
	})
	t.Run("ThatCannotStartIsAnError", func(t *testing.T) {
		if _, err := process.StartChild(exec.Command("/nonexistent"), syscall.SIGKILL); !errors.Is(err,
			os.ErrNotExist) {
			t.Errorf("got %v", err)
		}
	})
}

// endThreads ends threads of this process, one after the other: a goroutine
// that ends locked to its thread takes the thread along.
func endThreads() (stop func()) {
	var all sync.WaitGroup
	var stopped atomic.Bool
	for range 4 {
		all.Add(1)
		go func() {
			defer all.Done()
			for !stopped.Load() {
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					runtime.LockOSThread()
				}()
				<-ended
			}
		}()
	}
	return func() {
		stopped.Store(true)
		all.Wait()
	}
}

func TestID(t *testing.T) {
	t.Run("OfAnotherProcessWithTheSameNumberIsNotSignalled", func(t *testing.T) {
		c := sleeper(t)
		former := process.ID{PID: c.ID().PID, Start: c.ID().Start - 1}
		if former.Alive() {
			t.Error("the former owner of the number counts as alive")
		}
		if err := former.Signal(syscall.SIGKILL); !errors.Is(err, process.ErrGone) {
			t.Errorf("signal: %v", err)
		}
		if !c.ID().Alive() {
			t.Error("the new owner was hit")
		}
	})
	t.Run("ThatWaitsToBeReapedHasEnded", func(t *testing.T) {
		cmd := exec.Command("sleep", "600")
		check(t, cmd.Start())
		id, err := process.Of(cmd.Process.Pid)
		check(t, err)
		check(t, id.Signal(syscall.SIGKILL))
		check(t, id.AwaitEnd(patience.Context(t))) // not reaped before Wait
		_ = cmd.Wait()
	})
	t.Run("AwaitEndKeepsToItsContext", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := process.Self().AwaitEnd(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}

func TestKillTree_LeavesNobody(t *testing.T) {
	// Children in sessions of their own, as PostgreSQL's are, and grandchildren.
	cmd := exec.Command("sh", "-c", "setsid sh -c 'sleep 601 & wait' & setsid sleep 602 & echo; wait")
	out, err := cmd.StdoutPipe()
	check(t, err)
	c, err := process.StartChild(cmd, syscall.SIGKILL)
	check(t, err)
	_, err = bufio.NewReader(out).ReadString('\n')
	check(t, err)
	family := awaitFamily(t, c.ID(), 3)
	check(t, c.ID().KillTree(t.Context()))
	<-c.Exited()
	for _, id := range family {
		check(t, id.AwaitEnd(patience.Context(t)))
	}
}

// awaitFamily returns when that many descendants live.
func awaitFamily(t *testing.T, id process.ID, n int) (family []process.ID) {
	t.Helper()
	patience.Until(t, fmt.Sprintf("%d descendants live", n), func() bool {
		var err error
		family, err = id.Descendants()
		check(t, err)
		return len(family) >= n
	})
	return family
}

func TestAt(t *testing.T) {
	account, err := process.ServerAccount()
	check(t, err)
	cmd := exec.Command("sleep", "600")
	cmd.Dir = "/usr"
	account.Run(cmd)
	c, err := process.StartChild(cmd, syscall.SIGKILL)
	check(t, err)
	defer end(c)
	program := programOf(t, "sleep")
	pid := c.ID().PID
	for _, x := range []struct {
		name, dir, program string
		pid                int
		want               bool
	}{
		{"FindsItByFolderAndProgram", "/usr", program, pid, true},
		{"NotInAnotherFolder", "/", program, pid, false},
		{"NotAnotherProgram", "/usr", "postgres", pid, false},
		{"NotAnotherNumber", "/usr", program, os.Getpid(), false},
		{"NotInAFolderThatIsGone", "/nonexistent", program, pid, false},
	} {
		t.Run(x.name, func(t *testing.T) {
			if id, ok := process.At(x.pid, x.dir, x.program, account); ok != x.want || ok && id != c.ID() {
				t.Errorf("got %v, %v", id, ok)
			}
		})
	}
	found, err := process.In("/usr", program, account)
	check(t, err)
	if !strings.Contains(fmt.Sprint(found), fmt.Sprint(c.ID())) {
		t.Errorf("In: %v lacks %v", found, c.ID())
	}
}

// programOf is what the kernel calls a program: sleep is busybox somewhere.
func programOf(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	check(t, err)
	info, err := os.Readlink(path)
	if err == nil {
		return info
	}
	return name
}

func sleeper(t *testing.T) *process.Child {
	t.Helper()
	c, err := process.StartChild(exec.Command("sleep", "600"), syscall.SIGKILL)
	if err != nil {
		t.Error(err)
		panic(err)
	}
	t.Cleanup(func() { end(c) })
	return c
}

func end(c *process.Child) {
	_ = c.Signal(syscall.SIGKILL)
	<-c.Exited()
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
