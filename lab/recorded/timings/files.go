package timings

import (
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"plimsoll/lab/recorded/lines"
)

// File of an export.
type File struct {
	Path  string
	Bytes int64
}

// ErrMixed says that some paths have exports and others none.
var ErrMixed = errors.New("no export of timings in it, while others have some")

// fileName of an export.
var fileName = regexp.MustCompile(`(?i)\.xml(\.gz)?$`)

// Files finds the exports in files and folders, by name: the library names them by their time. None: the paths have no
// export. Some paths with and some without are an error, since the others would not be read.
func Files(paths []string) (all []File, err error) {
	var without []string
	for _, path := range paths {
		found, err := in(path)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			without = append(without, path)
		}
		all = append(all, found...)
	}
	if len(all) > 0 && len(without) > 0 {
		return nil, fmt.Errorf("%s: %w", strings.Join(without, ", "), ErrMixed)
	}
	slices.SortFunc(all, func(a, b File) int {
		return cmp.Or(cmp.Compare(filepath.Base(a.Path), filepath.Base(b.Path)), cmp.Compare(a.Path, b.Path))
	})
	return slices.Compact(all), nil
}

// in a file or folder, the exports.
func in(root string) (all []File, err error) {
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !fileName.MatchString(path) {
			return err
		}
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
			return nil
		}
		if err != nil {
			return err
		}
		is, err := isExport(path)
		if is {
			all = append(all, File{path, info.Size()})
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the export: %w", err)
	}
	return all, nil
}

// isExport says whether a file is one, by its first element.
func isExport(path string) (bool, error) {
	text, file, err := lines.Open(path, func(int) {})
	if err != nil {
		return false, err
	}
	defer func() { _ = file.Close() }()
	d := xml.NewDecoder(io.LimitReader(text, tokenMost))
	for {
		token, err := d.Token()
		if err != nil {
			return false, nil // no XML
		}
		if e, is := token.(xml.StartElement); is {
			return e.Name.Local == "Performance" && strings.Contains(e.Name.Space, "apdexExport"), nil
		}
	}
}

// Open an export. read gets the bytes read so far from the disk.
func (f File) Open(read func(int)) (*Reader, io.Closer, error) {
	text, file, err := lines.Open(f.Path, read)
	if err != nil {
		return nil, nil, err
	}
	return NewReader(text, f.Path), file, nil
}
