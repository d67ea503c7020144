package cluster

import (
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"plimsoll/ground/host/process"
	"plimsoll/ground/problem"
)

// socketPathMax is the length of sockaddr_un.sun_path less its closing zero.
const socketPathMax = 107

// socketDirFor is the cluster's run folder, or, if the socket's path would be too long, a short folder in the temporary
// directory.
func socketDirFor(clusterDir string) string {
	dir := filepath.Join(clusterDir, "run")
	if len(dir)+len("/.s.PGSQL.65535") <= socketPathMax {
		return dir
	}
	h := fnv.New64a()
	h.Write([]byte(clusterDir))
	return filepath.Join("/tmp", fmt.Sprintf("plimsoll-%d-%016x", os.Geteuid(), h.Sum64()))
}

// prepareSocketDir makes the folder and removes a dead server's sockets. Outside the cluster anybody may have made the
// folder first: a link or another user's folder is refused.
func prepareSocketDir(dir string, a *process.Account) error {
	err := os.Mkdir(dir, 0o700)
	switch {
	case err == nil:
		return a.Own(dir)
	case !os.IsExist(err):
		return environment(fmt.Errorf("make socket folder: %w", err))
	}
	if err := checkSocketDir(dir, a); err != nil {
		return err
	}
	a.WithPermissions(func() { err = clearSockets(dir) }) // the folder may have been swapped since
	return err
}

func checkSocketDir(dir string, a *process.Account) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return environment(fmt.Errorf("inspect socket folder: %w", err))
	}
	owner := os.Geteuid()
	if a != nil {
		owner = a.UID
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || !ok || int(stat.Uid) != owner || info.Mode().Perm()&0o077 != 0 {
		return problem.New(problem.Environment, fmt.Errorf("socket folder %s is not a private folder of the "+
			"server's user", dir), "remove it")
	}
	return nil
}

func clearSockets(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return environment(fmt.Errorf("clear socket folder: %w", err))
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".s.PGSQL.") {
			continue
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil && !os.IsNotExist(err) {
			return environment(fmt.Errorf("clear socket folder: %w", err))
		}
	}
	return nil
}
