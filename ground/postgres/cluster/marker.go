package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"plimsoll/ground/postgres/cluster/profile"
	"plimsoll/ground/postgres/installation"
	"plimsoll/ground/problem"
)

const (
	// MarkerFile marks a folder as ours.
	MarkerFile = "plimsoll-cluster.json"
	// markerFormat is raised when an older Plimsoll cannot handle newer clusters.
	markerFormat = 1
	// outsideFormat is that of clusters with folders on other disks, which an older one would leave behind.
	outsideFormat = 2
)

// marker is the stored description of a cluster.
type marker struct {
	Format     int                 `json:"format"`
	Name       string              `json:"name"`
	Engine     string              `json:"engine"` // as asked for, so that a rebuilt engine is picked up
	Server     installation.Server `json:"server"` // as found at the last start
	Profile    profile.Name        `json:"profile"`
	Memory     string              `json:"memory,omitempty"`
	Port       int                 `json:"port"` // 0 until the first start has chosen one
	PortFixed  bool                `json:"port_fixed,omitempty"`
	SocketOnly bool                `json:"socket_only,omitempty"`
	SocketDir  string              `json:"socket_dir"`
	Settings   []profile.Setting   `json:"settings,omitempty"`
	// What a flush takes at least, such as 2ms; empty is what the disk takes.
	FlushLatency string    `json:"flush_latency,omitempty"`
	Unsafe       bool      `json:"unsafe,omitempty"`
	CreatedAt    time.Time `json:"created_at"`
	// Folders on other disks.
	Tablespaces []Tablespace `json:"tablespaces,omitempty"`
	WalDir      string       `json:"wal_dir,omitempty"`
	OutsideID   string       `json:"outside_id,omitempty"` // which folders there are this cluster's
	replication
}

// replication is what a cluster has to do with backups and other clusters.
type replication struct {
	Log       LogKept `json:"log,omitempty"`        // how much of the log is kept; empty: what the profile says
	Archive   string  `json:"archive,omitempty"`    // folder of the log's archive, when Log is ArchiveLog
	ReplicaOf string  `json:"replica_of,omitempty"` // the primary, for a standby
	// Sync means that the primary's commits wait for this standby.
	Sync bool `json:"sync,omitempty"`
	// PromotedFrom is the primary whose standby this cluster was.
	PromotedFrom string `json:"promoted_from,omitempty"`
	// Restoring means that a restore has not finished: the data are of no use yet.
	Restoring bool `json:"restoring,omitempty"`
}

// errForeign: the folder is not ours.
var errForeign = errors.New("has no " + MarkerFile)

func readMarker(dir string) (m marker, err error) {
	text, err := os.ReadFile(filepath.Join(dir, MarkerFile))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotDir) {
		return m, problem.New(problem.Environment,
			fmt.Errorf("%s %w: not a Plimsoll cluster, left alone", dir, errForeign),
			"choose another name, or move the folder away")
	}
	if err != nil {
		return m, environment(fmt.Errorf("read marker: %w", err))
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("read marker in %s: %w", dir, err)
	}
	if m.Format < markerFormat || m.Format > outsideFormat {
		return m, problem.New(problem.Environment,
			fmt.Errorf("cluster in %s has format %d, this Plimsoll supports %d", dir, m.Format, outsideFormat),
			"use the version of Plimsoll that created it")
	}
	return m, nil
}

// markerOf rejects a folder that was renamed or copied: its socket, port and lock are still those of the original.
func (s *Store) markerOf(name string) (marker, error) {
	m, err := readMarker(s.path(name))
	if err == nil && m.Name != name {
		err = problem.New(problem.Environment,
			fmt.Errorf("folder %s is a renamed copy of cluster %s", s.path(name), m.Name),
			"rename it back, or move it out of the state directory")
	}
	return m, err
}

func (m marker) write(dir string) error {
	m.Format = markerFormat
	if len(m.outsides()) > 0 {
		m.Format = outsideFormat
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("write marker: %w", err)
	}
	return writeFile(filepath.Join(dir, MarkerFile), append(text, '\n'), 0o600)
}
