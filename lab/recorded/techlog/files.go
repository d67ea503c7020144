package techlog

import (
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

// File of a log. Servers write one for each process and hour: rphost_1234/26112810.log.
type File struct {
	Path string
	// Process is the folder's name, which has the number of the process.
	Process string
	Hour    time.Time
	Bytes   int64
}

// fileName is that of a log: year, month, day and hour, perhaps compressed.
var fileName = regexp.MustCompile(`^(\d{8})\.log(\.gz)?$`)

// Files finds the logs in files and folders, the oldest first. The clock of the server that wrote them is in zone.
func Files(paths []string, zone *time.Location) ([]File, error) {
	var all []File
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, fmt.Errorf("read the log: %w", err)
		}
		if !info.IsDir() {
			f, err := fileOf(path, info, zone)
			if err != nil {
				return nil, err
			}
			all = append(all, f)
			continue
		}
		err = filepath.WalkDir(path, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() || !fileName.MatchString(entry.Name()) {
				return err
			}
			info, err := entry.Info()
			if errors.Is(err, fs.ErrNotExist) {
				return nil // the server removes old ones
			} else if err != nil {
				return err
			}
			f, err := fileOf(path, info, zone)
			if err == nil {
				all = append(all, f)
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("read the log: %w", err)
		}
	}
	slices.SortFunc(all, func(a, b File) int { return cmp.Or(a.Hour.Compare(b.Hour), cmp.Compare(a.Path, b.Path)) })
	return slices.CompactFunc(all, func(a, b File) bool { return a.Path == b.Path }), nil
}

func fileOf(path string, info fs.FileInfo, zone *time.Location) (File, error) {
	f := File{Path: path, Process: filepath.Base(filepath.Dir(path)), Bytes: info.Size()}
	m := fileName.FindStringSubmatch(info.Name())
	if m == nil {
		return f, fmt.Errorf("%s: the name must be that of its hour, as in 26112810.log for 10:00 on 28 November 2026",
			path)
	}
	var err error
	if f.Hour, err = time.ParseInLocation("06010215", m[1], zone); err != nil {
		return f, fmt.Errorf("%s: %s is no hour", path, m[1])
	}
	return f, nil
}

// Open reads a file from its beginning. read gets the bytes read so far from the disk.
func (f File) Open(read func(int)) (*Reader, io.Closer, error) { return f.OpenAt(lines.Place{}, read) }

// OpenAt is Open from a place on.
func (f File) OpenAt(from lines.Place, read func(int)) (*Reader, io.Closer, error) {
	in, file, err := lines.OpenAt(f.Path, from.Offset, read)
	if err != nil {
		return nil, nil, err
	}
	r := NewReader(in, f.Path, f.Hour)
	r.From(from)
	return r, file, nil
}
