package cluster

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"plimsoll/lab/cluster/profile"
	"plimsoll/lab/machine"
	"plimsoll/lab/server"
	"plimsoll/platform/problem"
)

// Superuser is the database superuser of every cluster.
const Superuser = "plimsoll"

// DefaultName is the cluster that commands mean when none is named.
const DefaultName = "main"

// Spec is what a person wants of a cluster. Zero values mean "not said": the
// default at creation, what the cluster has afterwards.
type Spec struct {
	// Engine is plimsoll, vanilla, system or the folder of a prefix. Defaults to
	// our build, or where that is missing the newest installed server.
	Engine string
	// Profile is tuned or stock. Defaults to tuned.
	Profile profile.Name
	// Memory is the share of the machine's RAM that the tuned profile plans
	// with: "50%" or "4GB". Defaults to all of it.
	Memory string
	// Port on 127.0.0.1. Defaults to a free one, remembered.
	Port int
	// SocketOnly asks for no TCP port at all.
	SocketOnly bool
	// Settings are written after the profile's and win over them.
	Settings []profile.Setting
	// Unsafe skips every flush to disk: only for clusters that tests throw away.
	Unsafe bool
}

// check refuses what can't be, before anything is done.
func (s Spec) check() error {
	if s.SocketOnly && s.Port != 0 {
		return problem.New(problem.Usage, errors.New("a port and socket only exclude each other"), "give one of them")
	}
	if s.Profile != "" && s.Profile != profile.Tuned && s.Profile != profile.Stock {
		return problem.New(problem.Usage, fmt.Errorf("unknown profile %q", s.Profile), "tuned or stock")
	}
	for _, setting := range s.Settings {
		if err := setting.Check(); err != nil {
			return err
		}
	}
	return s.checkMemory()
}

func (s Spec) checkMemory() error {
	facts, err := machine.Read("/")
	if err != nil {
		return fmt.Errorf("look at the machine: %w", err)
	}
	_, err = profile.ParseMemory(s.Memory, facts.MemoryBytes)
	return err
}

// over is m with what the spec says in place of what it had.
func (s Spec) over(m marker) marker {
	if s.Profile != "" {
		m.Profile = s.Profile
	}
	if s.Memory != "" {
		m.Memory = s.Memory
	}
	if s.Port != 0 {
		m.Port, m.PortFixed, m.SocketOnly = s.Port, true, false
	}
	if s.SocketOnly {
		m.Port, m.PortFixed, m.SocketOnly = 0, false, true
	}
	if s.Settings != nil {
		m.Settings = s.Settings
	}
	m.Unsafe = m.Unsafe || s.Unsafe
	return m
}

// SameEngine refuses another engine than the one that made the data.
func (c *Cluster) SameEngine(ctx context.Context, asked string) error {
	if asked == "" || asked == c.Engine {
		return nil
	}
	if found, err := server.Find(ctx, asked); err == nil && found.Prefix == c.marker.Server.Prefix {
		return nil // by another word
	}
	return problem.New(problem.Usage, c.wrap(fmt.Errorf("was made with engine %s, not %s", c.Engine, asked)),
		"choose another name, or destroy it first")
}

// agrees refuses to change a cluster that runs.
func (c *Cluster) agrees(ctx context.Context, s Spec) error {
	if err := c.SameEngine(ctx, s.Engine); err != nil {
		return err
	}
	m := s.over(c.marker)
	if m.Port == c.Port {
		m.PortFixed = c.PortFixed // it has the port, chosen or not
	}
	if reflect.DeepEqual(m, c.marker) {
		return nil
	}
	return problem.New(problem.Usage, c.wrap(errors.New("runs already, with other settings than asked for")),
		"stop it first: plimsoll down "+c.Name())
}
