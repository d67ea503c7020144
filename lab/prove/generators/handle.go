package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"syscall"
	"time"

	"plimsoll/ground/host/process"
)

// endWithin is how long a process may take to end before it is killed.
const endWithin = 20 * time.Second

// application is the handle of the target's process.
type application struct {
	child *process.Child
	at    addresses
}

// startApplication starts this program as the target.
func startApplication() (*application, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("start target: %w", err)
	}
	cmd := exec.Command(self, "-target")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start target: %w", err)
	}
	a := &application{}
	if a.child, err = process.StartChild(cmd, syscall.SIGKILL); err != nil {
		return nil, fmt.Errorf("start target: %w", err)
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &a.at)
	}
	if err != nil {
		a.end()
		return nil, fmt.Errorf("start target: %w", err)
	}
	return a, nil
}

func (a *application) end() { endChild(a.child) }

// endChild lets a process end by itself, and kills it if it does not.
func endChild(c *process.Child) {
	_ = c.SignalGroup(syscall.SIGINT)
	select {
	case <-c.Exited():
	case <-time.After(endWithin):
		_ = c.SignalGroup(syscall.SIGKILL)
		<-c.Exited()
	}
}

func (a *application) report(ctx context.Context) (t report, err error) {
	err = a.call(ctx, http.MethodGet, "/figures", &t)
	return t, err
}

// stall returns when the application answers again.
func (a *application) stall(ctx context.Context, d time.Duration) error {
	return a.call(ctx, http.MethodPost, "/stall?for="+d.String(), nil)
}

func (a *application) call(ctx context.Context, method, path string, into any) error {
	request, err := http.NewRequestWithContext(ctx, method, a.at.Handle+path, nil)
	if err != nil {
		return fmt.Errorf("ask target: %w", err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("ask target: %w", err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		return fmt.Errorf("ask target: %s %s %w", answer.Status, body, err)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(body, into)
}
