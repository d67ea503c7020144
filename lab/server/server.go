// Package server owns finding a PostgreSQL installation on this machine and
// saying what it is: version, flavour, patchset, and what is lost without ours.
package server

import (
	"fmt"
	"os"
	"path/filepath"

	"plimsoll/platform/problem"
)

// What a person may ask for as an engine, beside the folder of a prefix.
const (
	Plimsoll = "plimsoll" // our build with the patch series
	Vanilla  = "vanilla"  // our build without it, same flags
	System   = "system"   // what the distribution installed
	Custom   = "custom"   // the flavour of a prefix that carries no manifest of ours
)

// The major versions that Plimsoll works with.
const (
	MajorMin = 15
	MajorMax = 18
)

// Server is one installed PostgreSQL.
type Server struct {
	Flavour    string `json:"flavour"`
	Version    string `json:"version"`            // as the server writes it: 18.6
	VersionNum int    `json:"version_num"`        // as server_version_num has it: 180006
	Patchset   int    `json:"patchset,omitempty"` // 0 is stock
	BinDir     string `json:"bin_dir"`
	Prefix     string `json:"prefix"`
}

// Major is 15 … 18.
func (s Server) Major() int { return s.VersionNum / 10000 }

// String names the server for a person.
func (s Server) String() string {
	if s.Patchset > 0 {
		return fmt.Sprintf("PostgreSQL %s %s (patchset %d) in %s", s.Version, s.Flavour, s.Patchset, s.Prefix)
	}
	return fmt.Sprintf("PostgreSQL %s %s in %s", s.Version, s.Flavour, s.Prefix)
}

// Lost says in one sentence what a run on this server goes without; empty for
// our patched build.
func (s Server) Lost() string {
	if s.Patchset > 0 {
		return ""
	}
	return "stock server: temporary tables cost catalog rows, WAL, locks and shared invalidations, " +
		"and the interface that 1C:Enterprise expects is missing"
}

// Program is the path of one of the installation's programs (psql, pgbench, initdb).
func (s Server) Program(name string) (string, error) {
	path := filepath.Join(s.BinDir, name)
	if _, err := os.Stat(path); err != nil {
		return "", problem.New(problem.Environment, fmt.Errorf("find %s of %s: %w", name, s, err),
			"install the client programs of the same PostgreSQL")
	}
	return path, nil
}
