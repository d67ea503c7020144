package agents

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/ground/host/process"
	"plimsoll/ground/problem"
	"plimsoll/lab/run"
)

// Spec is a fleet as a person describes it: plain values, of which nothing is checked or started yet.
type Spec struct {
	Agents   string   // how many, or local: and how many; empty: this process generates the load
	Local    []string // command that starts an agent on this machine
	Bus      string
	Listen   string
	Access   Access
	Software string
	Wait     time.Duration
	Say      func(format string, args ...any)
	Errors   io.Writer // of agents on this machine
}

// Check finds mistakes before anything is created.
func (s Spec) Check() error {
	if s.Agents == "" {
		return nil
	}
	_, err := s.options()
	return err
}

// Open waits for the agents of one run; nil if it has none. Unless empty, samples is the file in which local agents
// write their operations.
func (s Spec) Open(ctx context.Context, dsn, samples string) (*Fleet, error) {
	if s.Agents == "" {
		return nil, nil
	}
	o, err := s.plan()
	if err != nil {
		return nil, err
	}
	if samples != "" && len(o.Local) == 0 {
		return nil, problem.New(problem.Usage, errors.New("--samples: agents on other machines write their own "+
			"samples"),
			"plimsoll agent --samples FILE")
	}
	if samples != "" {
		if samples, err = filepath.Abs(samples); err != nil {
			return nil, err
		}
		o.Local = append(o.Local, "--samples", samples)
	}
	o.DSN = dsn
	return Open(ctx, o)
}

// Generators opens a fleet for each of several runs, on whichever database it is; nil without agents.
func (s Spec) Generators() (func(ctx context.Context, dsn string) (run.Generator, func(), error), error) {
	if s.Agents == "" {
		return nil, nil
	}
	o, err := s.plan()
	if err != nil {
		return nil, err
	}
	if len(o.Local) == 0 {
		s.Say("the agents must join again for each run: start them with --stay")
	}
	return func(ctx context.Context, dsn string) (run.Generator, func(), error) {
		o.DSN = dsn
		fleet, err := Open(ctx, o)
		if err != nil {
			return nil, nil, err
		}
		o.Say = func(string, ...any) {} // the same agents each time
		return fleet, fleet.Dismiss, nil
	}, nil
}

// plan says which token agents on other machines need.
func (s Spec) plan() (Options, error) {
	o, err := s.options()
	if err == nil && s.Access.Token == "" && len(o.Local) == 0 && s.Bus == "" {
		s.Say("start agents with this token: PLIMSOLL_TOKEN=%s", o.Access.Token)
	}
	return o, err
}

func (s Spec) options() (Options, error) {
	text, local := strings.CutPrefix(s.Agents, "local:")
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > AgentsMax {
		return Options{}, problem.New(problem.Usage, fmt.Errorf("--agents: takes a number of agents, or "+
			"local: and a number, not %q", s.Agents),
			fmt.Sprintf("such as --agents 3 or --agents local:3, at most %d", AgentsMax))
	}
	o := Options{Agents: n, Bus: s.Bus, Listen: s.Listen, Access: s.Access, Software: s.Software, Wait: s.Wait,
		Say: s.Say, Errors: s.Errors}
	if local {
		o.Local = slices.Clone(s.Local)
	}
	if s.Bus == "" && s.Access.Token == "" {
		if host, _, err := net.SplitHostPort(s.Listen); err == nil && !process.Loopback(host) {
			return o, problem.New(problem.Usage, fmt.Errorf("--agents-listen %s: other machines can reach this "+
				"address, and no token is set", s.Listen), "set the same PLIMSOLL_TOKEN on both sides")
		}
		o.Access.Token = rand.Text()
	}
	address := s.Listen
	if s.Bus != "" {
		address = s.Bus
	}
	return o, Secure(address, o.Access)
}
