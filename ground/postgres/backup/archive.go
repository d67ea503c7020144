package backup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"plimsoll/ground/host/dirs"
	"plimsoll/ground/host/lock"
)

// restoreCommand copies a segment from an archive. One that is not there is the end of the log. One that cannot be
// copied, on a full disk say, is not: PostgreSQL stops at a status above 125, and takes any other for the end.
func restoreCommand(dir string) string {
	dir = `'` + strings.ReplaceAll(strings.ReplaceAll(dir, "%", "%%"), `'`, `'\''`)
	return `test -x ` + dir + `' || exit 255; test -e ` + dir + `/%f' || exit 1; cp ` + dir + `/%f' "%p" || exit 255`
}

// warnMissingSegment warns of a missing segment that later ones follow: for PostgreSQL the log ends before it.
func (s *Store) warnMissingSegment(r Record) {
	if entries, err := os.ReadDir(s.clusters.ArchiveDir(r.Archive)); err == nil && r.Archive != "" {
		if hole := r.missingSegment(entries); hole != "" {
			s.say("note: segment %s is missing in the archive %s: what follows it is not restored", hole,
				s.clusters.ArchiveDir(r.Archive))
		}
	}
}

// missingSegment is the first segment missing in an archive after the end of the backup, without its timeline.
func (r Record) missingSegment(entries []fs.DirEntry) string {
	end, err := parseLSN(r.EndLSN)
	if err != nil || end == 0 {
		return ""
	}
	const each = 1 << 32 / segmentBytes // segments with the same first half of their number
	present, last := map[uint64]bool{}, uint64(0)
	for _, e := range entries {
		if name := e.Name(); len(name) == segmentName && isSegment(name) {
			high, _ := strconv.ParseUint(name[8:16], 16, 32)
			low, _ := strconv.ParseUint(name[16:], 16, 32)
			present[high*each+low], last = true, max(last, high*each+low)
		}
	}
	for n := (end-1)/segmentBytes + 1; n < last; n++ {
		if !present[n] {
			return fmt.Sprintf("%08X%08X", n/each, n%each)
		}
	}
	return ""
}

// prune removes segments from before the oldest backup of an archive.
func (s *Store) prune(archive string) error {
	if archive == "" {
		return nil
	}
	// In this order: a backup that begins after it needs none of these segments.
	entries, err := os.ReadDir(s.clusters.ArchiveDir(archive))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return environment(err)
	}
	oldest, sure, err := s.oldestNeeded(archive)
	if err != nil || !sure {
		return err
	}
	for _, e := range entries {
		if !isSegment(e.Name()) || oldest != "" && e.Name()[8:24] >= oldest {
			continue
		}
		if err := os.Remove(filepath.Join(s.clusters.ArchiveDir(archive), e.Name())); err != nil {
			return environment(err)
		}
	}
	return nil
}

// Forget removes the archive of a cluster that is gone, unless a backup needs it.
func (s *Store) Forget(archive string) error {
	if archive == "" || strings.HasPrefix(archive, ".") || archive != filepath.Base(archive) {
		return nil
	}
	if err := dirs.Guard(s.dir()); err != nil {
		return err
	}
	oldest, sure, err := s.oldestNeeded(archive)
	if err != nil || !sure || oldest != "" {
		return err
	}
	if err := os.RemoveAll(s.clusters.ArchiveDir(archive)); err != nil {
		return environment(err)
	}
	return nil
}

// oldestNeeded segment of an archive; empty: none. Not sure while a backup is being taken, or cannot be read.
func (s *Store) oldestNeeded(archive string) (oldest string, sure bool, err error) {
	entries, err := os.ReadDir(s.dir())
	if err != nil {
		return "", false, environment(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), growing) {
			_, held, err := lock.HeldBy(filepath.Join(s.dir(), e.Name(), lockName))
			if _, gone := os.Lstat(filepath.Join(s.dir(), e.Name())); err != nil || held || gone != nil {
				return "", false, nil // it may have its name by now
			}
		}
		if !validID.MatchString(e.Name()) {
			continue
		}
		r, err := s.Find(e.Name())
		if err != nil {
			return "", false, nil
		}
		if r.Archive != archive {
			continue
		}
		first, err := r.firstSegment()
		if err != nil {
			return "", false, nil
		}
		if oldest == "" || first < oldest {
			oldest = first
		}
	}
	return oldest, true, nil
}

const (
	segmentBytes = 16 << 20 // initdb's default, which our clusters have
	segmentName  = 24       // digits: timeline and number
)

// firstSegment that a restore reads, without the timeline.
func (r Record) firstSegment() (string, error) {
	start, err := parseLSN(r.StartLSN)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%08X%08X", start>>32, start&0xffffffff/segmentBytes), nil
}

func isSegment(name string) bool {
	if len(name) < segmentName || len(name) > segmentName && name[segmentName] != '.' {
		return false
	}
	for _, c := range name[:segmentName] {
		if !strings.ContainsRune("0123456789ABCDEF", c) {
			return false
		}
	}
	return true
}
