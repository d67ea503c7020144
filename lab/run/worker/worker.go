package worker

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"plimsoll/ground/problem"
)

const (
	// ListenWithin is how long a worker may take to listen.
	ListenWithin = 60 * time.Second
	// LeaveWithin is how long it may take to stop before it is killed.
	LeaveWithin = 20 * time.Second
	// endWithin is how long a worker that closed its output without a line may take to end: it is dying, and on a busy
	// machine slowly.
	endWithin = 10 * time.Second
	// logWithin is how long its log is read after its end, if one of its children holds it open.
	logWithin = 2 * time.Second
)

// Worker is a running process.
type Worker struct {
	URL string
	PID int

	cmd  *exec.Cmd
	last *tail
	gone chan struct{}
	err  error // how it ended; read after gone
}

// Start runs the command and waits until it listens. env is added to this process's environment; output goes to log,
// which may be nil.
func Start(ctx context.Context, command, env []string, log io.Writer) (*Worker, error) {
	if len(command) == 0 {
		return nil, errors.New("start worker: no command")
	}
	w := &Worker{cmd: exec.Command(command[0], command[1:]...), last: &tail{}, gone: make(chan struct{})}
	w.cmd.Env = append(os.Environ(), env...)
	w.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	w.cmd.WaitDelay = logWithin
	w.cmd.Stderr = w.last
	if log != nil {
		w.cmd.Stderr = io.MultiWriter(w.last, lossy{log})
	}
	out, in, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start worker: %w", err)
	}
	w.cmd.Stdout = in
	err = w.launch()
	in.Close()
	if err != nil {
		out.Close()
		return nil, problem.New(problem.Environment, fmt.Errorf("start worker: %w", err), "")
	}
	return w, w.listen(ctx, out)
}

// launch starts the process from a thread that lives as long as the process: the kernel sends the parent-death signal
// when the thread that started a child ends, and Go may end threads at any time.
func (w *Worker) launch() error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := w.cmd.Start()
		started <- err
		if err != nil {
			return
		}
		w.err = w.cmd.Wait()
		close(w.gone)
	}()
	if err := <-started; err != nil {
		return err
	}
	w.PID = w.cmd.Process.Pid
	return nil
}

// listen reads the first line and discards the rest.
func (w *Worker) listen(ctx context.Context, out *os.File) error {
	first := make(chan string, 1)
	go func() {
		defer out.Close()
		reader := bufio.NewReader(out)
		line, _ := reader.ReadString('\n')
		first <- line
		_, _ = io.Copy(io.Discard, reader)
	}()
	timeout := time.NewTimer(ListenWithin)
	defer timeout.Stop()
	var err error
	select {
	case line := <-first:
		if err = w.readAddress(line); err == nil {
			return nil
		}
	case <-timeout.C:
		err = fmt.Errorf("start worker: it did not listen within %v", ListenWithin)
	case <-ctx.Done():
		err = fmt.Errorf("start worker: %w", ctx.Err())
	}
	w.Kill()
	if ctx.Err() != nil {
		return err
	}
	return problem.New(problem.Environment, err, w.LastOutput())
}

func (w *Worker) readAddress(line string) error {
	var announced struct {
		Listening string `json:"listening"`
	}
	if line == "" {
		select { // if it has ended, its exit status says more
		case <-w.gone:
			return fmt.Errorf("start worker: it exited before it listened: %w", w.Ended())
		case <-time.After(endWithin):
			return errors.New("start worker: it closed its output before it listened")
		}
	}
	err := json.Unmarshal([]byte(line), &announced)
	if err == nil {
		_, err = url.ParseRequestURI(announced.Listening)
	}
	if err != nil {
		return fmt.Errorf("start worker: its first line is not {\"listening\":URL} but %.80q", strings.TrimSpace(line))
	}
	w.URL = announced.Listening
	return nil
}

// Gone is closed when the process has ended.
func (w *Worker) Gone() <-chan struct{} { return w.gone }

// Ended says how the process ended, once Gone is closed.
func (w *Worker) Ended() error {
	if w.err == nil {
		return errors.New("exit status 0")
	}
	return w.err
}

// LastOutput is the last line of its log.
func (w *Worker) LastOutput() string { return w.last.line() }

// Stop asks it to stop, waits, and kills it if it does not.
func (w *Worker) Stop() {
	_ = w.cmd.Process.Signal(syscall.SIGTERM)
	timeout := time.NewTimer(LeaveWithin)
	defer timeout.Stop()
	select {
	case <-w.gone:
	case <-timeout.C:
		w.Kill()
	}
}

// Kill kills it and all its descendants, and waits.
func (w *Worker) Kill() {
	select {
	case <-w.gone: // its pid may have been reused
	default:
		_ = syscall.Kill(-w.PID, syscall.SIGKILL)
		<-w.gone
	}
}
