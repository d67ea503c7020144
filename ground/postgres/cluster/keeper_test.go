package cluster

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"plimsoll/test/patience"
)

// late is a context that is cancelled just after somebody has looked whether it is.
type late struct{ context.Context }

func (late) Err() error { return context.Canceled }

// The keeper reports that it is ready in the very moment in which the start is cancelled: it is stopped all the same.
func TestAwaitKeeper_ReadyAsItIsCancelled(t *testing.T) {
	keeper := exec.Command("sleep", "600")
	if err := keeper.Start(); err != nil {
		t.Fatal(err)
	}
	guard := time.AfterFunc(patience.Max, func() { _ = keeper.Process.Kill() })
	defer guard.Stop()
	ended := make(chan struct{})
	go func() {
		_ = keeper.Wait()
		close(ended)
	}()
	s := Open(t.TempDir())
	err := s.awaitKeeper(late{t.Context()}, &Cluster{store: s, marker: marker{Name: "a"}}, keeper.Process.Pid,
		strings.NewReader(`{"ready": true}`+"\n"), ended)
	<-ended
	if by := keeper.ProcessState.Sys().(syscall.WaitStatus).Signal(); !errors.Is(err, context.Canceled) ||
		by != syscall.SIGTERM {
		t.Errorf("%v, ended by %v", err, by)
	}
}
