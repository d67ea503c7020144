// Package installation finds a PostgreSQL installation on this machine and describes it: version, flavour, patchset,
// and what is lost without ours.
package installation

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"plimsoll/ground/problem"
)

// Names of engines; the folder of a prefix is a name, too.
const (
	Plimsoll = "plimsoll" // our build with the patch series
	Vanilla  = "vanilla"  // our build without patches, same flags
	Stock    = "stock"    // PostgreSQL as a package registry ships it, fetched without a compiler
	System   = "system"   // what the distribution installed
	Custom   = "custom"   // a prefix without a manifest of ours
)

// Flavours are the engines that give a cluster its name: a missing cluster of that name is created with that engine.
var Flavours = []string{Plimsoll, Vanilla, Stock, System}

// IsFlavour says whether a name is that of a flavour.
func IsFlavour(name string) bool { return slices.Contains(Flavours, name) }

// EngineFor is the engine to create a cluster with: the requested one, else the flavour that it is named after.
func EngineFor(cluster, engine string) string {
	if engine == "" && IsFlavour(cluster) {
		return cluster
	}
	return engine
}

// Supported major versions.
const (
	MajorMin = 15
	MajorMax = 18
)

// Server is one installed PostgreSQL.
type Server struct {
	Flavour    string `json:"flavour"`
	Version    string `json:"version"`            // as the server prints it: 18.6
	VersionNum int    `json:"version_num"`        // as server_version_num has it: 180006
	Patchset   int    `json:"patchset,omitempty"` // 0 is stock
	BinDir     string `json:"bin_dir"`
	Prefix     string `json:"prefix"`
}

// Major is 15 … 18.
func (s Server) Major() int { return s.VersionNum / 10000 }

// String describes the server for a reader.
func (s Server) String() string {
	if s.Patchset > 0 {
		return fmt.Sprintf("PostgreSQL %s %s (patchset %d) in %s", s.Version, s.Flavour, s.Patchset, s.Prefix)
	}
	return fmt.Sprintf("PostgreSQL %s %s in %s", s.Version, s.Flavour, s.Prefix)
}

// Lost says in one sentence what a run on this server lacks; empty for our patched build.
func (s Server) Lost() string {
	if s.Patchset > 0 {
		return ""
	}
	return "stock server: temporary tables cost catalog rows, WAL, locks and shared invalidations, " +
		"and the interface that 1C:Enterprise expects is missing"
}

// Note tells a user who did not choose vanilla what this server lacks; empty if it lacks nothing.
func (s Server) Note() string {
	lost := s.Lost()
	if lost == "" || s.Flavour == Vanilla {
		return ""
	}
	return fmt.Sprintf("note: this is not Plimsoll's PostgreSQL but %s\n      %s\n      'make engine' builds Plimsoll's",
		s, lost)
}

// Program is the path of one of the installation's programs (psql, pgbench, initdb).
func (s Server) Program(name string) (string, error) {
	path := filepath.Join(s.BinDir, name)
	if _, err := os.Stat(path); err != nil {
		return "", problem.New(problem.Environment, fmt.Errorf("find %s of %s: %w", name, s, err), s.hintProgram(name))
	}
	return path, nil
}

// hintProgram says how to get a program that is missing.
func (s Server) hintProgram(name string) string {
	switch s.Flavour {
	case Plimsoll, Vanilla:
		return "this build lacks " + name + ": build it again with `make engine`"
	case Stock:
		return "the registry's package has no " + name + ": build PostgreSQL with `make engine`, or install one and " +
			"name it with --engine system"
	}
	return "install the client programs of the same PostgreSQL"
}
