package cluster

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"plimsoll/ground/host/machine"
	"plimsoll/ground/postgres/cluster/profile"
	"plimsoll/ground/postgres/installation"
	"plimsoll/ground/postgres/storage"
	"plimsoll/ground/problem"
)

// Superuser is the database superuser of every cluster.
const Superuser = "plimsoll"

// Spec is the cluster that a user asks for. Zero values mean unspecified: the default at creation, later what the
// cluster already has.
type Spec struct {
	// Engine is plimsoll, vanilla, stock, system or the folder of a prefix. Defaults to our build, or if that is
	// missing to the newest installed server.
	Engine string
	// Profile is tuned, stock, report or 1c. Defaults to tuned.
	Profile profile.Name
	// Memory is the share of the machine's RAM that the tuned profile plans with: "50%" or "4GB". Defaults to all of
	// it.
	Memory string
	// Port on 127.0.0.1. Defaults to a free one, remembered.
	Port int
	// SocketOnly means no TCP port.
	SocketOnly bool
	// Settings are written after the profile's and override them.
	Settings []profile.Setting
	// FlushLatency is what a flush takes at least, such as 2ms; 0 is what the disk takes.
	FlushLatency string
	// Unsafe turns fsync off: only for clusters that tests throw away.
	Unsafe bool
	// DataOf is a stopped cluster whose data and password are copied where initdb would make new ones: only for
	// clusters that tests throw away.
	DataOf *Cluster
	// Log is how much of the log is kept for standbys and backups.
	Log LogKept
	// ReplicaOf is the running cluster that this one follows; only at creation.
	ReplicaOf *Cluster
	// Sync makes the primary's commits wait for this standby.
	Sync bool
	// Tablespaces in folders that the user names; later ones are added at the next start.
	Tablespaces []Tablespace
	// WalDir is the user's folder for the write-ahead log; only at creation. Defaults to the cluster's own.
	WalDir string
	// restore is the backup that the data come from.
	restore *Backup
	// clone is the running server of somebody that the data come from.
	clone *source
}

// check rejects impossible values before anything is done.
func (s Spec) check() error {
	if s.SocketOnly && s.Port != 0 {
		return problem.New(problem.Usage, errors.New("--port and --socket-only exclude each other"), "give one of them")
	}
	if s.Profile != "" && !slices.Contains(profile.Names, s.Profile) {
		return problem.New(problem.Usage, fmt.Errorf("unknown profile %q", s.Profile), "tuned, stock, report or 1c")
	}
	if _, err := storage.ParseLatency(s.FlushLatency); err != nil {
		return err
	}
	if err := s.Log.check(); err != nil {
		return err
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
		return fmt.Errorf("inspect the machine: %w", err)
	}
	_, err = profile.ParseMemory(s.Memory, facts.MemoryBytes)
	return err
}

// overlay is m with the values that the spec sets.
func (s Spec) overlay(m marker) marker {
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
	if s.FlushLatency != "" {
		m.FlushLatency = latencyText(s.FlushLatency)
	}
	m.Unsafe = m.Unsafe || s.Unsafe
	if s.Log != "" {
		m.Log = s.Log
	}
	return m
}

// outside adds the spec's folders on other disks to those of a cluster that exists.
func (s Spec) outside(m marker) (marker, error) {
	if s.WalDir != "" && s.WalDir != m.WalDir {
		return m, problem.New(problem.Usage, fmt.Errorf("cluster %s: its log is %s", m.Name, m.logPlace()),
			"--wal-dir applies only to a new cluster")
	}
	return m.with(s.Tablespaces)
}

func (m marker) logPlace() string {
	if m.WalDir == "" {
		return "among its data"
	}
	return "in " + m.WalDir
}

// SameEngine rejects another engine than the one that made the data.
func (c *Cluster) SameEngine(ctx context.Context, asked string) error {
	if asked == "" || asked == c.Engine {
		return nil
	}
	if found, err := installation.Find(ctx, asked); err == nil && found.Prefix == c.marker.Server.Prefix {
		return nil // the same under another name
	}
	return problem.New(problem.Usage, c.wrap(fmt.Errorf("was created with engine %s, not %s", c.Engine, asked)),
		"choose another name, or destroy it first")
}

// checkUnchanged rejects changes to a running cluster.
func (c *Cluster) checkUnchanged(ctx context.Context, s Spec) error {
	if err := c.SameEngine(ctx, s.Engine); err != nil {
		return err
	}
	m, err := s.outside(s.overlay(c.marker))
	if err != nil {
		return err
	}
	if m.Port == c.Port {
		m.PortFixed = c.PortFixed // it has that port, chosen by us or by the user
	}
	if reflect.DeepEqual(m, c.marker) {
		return nil
	}
	return problem.New(problem.Usage, c.wrap(errors.New("already runs with other settings")),
		"stop it first: plimsoll down "+c.Name()+"; then the same command again")
}
