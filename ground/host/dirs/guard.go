package dirs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"plimsoll/ground/problem"
)

// Guard refuses root a folder that another user could replace by a link: each folder on the way to it must belong to
// root and be writable only by root, except under the sticky bit. Ordinary users may work anywhere.
func Guard(dir string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	at, err := swappable(dir)
	if err != nil || at == "" {
		return err
	}
	return problem.New(problem.Environment, fmt.Errorf("root refuses to work in %s: another user can change "+
		"%s", dir, at),
		"run as that user, or set PLIMSOLL_STATE to a folder that only root can write to")
}

// swappable is the topmost name on the way that another user may remove or replace.
func swappable(dir string) (at string, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	links := false
	for _, at := range ancestors(dir) {
		info, err := os.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) { // and nobody else can make it
			dir = filepath.Dir(at)
			break
		}
		if errors.Is(err, syscall.ENOTDIR) { // the caller reports the error, with a hint
			return "", nil
		}
		if err != nil {
			return "", err
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); ok && !onlyRoots(stat) {
			return at, nil
		}
		links = links || info.Mode()&fs.ModeSymlink != 0
	}
	if !links {
		return "", nil
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	return swappable(real)
}

// unmapped owns what belongs to users unknown in a container, and so to nobody in it.
const unmapped = 65534

func onlyRoots(stat *syscall.Stat_t) bool {
	if stat.Uid != 0 && stat.Uid != unmapped {
		return false
	}
	const group, others = 0o020, 0o002
	writable := stat.Mode&others != 0 || stat.Mode&group != 0 && stat.Gid != 0
	return !writable || stat.Mode&(syscall.S_ISVTX) != 0 || stat.Mode&syscall.S_IFMT == syscall.S_IFLNK
}

// ancestors of a path from below the root folder, itself included: the root folder belongs to whoever made the machine.
func ancestors(path string) []string {
	parent := filepath.Dir(path)
	if parent == path {
		return nil
	}
	return append(ancestors(parent), path)
}
