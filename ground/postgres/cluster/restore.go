package cluster

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"plimsoll/ground/host/process"
	"plimsoll/ground/postgres/cluster/profile"
	"plimsoll/ground/postgres/installation"
)

// Restore makes a new, stopped cluster from a backup and recovers it as the settings say. It is whole or not at all;
// what a killed restore left does not start.
func (s *Store) Restore(ctx context.Context, name string, spec Spec, from Backup, recovery []profile.Setting) (
	*Cluster, error) {
	spec.restore = &from
	c, err := s.Create(ctx, name, spec)
	if err != nil {
		return nil, err
	}
	if err := c.recover(ctx, recovery); err != nil {
		return nil, errors.Join(err, s.Destroy(context.WithoutCancel(ctx), name))
	}
	return c.reread()
}

// fillRestored copies the data of a backup, and has the server end the copy's history at a point of the log, on a new
// timeline.
func (s *Store) fillRestored(ctx context.Context, dir string, srv installation.Server, account *process.Account,
	from *Backup, m marker) error {
	if err := m.roomFor(dir, from); err != nil {
		return err
	}
	data := filepath.Join(dir, "data")
	if err := copyData(ctx, srv, account, from.Data, data); err != nil {
		return err
	}
	if err := m.fillSpaces(ctx, dir, s.path(m.Name), srv, account, from); err != nil {
		return err
	}
	text, err := os.ReadFile(from.UserConf)
	if err == nil {
		err = writeFile(filepath.Join(dir, userConf), text, 0o644)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return environment(err)
	}
	// A standby's copy has it. With both files the server would follow, and never end its recovery.
	if err := os.Remove(filepath.Join(data, standbySignal)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return environment(err)
	}
	return signalFile(filepath.Join(data, "recovery.signal"), account)
}

// recover starts the server, which is ready only when it has reached its point and taken a timeline of its own.
func (c *Cluster) recover(ctx context.Context, recovery []profile.Setting) error {
	const why = "a restore"
	settings := append([]profile.Setting{
		// With queries allowed, the server would refuse a machine that plans with less than the backup's.
		{Name: "hot_standby", Value: "off", Reason: why},
		{Name: "recovery_target_action", Value: "promote", Reason: why},
		{Name: "archive_mode", Value: "off", Reason: why},
	}, recovery...)
	p, err := c.startAs(ctx, "restore", StartOptions{Settings: settings, restore: true})
	if err != nil {
		return err
	}
	if err := p.Stop(context.WithoutCancel(ctx), Fast); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	c.marker.Restoring = false
	return c.wrap(c.marker.write(c.dir))
}
