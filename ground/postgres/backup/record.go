package backup

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"plimsoll/ground/host/dirs"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/problem"
)

const (
	recordFile = "plimsoll-backup.json"
	// format is raised when an older Plimsoll cannot handle newer backups.
	format = 1
	// spacesFormat is that of backups with tablespaces, whose restore by an older one would write into the backup.
	spacesFormat = 2
)

// Record describes a complete, verified backup.
type Record struct {
	Format  int    `json:"format"`
	ID      string `json:"id"`
	Cluster string `json:"cluster"`
	cluster.Base
	SystemIdentifier string    `json:"system_identifier"`
	Timeline         int       `json:"timeline"`
	StartLSN         string    `json:"start_lsn"`
	EndLSN           string    `json:"end_lsn"` // consistent from here on
	Bytes            int64     `json:"bytes"`
	Files            int       `json:"files"`
	TakenAt          time.Time `json:"taken_at"` // when it ended
	TookS            float64   `json:"took_s"`
	VerifiedAt       time.Time `json:"verified_at"`
}

// Store is where the backups of a state directory are.
type Store struct {
	clusters *cluster.Store
	// Step receives what is being done. Defaults to silence.
	Step func(what string)
}

// Open the backups in the state directory of the clusters.
func Open(clusters *cluster.Store) *Store { return &Store{clusters: clusters, Step: func(string) {}} }

func (s *Store) dir() string           { return s.clusters.BackupDir() }
func (s *Store) path(id string) string { return filepath.Join(s.dir(), id) }
func (s *Store) data(id string) string { return filepath.Join(s.path(id), "data") }

var validID = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,39}-[0-9]{8}-[0-9]{6}(-[0-9]+)?$`)

// Find a backup.
func (s *Store) Find(id string) (r Record, err error) {
	if err := dirs.Guard(s.dir()); err != nil {
		return r, err
	}
	if !validID.MatchString(id) {
		return r, s.unknown(id)
	}
	text, err := os.ReadFile(filepath.Join(s.path(id), recordFile))
	if errors.Is(err, fs.ErrNotExist) {
		return r, s.unknown(id)
	}
	if err != nil {
		return r, problem.New(problem.Environment, fmt.Errorf("read backup %s: %w", id, err), "")
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("read backup %s: %w", id, err)
	}
	if r.Format < format || r.Format > spacesFormat || r.ID != id {
		return r, problem.New(problem.Environment, fmt.Errorf("backup %s has format %d and the name %q, this Plimsoll "+
			"reads format %d", id, r.Format, r.ID, spacesFormat), "use the version of Plimsoll that took it")
	}
	return r, nil
}

func (s *Store) unknown(id string) error {
	return problem.New(problem.Usage, fmt.Errorf("no backup %q in %s", id, s.dir()),
		"plimsoll backup list lists them")
}

// List the complete backups, newest first.
func (s *Store) List() ([]Record, error) {
	entries, err := os.ReadDir(s.dir())
	if errors.Is(err, fs.ErrNotExist) {
		return []Record{}, nil
	}
	if err != nil {
		return nil, problem.New(problem.Environment, fmt.Errorf("list backups: %w", err), "")
	}
	all := []Record{}
	for _, e := range entries {
		if r, err := s.Find(e.Name()); err == nil {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b Record) int {
		if c := b.TakenAt.Compare(a.TakenAt); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	return all, nil
}
