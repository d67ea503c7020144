package lock_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"plimsoll/ground/host/lock"
	"plimsoll/ground/host/process"
	"plimsoll/test/leak"
)

// The test binary plays another owner when this names the lock's file.
const holdVariable = "PLIMSOLL_TEST_HOLD"

func TestMain(m *testing.M) {
	if path := os.Getenv(holdVariable); path != "" {
		if _, err := lock.Acquire(context.Background(), path, "other", 0); err != nil {
			panic(err)
		}
		fmt.Println("held")
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}
	leak.Main(m)
}

func TestLock(t *testing.T) {
	t.Run("RefusesWithTheOwnersPid", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "l")
		other := hold(t, path)
		_, err := lock.Acquire(t.Context(), path, "me", 0)
		var held *lock.HeldError
		if !errors.As(err, &held) || held.Owner.PID != other.Process.Pid || held.Owner.What != "other" {
			t.Errorf("got %v", err)
		}
		owner, is, err := lock.HeldBy(path)
		if err != nil || !is || owner.PID != other.Process.Pid {
			t.Errorf("held by %v, %v, %v", owner, is, err)
		}
	})
	t.Run("IsFreeWhenItsOwnerWasKilled", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "l")
		other := hold(t, path)
		_ = other.Process.Kill()
		_ = other.Wait()
		if _, is, err := lock.HeldBy(path); is || err != nil {
			t.Errorf("still held: %v, %v", is, err)
		}
		acquire(t, path, 0)
	})
	t.Run("IsHadByWhoWaitsLongEnough", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "l")
		first := acquire(t, path, 0)
		got := make(chan error)
		go func() {
			l, err := lock.Acquire(context.Background(), path, "second", time.Minute)
			if err == nil {
				err = l.Release()
			}
			got <- err
		}()
		if err := first.Release(); err != nil {
			t.Fatal(err)
		}
		if err := <-got; err != nil {
			t.Error(err)
		}
	})
	t.Run("WaitingEndsWithItsContext", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "l")
		acquire(t, path, 0)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := lock.Acquire(ctx, path, "me", time.Minute); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("NobodyHoldsAFileThatIsNotThere", func(t *testing.T) {
		if _, is, err := lock.HeldBy(filepath.Join(t.TempDir(), "l")); is || err != nil {
			t.Errorf("held %v, error %v: want nobody to hold it", is, err)
		}
	})
	t.Run("DoesNotFollowALink", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.Symlink(filepath.Join(dir, "target"), filepath.Join(dir, "l")); err != nil {
			t.Fatal(err)
		}
		if _, err := lock.Acquire(t.Context(), filepath.Join(dir, "l"), "me", 0); err == nil {
			t.Error("locked the link's target")
		}
	})
}

func TestLock_ExcludesThoughOwnersRemoveTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	var inside, broken atomic.Int32
	var all sync.WaitGroup
	for range 4 {
		all.Add(1)
		go func() {
			defer all.Done()
			for range 50 {
				l, err := lock.Acquire(t.Context(), path, "me", time.Minute)
				if err != nil {
					t.Error(err)
					return
				}
				if inside.Add(1) != 1 {
					broken.Add(1)
				}
				inside.Add(-1)
				if err := l.Remove(); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	all.Wait()
	if n := broken.Load(); n > 0 {
		t.Errorf("two owners at once, %d times", n)
	}
}

func TestOwner_SaysWho(t *testing.T) {
	o := lock.Owner{ID: process.ID{PID: 7}, What: "keeper", Since: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	if got := o.String(); got != "keeper (pid 7, since 03:04:05)" {
		t.Error(got)
	}
}

func acquire(t *testing.T, path string, wait time.Duration) *lock.Lock {
	t.Helper()
	l, err := lock.Acquire(t.Context(), path, "me", wait)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Release() })
	return l
}

// hold has another process take the lock.
func hold(t *testing.T, path string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), holdVariable+"="+path)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		_ = cmd.Wait()
	})
	if _, err := io.ReadFull(out, make([]byte, len("held"))); err != nil {
		t.Fatal(err)
	}
	return cmd
}
