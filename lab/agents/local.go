package agents

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"

	"plimsoll/lab/process"
)

// leaveWithin is how long a local agent may take to leave before it is killed.
const leaveWithin = 10 * time.Second

type child = process.Child

// startLocal starts agents on this machine. The token goes by the environment: everybody here
// can read command lines.
func (f *Fleet) startLocal() error {
	if len(f.Local) == 0 {
		return nil
	}
	for range f.Agents {
		command := append(append([]string{}, f.Local...), "--join", f.url)
		for flag, file := range map[string]string{"--tls-ca": f.Access.CA, "--tls-cert": f.Access.Cert, "--tls-key": f.Access.Key} {
			if file != "" {
				command = append(command, flag, file)
			}
		}
		cmd := exec.Command(command[0], command[1:]...)
		cmd.Env = append(os.Environ(), "PLIMSOLL_TOKEN="+f.Access.Token)
		cmd.Stderr = f.Errors
		one, err := process.StartChild(cmd, syscall.SIGTERM)
		if err != nil {
			return err
		}
		f.children = append(f.children, one)
	}
	return nil
}

// childDied hears of the first local agent that ends; of none when there are none.
func (f *Fleet) childDied() <-chan error {
	died := make(chan error, len(f.children))
	for _, c := range f.children {
		go func() {
			<-c.Exited()
			err := c.Err()
			if err == nil {
				err = errors.New("it left")
			}
			died <- err
		}()
	}
	return died
}

// stopLocal ends what is left of them.
func (f *Fleet) stopLocal() {
	for _, c := range f.children {
		_ = c.Signal(syscall.SIGTERM) // gone is well
	}
	patience := time.After(leaveWithin)
	for _, c := range f.children {
		select {
		case <-c.Exited():
		case <-patience:
			_ = c.Signal(syscall.SIGKILL)
			<-c.Exited()
		}
	}
}
