package self

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"plimsoll/lab/run/result"
)

// generator is this program as another process, which makes a run on a planted server.
type generator struct {
	cmd       *exec.Cmd
	server    *server
	state     string // its folder
	out, errs bytes.Buffer
	ended     chan struct{}
	err       error // how it ended; read after ended
}

// generate a load that lasts so long.
func (s *stage) generate(ctx context.Context, name string, lasts time.Duration) (*generator, error) {
	server, err := s.plant(ctx, "steady", "")
	if err != nil {
		return nil, err
	}
	g := &generator{server: server, state: filepath.Join(s.dir, name), ended: make(chan struct{})}
	path, err := s.write(name, header+"[http]\nbase = \""+server.URL+"\"\n"+look)
	if err != nil {
		server.Stop()
		return nil, err
	}
	args := append(slices.Clone(s.Program[1:]), "run", "--scenario", path, "--ramp", "0s", "--duration", lasts.String(),
		"--json")
	g.cmd = exec.CommandContext(ctx, s.Program[0], args...)
	g.cmd.Env = append(os.Environ(), "PLIMSOLL_STATE="+g.state)
	g.cmd.WaitDelay = 10 * time.Second
	g.cmd.Stdout, g.cmd.Stderr = &g.out, &g.errs
	if err := g.cmd.Start(); err != nil {
		server.Stop()
		return nil, fmt.Errorf("start a run: %w", err)
	}
	go func() {
		defer close(g.ended)
		g.err = g.cmd.Wait()
	}()
	return g, nil
}

// kill it.
func (g *generator) kill() {
	_ = g.cmd.Process.Signal(syscall.SIGKILL) // it may have ended by itself
	<-g.ended
}

func (g *generator) end() {
	g.kill()
	g.server.Stop()
}

// begun waits until its users are active.
func (g *generator) begun(ctx context.Context) error {
	for g.server.served() == 0 {
		select {
		case <-g.ended:
			return g.failure()
		default:
		}
		if err := wait(ctx, 10*time.Millisecond); err != nil {
			return err
		}
		if err := g.server.ask(ctx); err != nil {
			return err
		}
	}
	return nil
}

// failure of a run that should not have ended yet.
func (g *generator) failure() error {
	return fmt.Errorf("the run ended too early: %w: %s", g.err, strings.TrimSpace(g.errs.String()))
}

// result that it prints when it has ended.
func (g *generator) result() (*result.Result, error) {
	<-g.ended
	var r result.Result
	if err := json.Unmarshal(g.out.Bytes(), &r); err != nil {
		return nil, fmt.Errorf("read the run: %w, %w: %s", err, g.err, strings.TrimSpace(g.errs.String()))
	}
	return &r, nil
}
