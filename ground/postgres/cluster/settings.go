package cluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"plimsoll/ground/host/dirs"
	"plimsoll/ground/host/machine"
	"plimsoll/ground/postgres/cluster/profile"
	"plimsoll/ground/postgres/installation"
)

const (
	ourConf  = "plimsoll.conf"
	userConf = "user.conf"
)

// includes end postgresql.conf. The files lie next to the data, where the server's user cannot change them; their paths
// are relative, so that a copy of the folder can start.
const includes = `
# Plimsoll: settings derived from this machine, then the user's own.
include_if_exists '../` + ourConf + `'
include_if_exists '../` + userConf + `'
`

func includeSettings(data string) error {
	f, err := dirs.OpenIn(data, "postgresql.conf", os.O_WRONLY|os.O_APPEND)
	if err != nil {
		return environment(fmt.Errorf("write postgresql.conf: %w", err))
	}
	_, err = f.WriteString(includes)
	return environment(errors.Join(err, f.Sync(), f.Close()))
}

// settings derives this cluster's settings for this machine as it is now.
func (c *Cluster) settings(ctx context.Context, srv installation.Server) ([]profile.Setting, profile.Input, error) {
	facts, err := machine.Read(c.dir)
	if err != nil {
		return nil, profile.Input{}, fmt.Errorf("inspect the machine: %w", err)
	}
	if c.WalDir != "" { // the log is planned by its own disk
		disk, err := machine.Read(c.outsideLog().path)
		if err != nil {
			return nil, profile.Input{}, fmt.Errorf("inspect the log's disk: %w", err)
		}
		facts.DiskFreeBytes = disk.DiskFreeBytes
	}
	memory, err := profile.ParseMemory(c.Memory, facts.MemoryBytes)
	if err != nil {
		return nil, profile.Input{}, err
	}
	knows, err := srv.Settings(ctx)
	if err != nil {
		return nil, profile.Input{}, err
	}
	in := profile.Input{Machine: facts, Memory: memory, Version: srv.Major(), Knows: knows.Has,
		Accepts: knows.Accepts, Library: srv.HasLibrary}
	settings := profile.Derive(c.Profile, in)
	if err := knows.Err(); err != nil {
		return nil, profile.Input{}, err
	}
	settings = append(settings, profile.Setting{
		Name: "cluster_name", Value: "plimsoll-" + c.Name(), Reason: "name of the server's processes in ps and top",
	})
	kept, err := c.replicationSettings(in)
	if err != nil {
		return nil, profile.Input{}, err
	}
	settings = append(append(settings, c.tempSettings()...), kept...)
	return append(settings, c.extraSettings()...), in, nil
}

func (c *Cluster) extraSettings() []profile.Setting {
	extra := c.marker.Settings
	if c.Unsafe {
		const why = "a test's throw-away cluster: nothing needs a flush"
		for _, name := range []string{"fsync", "synchronous_commit", "full_page_writes"} {
			extra = append(extra, profile.Setting{Name: name, Value: "off", Reason: why})
		}
	}
	return extra
}

// writeSettings updates plimsoll.conf and reports which settings changed since the last start.
func (c *Cluster) writeSettings(ctx context.Context, srv installation.Server) error {
	settings, in, err := c.settings(ctx, srv)
	if err != nil {
		return err
	}
	path := filepath.Join(c.dir, ourConf)
	text := profile.Render(c.Profile, in, settings)
	before, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return environment(fmt.Errorf("read settings: %w", err))
	}
	if string(before) == text {
		return nil
	}
	if changed := profile.Changes(string(before), text); len(before) > 0 && len(changed) > 0 {
		c.store.say("settings changed with the machine or the profile: %s", strings.Join(changed, ", "))
	}
	return writeFile(path, []byte(text), 0o644) // the server's user reads it
}
