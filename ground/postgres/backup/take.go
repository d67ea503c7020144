package backup

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"plimsoll/ground/host/dirs"
	"plimsoll/ground/host/kept"
	"plimsoll/ground/host/lock"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/installation"
	"plimsoll/ground/problem"
)

// growing is the name of an incomplete backup: hidden, and no valid ID. The command that takes it holds its lock.
const (
	growing  = ".growing-"
	lockName = "lock"
)

// Take a backup of a running cluster: complete and verified, or none.
func (s *Store) Take(ctx context.Context, c *cluster.Cluster) (r Record, err error) {
	dir, held, err := s.begin(ctx)
	if err != nil {
		return r, err
	}
	defer func() {
		_ = held.Release()
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	for _, program := range []string{"pg_basebackup", "pg_verifybackup", "pg_waldump", "pg_controldata"} {
		if _, err := c.Server().Program(program); err != nil { // before the work, not after it
			return r, err
		}
	}
	s.warnIncremental(ctx, c)
	began := time.Now()
	s.Step("copying")
	data, spaces, err := c.CopyTo(ctx, dir)
	if err != nil {
		return r, fmt.Errorf("back up %s: %w", c.Name(), err)
	}
	r = Record{Format: format, Cluster: c.Name(), Base: c.Base(), TakenAt: time.Now().UTC().Truncate(time.Millisecond)}
	if r.Tablespaces = spaces; len(spaces) > 0 {
		r.Format = spacesFormat
	}
	s.Step("verifying")
	if err := r.examine(ctx, data); err != nil {
		return r, fmt.Errorf("back up %s: %w", c.Name(), err)
	}
	r.VerifiedAt, r.TookS = time.Now().UTC().Truncate(time.Millisecond), time.Since(began).Seconds()
	return s.finish(ctx, dir, r)
}

// begin makes the folder, and removes those of killed commands.
func (s *Store) begin(ctx context.Context) (dir string, held *lock.Lock, err error) {
	if err := s.clusters.MakeBackupDir(); err != nil {
		return "", nil, err
	}
	s.sweep(ctx)
	if dir, err = os.MkdirTemp(s.dir(), growing+"*"); err != nil {
		return "", nil, environment(err)
	}
	if held, err = lock.Acquire(ctx, filepath.Join(dir, lockName), "backup", 0); err == nil {
		err = os.Chmod(dir, 0o755) // the server's user passes through it, to the data
	}
	if err != nil {
		return "", nil, errors.Join(environment(err), os.RemoveAll(dir))
	}
	return dir, held, nil
}

// sweep ignores errors: what is left blocks nobody.
func (s *Store) sweep(ctx context.Context) {
	left, _ := filepath.Glob(filepath.Join(s.dir(), growing+"*"))
	for _, dir := range left {
		// a folder made a moment ago may have no lock yet
		if info, err := os.Stat(dir); err != nil || time.Since(info.ModTime()) < 10*time.Second {
			continue
		}
		l, err := lock.Acquire(ctx, filepath.Join(dir, lockName), "sweep", 0)
		if err != nil {
			continue
		}
		_ = os.RemoveAll(dir)
		_ = l.Release()
	}
}

// finish writes the record and gives the backup its name.
func (s *Store) finish(ctx context.Context, dir string, r Record) (Record, error) {
	if err := ctx.Err(); err != nil {
		return r, err
	}
	stem := fmt.Sprintf("%s-%s", r.Cluster, r.TakenAt.Format("20060102-150405"))
	for n := 1; ; n++ {
		if r.ID = stem; n > 1 {
			r.ID = fmt.Sprintf("%s-%d", stem, n)
		}
		if err := writeRecord(dir, r); err != nil {
			return r, err
		}
		// No rename onto another backup: its folder is not empty.
		err := os.Rename(dir, s.path(r.ID))
		if err == nil {
			return r, environment(kept.SyncFolder(s.dir()))
		}
		if !errors.Is(err, fs.ErrExist) {
			return r, environment(err)
		}
	}
}

func writeRecord(dir string, r Record) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return environment(kept.WriteText(filepath.Join(dir, recordFile), append(text, '\n'), 0o600))
}

func environment(err error) error {
	if err == nil {
		return nil
	}
	return problem.New(problem.Environment, fmt.Errorf("store a backup: %w", err),
		"free disk space, or set PLIMSOLL_STATE to a folder of yours on another disk")
}

// examine verifies the data against their manifest and the log, and reads what they are.
func (r *Record) examine(ctx context.Context, data string) error {
	if err := verify(ctx, r.Server, data); err != nil {
		return err
	}
	identifier, err := identifierOf(ctx, r.Server, data)
	if err != nil {
		return err
	}
	m, err := readManifest(data)
	if err != nil {
		return err
	}
	r.SystemIdentifier, r.Files, r.Bytes = identifier, len(m.Files), m.bytes()
	last := m.Ranges[len(m.Ranges)-1]
	r.Timeline, r.StartLSN, r.EndLSN = last.Timeline, m.Ranges[0].Start, last.End
	return nil
}

// verify compares all files with the manifest's checksums, and reads the log that the backup needs.
func verify(ctx context.Context, srv installation.Server, data string) error {
	_, err := cluster.Program(ctx, srv, data, "pg_verifybackup", "--exit-on-error", data)
	return err
}

func identifierOf(ctx context.Context, srv installation.Server, data string) (string, error) {
	text, err := cluster.Program(ctx, srv, data, "pg_controldata", data)
	if err != nil {
		return "", err
	}
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		if value, found := strings.CutPrefix(lines.Text(), "Database system identifier:"); found {
			return strings.TrimSpace(value), nil
		}
	}
	return "", errors.New("pg_controldata names no system identifier")
}

// manifest is the part of PostgreSQL's backup manifest that we read.
type manifest struct {
	Files  []struct{ Size int64 }
	Ranges []struct {
		Timeline int
		Start    string `json:"Start-LSN"`
		End      string `json:"End-LSN"`
	} `json:"WAL-Ranges"`
}

// manifestMost is the manifest of some million files.
const manifestMost = 1 << 30

func readManifest(data string) (m manifest, err error) {
	text, err := dirs.ReadIn(data, "backup_manifest", manifestMost)
	if err != nil {
		return m, environment(err)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("read the backup's manifest: %w", err)
	}
	if len(m.Ranges) == 0 {
		return m, errors.New("the backup's manifest names no log")
	}
	return m, nil
}

func (m manifest) bytes() (n int64) {
	for _, f := range m.Files {
		n += f.Size
	}
	return n
}
