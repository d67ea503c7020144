package cluster

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"plimsoll/ground/host/dirs"
	"plimsoll/ground/host/process"
	"plimsoll/ground/postgres/cluster/profile"
	"plimsoll/ground/problem"
)

// LogKept is how much of the write-ahead log is kept for others.
type LogKept string

const (
	MinimalLog LogKept = "minimal" // nothing: no standby, no backup of a running server
	ReplicaLog LogKept = "replica" // what standbys and backups need
	ArchiveLog LogKept = "archive" // the same, and finished segments are copied: point-in-time recovery
)

// LogChoices are what --log takes.
var LogChoices = []string{string(MinimalLog), string(ReplicaLog), string(ArchiveLog)}

func (k LogKept) check() error {
	switch k {
	case "", MinimalLog, ReplicaLog, ArchiveLog:
		return nil
	}
	return problem.New(problem.Usage, fmt.Errorf("unknown amount of log %q", k), strings.Join(LogChoices, ", "))
}

// BackupDir is the folder of a state directory's backups and archives of the log.
func (s *Store) BackupDir() string { return filepath.Join(s.state, "backups") }

// ArchiveDir is the folder of one cluster's archive.
func (s *Store) ArchiveDir(archive string) string {
	return filepath.Join(s.BackupDir(), "log", filepath.Base(archive))
}

// makeArchive makes a folder of its own for each cluster: two that were restored from one backup write segments of the
// same name.
func (s *Store) makeArchive(name string, account *process.Account) (string, error) {
	if err := s.MakeBackupDir(); err != nil {
		return "", fmt.Errorf("create the log's archive: %w", err)
	}
	parent := filepath.Join(s.BackupDir(), "log")
	if err := makeDirs(parent); err != nil {
		return "", fmt.Errorf("create the log's archive: %w", err)
	}
	dir, err := os.MkdirTemp(parent, name+"-*")
	if err != nil {
		return "", environment(fmt.Errorf("create the log's archive: %w", err))
	}
	if err := account.Own(dir); err != nil {
		return "", environment(err)
	}
	return filepath.Base(dir), syncDir(parent) // else a power cut takes the folder, with all that was flushed in it
}

// MakeBackupDir makes the folder of backups.
func (s *Store) MakeBackupDir() error {
	if err := dirs.Guard(s.BackupDir()); err != nil {
		return err
	}
	return makeDirs(s.state, s.BackupDir())
}

// newArchive says whether a change of the settings begins an archive: also where the log was archived before and then
// was not. Its segments do not follow those that are there.
func (m marker) newArchive(before marker) bool {
	return m.Log == ArchiveLog && before.Log != ArchiveLog
}

// archiveCommand copies a segment so that a power cut leaves it whole or not at all. A segment that is there already is
// the same one, copied before a crash, perhaps with its name not yet flushed; another of its name is an error.
func archiveCommand(dir string) string {
	// PostgreSQL takes % for the beginning of a name of its own.
	dir = strings.ReplaceAll(shellQuote(dir), "%", "%%")
	return `cd ` + dir + ` && if [ -f "%f" ]; then cmp -s "$OLDPWD/%p" "%f"; else cp "$OLDPWD/%p" ".%f" && ` +
		`sync ".%f" && mv ".%f" "%f"; fi && sync .`
}

func shellQuote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// slotKeepMin is the least that a slot may keep: with a small max_wal_size every load would cut standbys off.
const slotKeepMin = "1GB"

// replicationSettings follow those of the profile.
func (c *Cluster) replicationSettings(in profile.Input) ([]profile.Setting, error) {
	var all []profile.Setting
	set := func(name, value, reason string) {
		all = append(all, profile.Setting{Name: name, Value: value, Reason: reason})
	}
	switch c.Log {
	case MinimalLog:
		set("wal_level", "minimal", "--log minimal: no standby and no backup of the running server")
		set("max_wal_senders", "0", "required by wal_level minimal")
	case ReplicaLog, ArchiveLog:
		set("wal_level", "replica", "--log: standbys and backups read the log")
		set("max_wal_senders", "10", "each backup takes two, each standby one")
		keep := slotKeepMin
		for _, s := range profile.Derive(c.Profile, in) {
			if s.Name == "max_wal_size" {
				keep = s.Value
			}
		}
		set("max_slot_wal_keep_size", keep, "the log kept for a disconnected standby, at most: beyond it the "+
			"standby must be created again, but the disk does not fill up")
	}
	if c.Log == ArchiveLog {
		set("archive_mode", "on", "--log archive: point-in-time recovery")
		set("archive_command", archiveCommand(c.store.ArchiveDir(c.Archive)), "flushes the copy before it counts")
		set("archive_timeout", "5min", "a segment that is not full is archived after this time, too")
	}
	following, err := c.followSettings()
	return append(append(all, c.syncSettings()...), following...), err
}

// syncSettings make commits wait for one of the standbys that ask for it.
func (c *Cluster) syncSettings() []profile.Setting {
	var names []string
	for _, r := range c.replicas() {
		if r.Sync {
			names = append(names, strconv.Quote(r.Name()))
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []profile.Setting{{Name: "synchronous_standby_names", Value: "FIRST 1 (" + strings.Join(names, ", ") + ")",
		Reason: "a commit is acknowledged when one of these has flushed it"}}
}
