package dirs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// ErrForeign means that a name below a folder of another user is not what PostgreSQL puts there: a regular file with
// one name, below folders that are no links.
var ErrForeign = errors.New("not a regular file: PostgreSQL creates no link or pipe there")

// OpenIn opens a file below a folder that another user owns and may change at any time, while we may be root. It
// follows no link, neither of the file nor of a folder on the way, and waits on no pipe. The folder itself is trusted
// to be where its path says: what is above it belongs to the user who runs us (Guard).
func OpenIn(dir, name string, flag int) (f *os.File, err error) {
	path := filepath.Join(dir, name)
	if !filepath.IsLocal(name) {
		return nil, fmt.Errorf("%s: %w", path, ErrForeign)
	}
	at, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, refused(path, err)
	}
	defer func() { unix.Close(at) }()
	steps := strings.Split(filepath.Clean(name), string(filepath.Separator))
	for _, step := range steps[:len(steps)-1] {
		below, err := unix.Openat(at, step, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != nil {
			return nil, refused(path, err)
		}
		unix.Close(at)
		at = below
	}
	file, err := unix.Openat(at, steps[len(steps)-1], flag|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, refused(path, err)
	}
	f = os.NewFile(uintptr(file), path)
	info, err := f.Stat()
	if err == nil && !plain(info) {
		err = fmt.Errorf("%s: %w", path, ErrForeign)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func plain(info fs.FileInfo) bool {
	stat, known := info.Sys().(*syscall.Stat_t)
	return info.Mode().IsRegular() && known && stat.Nlink <= 1
}

// refused is the error of a step. A link in place of a folder is no folder.
func refused(path string, err error) error {
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENOTDIR) {
		return fmt.Errorf("%s: %w", path, ErrForeign)
	}
	return &fs.PathError{Op: "open", Path: path, Err: err}
}

// ReadIn reads at most so much of a file that OpenIn opens.
func ReadIn(dir, name string, most int64) ([]byte, error) {
	f, err := OpenIn(dir, name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var text bytes.Buffer
	if info, err := f.Stat(); err == nil { // a file of /proc has no size
		text.Grow(int(min(info.Size(), most)) + bytes.MinRead)
	}
	_, err = text.ReadFrom(io.LimitReader(f, most))
	return text.Bytes(), err
}
