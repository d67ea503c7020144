package pglog

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"plimsoll/lab/recorded/lines"
)

// ErrPrefix says that no known log_line_prefix fits.
var ErrPrefix = errors.New("its lines begin as no known log_line_prefix says")

// File of a log.
type File struct {
	Path   string
	Format Format
	Prefix *Prefix // of stderr
	First  time.Time
	Bytes  int64
}

// fileName of a log, perhaps rotated and compressed: postgresql-Mon.csv, postgresql-18-main.log.2.gz.
var fileName = regexp.MustCompile(`^(.+)\.(csv|json|log)((?:\.\d+)?(?:\.gz)?)$`)

// Files finds the logs in files and folders, the oldest first, and how each is written. A server may write the same
// entries in several formats side by side: of those the richest is taken. A prefix that is given is that of all files
// in the format stderr.
func Files(paths []string, prefix *Prefix, zone *time.Location) ([]File, error) {
	var all []File
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, fmt.Errorf("read the log: %w", err)
		}
		found := []string{path}
		if info.IsDir() {
			if found, err = in(path); err != nil {
				return nil, fmt.Errorf("read the log: %w", err)
			}
		}
		for _, path := range found {
			f, err := fileOf(path, prefix, zone)
			if err != nil {
				return nil, err
			}
			if !f.First.IsZero() {
				all = append(all, f)
			}
		}
	}
	slices.SortFunc(all, func(a, b File) int { return cmp.Or(a.First.Compare(b.First), cmp.Compare(a.Path, b.Path)) })
	return slices.CompactFunc(all, func(a, b File) bool { return a.Path == b.Path }), nil
}

// in a folder, the logs: of files that differ by their format alone, one.
func in(folder string) (paths []string, err error) {
	best := map[string]string{}
	rank := map[string]int{"log": 1, "json": 2, "csv": 3}
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		m := fileName.FindStringSubmatch(filepath.Base(path))
		if err != nil || !entry.Type().IsRegular() || m == nil {
			return err
		}
		same := filepath.Join(filepath.Dir(path), m[1]+m[3])
		other := fileName.FindStringSubmatch(filepath.Base(best[same]))
		if other == nil || rank[m[2]] > rank[other[2]] {
			best[same] = path
		}
		return nil
	})
	for _, path := range best {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	return paths, err
}

// beginningMost is how much of a file says how it is written.
const beginningMost = 128 << 10

// fileOf finds out how a file is written. One without an entry has no First.
func fileOf(path string, prefix *Prefix, zone *time.Location) (f File, err error) {
	f = File{Path: path}
	info, err := os.Stat(path)
	if err != nil {
		return f, fmt.Errorf("read the log: %w", err)
	}
	f.Bytes = info.Size()
	in, file, err := lines.Open(path, func(int) {})
	if err != nil {
		return f, err
	}
	defer func() { _ = file.Close() }()
	beginning, err := io.ReadAll(io.LimitReader(in, beginningMost))
	if err != nil {
		return f, fmt.Errorf("read %s: %w", path, err)
	}
	beginning = bytes.TrimPrefix(beginning, []byte("\uFEFF"))
	if f.Format, f.Prefix = formatOf(beginning, prefix, zone); f.Format == "" {
		if len(bytes.TrimSpace(beginning)) == 0 {
			return f, nil
		}
		return f, fmt.Errorf("%s: %w", path, ErrPrefix)
	}
	r := NewReader(bytes.NewReader(beginning), path, f.Format, f.Prefix, zone)
	e, err := r.Next()
	if err == nil {
		f.First = e.At
	} else if !errors.Is(err, io.EOF) {
		return f, err
	}
	return f, nil
}

// formatOf a file that begins so; "" if it is none that is known.
func formatOf(beginning []byte, given *Prefix, zone *time.Location) (Format, *Prefix) {
	all := bytes.Split(beginning, []byte("\n"))
	for _, line := range all {
		switch {
		case recordHead.Match(line):
			return CSV, nil
		case bytes.HasPrefix(line, []byte(`{"timestamp":`)):
			return JSON, nil
		}
	}
	tried := []*Prefix{given}
	if given == nil {
		tried = nil
		for _, setting := range Prefixes {
			p, err := ParsePrefix(setting)
			if err != nil {
				panic(err) // those of the list
			}
			tried = append(tried, p)
		}
	}
	var best *Prefix
	most := 0
	for _, p := range tried {
		n := 0
		for _, line := range all {
			if _, word, _, ok := p.read(line, zone); ok && severities[word] != "" {
				n++
			}
		}
		if n > most {
			best, most = p, n
		}
	}
	if best == nil {
		return "", nil
	}
	return Stderr, best
}

// Open a file from its beginning. read gets the bytes read so far from the disk.
func (f File) Open(read func(int), zone *time.Location) (*Reader, io.Closer, error) {
	return f.OpenAt(lines.Place{}, read, zone)
}

// OpenAt is Open from a place on.
func (f File) OpenAt(from lines.Place, read func(int), zone *time.Location) (*Reader, io.Closer, error) {
	in, file, err := lines.OpenAt(f.Path, from.Offset, read)
	if err != nil {
		return nil, nil, err
	}
	r := NewReader(in, f.Path, f.Format, f.Prefix, zone)
	r.From(from)
	return r, file, nil
}
