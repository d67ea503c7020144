package agents

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"

	"plimsoll/ground/host/process"
)

// A local agent that was ordered to leave exits by itself; one that does not is terminated, and finally killed.
const (
	leaveWithin = 2 * time.Second
	endsWithin  = 10 * time.Second
)

type child = process.Child

// startLocal starts agents on this machine. Secrets go into the environment, since everybody on the machine can read
// command lines.
func (f *Fleet) startLocal() error {
	if len(f.Local) == 0 {
		return nil
	}
	for range f.Agents {
		command := append(append([]string{}, f.Local...), "--join", f.url)
		for flag, file := range map[string]string{"--tls-ca": f.Access.CA, "--tls-cert": f.Access.Cert,
			"--tls-key": f.Access.Key} {
			if file != "" {
				command = append(command, flag, file)
			}
		}
		cmd := exec.Command(command[0], command[1:]...)
		cmd.Env = append(os.Environ(), "PLIMSOLL_TOKEN="+f.Access.Token)
		if f.DSN != "" {
			cmd.Env = append(cmd.Env, "PLIMSOLL_DSN="+f.DSN)
		}
		cmd.Stderr = f.Errors
		one, err := process.StartChild(cmd, syscall.SIGTERM)
		if err != nil {
			return err
		}
		f.children = append(f.children, one)
	}
	return nil
}

// childDied receives the first local agent that ends; nil without local agents.
func (f *Fleet) childDied() <-chan error {
	died := make(chan error, len(f.children))
	for _, c := range f.children {
		go func() {
			<-c.Exited()
			err := c.Err()
			if err == nil {
				err = errors.New("it exited")
			}
			died <- err
		}()
	}
	return died
}

// stopLocal ends the agents that still run.
func (f *Fleet) stopLocal() {
	if len(f.members) == 0 || !f.gone(leaveWithin) { // one that never joined was not ordered to leave
		f.signal(syscall.SIGTERM)
	}
	if !f.gone(endsWithin) {
		f.signal(syscall.SIGKILL)
		f.gone(endsWithin)
	}
}

func (f *Fleet) signal(sig syscall.Signal) {
	for _, c := range f.children {
		_ = c.Signal(sig) // one that has exited is fine
	}
}

// gone waits until all have exited.
func (f *Fleet) gone(within time.Duration) bool {
	patience := time.NewTimer(within)
	defer patience.Stop()
	for _, c := range f.children {
		select {
		case <-c.Exited():
		case <-patience.C:
			return false
		}
	}
	return true
}
