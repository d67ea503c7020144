package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"plimsoll/ground/host/lock"
	"plimsoll/ground/problem"
)

// keeperPipe names the file descriptor on which a keeper reports to the Up that spawned it; without it a person or a
// supervisor started the keeper.
const keeperPipe = "PLIMSOLL_KEEPER_PIPE"

// report is one line from the keeper to Up.
type report struct {
	Say   string        `json:"say,omitempty"`
	Ready bool          `json:"ready,omitempty"`
	Busy  bool          `json:"busy,omitempty"` // another command holds the cluster
	Error string        `json:"error,omitempty"`
	Class problem.Class `json:"class,omitempty"`
	Hint  string        `json:"hint,omitempty"`
}

// reporter is nil for a keeper that no Up waits for.
type reporter struct{ pipe *os.File }

func openReporter() (*reporter, error) {
	text := os.Getenv(keeperPipe)
	if text == "" {
		return nil, nil
	}
	os.Unsetenv(keeperPipe) // not for the server
	fd, err := strconv.Atoi(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", keeperPipe, err)
	}
	syscall.CloseOnExec(fd)
	return &reporter{os.NewFile(uintptr(fd), "keeper's report")}, nil
}

// send ignores that Up may have gone: the cluster runs all the same.
func (r *reporter) send(line report) {
	if r == nil {
		return
	}
	if text, err := json.Marshal(line); err == nil {
		_, _ = r.pipe.Write(append(text, '\n'))
	}
}

func (r *reporter) close() {
	if r != nil {
		r.pipe.Close()
	}
}

// Keep implements the hidden command 'keep NAME': it starts the postmaster, stays its parent and ends with it. SIGTERM,
// SIGINT or a cancelled ctx stop the server fast, SIGQUIT or a second signal immediately; SIGHUP is passed on.
func (s *Store) Keep(ctx context.Context, name string) error {
	r, err := openReporter()
	if err != nil {
		return err
	}
	defer r.close()
	keeping := *s
	keeping.LockWait = hastyWait
	keeping.Say = func(message string) {
		s.say("%s", message)
		r.send(report{Say: message})
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGHUP)
	defer signal.Stop(signals)
	p, err := keeping.keepStart(ctx, name, signals)
	if err != nil {
		r.send(failed(err))
		return err
	}
	r.send(report{Ready: true})
	r.close()
	return p.keep(ctx, signals)
}

// keepStart cancels the start when a signal asks for the end.
func (s *Store) keepStart(ctx context.Context, name string, signals <-chan os.Signal) (*Postmaster, error) {
	c, err := s.Find(name)
	if err != nil {
		return nil, err
	}
	starting, giveUp := context.WithCancel(ctx)
	defer giveUp()
	started := make(chan struct{})
	listened := make(chan struct{})
	go func() {
		defer close(listened)
		for {
			select {
			case sig := <-signals:
				if sig != syscall.SIGHUP {
					giveUp()
				}
			case <-started:
				return
			}
		}
	}()
	p, err := c.startAs(starting, ownerKeeper, StartOptions{})
	close(started)
	<-listened
	if err == nil && starting.Err() != nil { // asked for at the last moment
		err = errors.Join(starting.Err(), p.abandon())
	}
	return p, err
}

// keep waits for the postmaster's end, and stops it when asked.
func (p *Postmaster) keep(ctx context.Context, signals <-chan os.Signal) error {
	cancelled := ctx.Done()
	asked, signalled := false, false
	for {
		sig := syscall.SIGINT // PostgreSQL's fast shutdown
		select {
		case <-p.exited:
			if asked || p.err == nil {
				return nil
			}
			return p.cluster.wrap(fmt.Errorf("the server ended: %w", p.err))
		case <-cancelled: // perhaps by the same signal that we get, so it is not counted
			cancelled = nil
			asked = true
		case got := <-signals:
			switch {
			case got == syscall.SIGHUP:
				sig = syscall.SIGHUP
			case got == syscall.SIGQUIT || signalled:
				sig = syscall.SIGQUIT
				fallthrough
			default:
				asked, signalled = true, true
			}
		}
		_ = p.child.Signal(sig) // it may have ended already
	}
}

func failed(err error) report {
	return report{
		Error: err.Error(), Class: problem.ClassOf(err), Hint: problem.HintOf(err),
		Busy: errors.As(err, new(*lock.HeldError)),
	}
}

// last says that this is the final line.
func (r report) last() bool { return r.Ready || r.Error != "" }

// problem is the keeper's error as Up returns it to its caller.
func (r report) problem() error {
	return problem.New(r.Class, errors.New(r.Error), r.Hint)
}
