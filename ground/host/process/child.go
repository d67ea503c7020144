package process

import (
	"os/exec"
	"runtime"
	"syscall"
)

// Child is a process that this one started and reaps. It dies with this one.
type Child struct {
	cmd    *exec.Cmd
	id     ID
	exited chan struct{}
	err    error
}

// StartChild starts cmd in its own process group, so that a terminal's Ctrl-C reaches only us. atDeath is the signal
// that the kernel sends it when we die.
//
// To the kernel the parent is a thread, and Go may end threads. So the thread that starts the child stays locked until
// the child has ended.
func StartChild(cmd *exec.Cmd, atDeath syscall.Signal) (*Child, error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	cmd.SysProcAttr.Pdeathsig = atDeath // Go sets it after the change of user, which would clear it
	c := &Child{cmd: cmd, exited: make(chan struct{})}
	started := make(chan error)
	go c.live(started)
	if err := <-started; err != nil {
		return nil, err
	}
	return c, nil
}

func (c *Child) live(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := c.cmd.Start()
	if err == nil {
		c.id, _ = Of(c.cmd.Process.Pid) // not reaped yet, so it exists
	}
	started <- err
	if err != nil {
		return
	}
	c.err = c.cmd.Wait()
	close(c.exited)
}

// ID identifies the child.
func (c *Child) ID() ID { return c.id }

// Exited is closed when the child has ended and is reaped.
func (c *Child) Exited() <-chan struct{} { return c.exited }

// Err is the error of exec.Cmd.Wait; nil while the child runs.
func (c *Child) Err() error {
	select {
	case <-c.exited:
		return c.err
	default:
		return nil
	}
}

// Signal reaches the child and never another process: the kernel does not reuse the pid before we have reaped it.
func (c *Child) Signal(sig syscall.Signal) error {
	if err := c.cmd.Process.Signal(sig); err != nil {
		return ErrGone
	}
	return nil
}

// SignalGroup reaches the child and those of its children that stayed in its group.
func (c *Child) SignalGroup(sig syscall.Signal) error {
	select {
	case <-c.exited:
		return ErrGone
	default:
		return syscall.Kill(-c.id.PID, sig)
	}
}
