package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"plimsoll/ground/host/process"
	"plimsoll/ground/postgres/installation"
	"plimsoll/ground/problem"
)

// A cluster may keep its log and tablespaces on other disks: the user names a folder there, and the cluster makes one
// of its own in it, DIR/CLUSTER.TABLESPACE or DIR/CLUSTER.pg_wal:
//
//	plimsoll-folder.json   whose it is; belongs to the cluster's creator, like the folder itself
//	files/                 belongs to the server's user
//
// Clusters, standbys and restored ones can so share a disk, and whoever removes a cluster knows what is its own.
const (
	outsideFile  = "plimsoll-folder.json"
	outsideFiles = "files"
	logSpace     = "pg_wal" // no tablespace is called so: pg_ is PostgreSQL's own
)

// outsideMark is the content of outsideFile.
type outsideMark struct {
	Cluster string `json:"cluster"`
	ID      string `json:"id"`
}

// outside is one folder of a cluster on another disk.
type outside struct {
	dir  string // as the user named it
	path string // of the cluster's own folder in it
	what string // for messages
	flag string // that names another one
	room int64  // bytes that must be free when it is made
}

func (o outside) files() string { return filepath.Join(o.path, outsideFiles) }

// outsides of a cluster: its tablespaces in order, then its log.
func (m marker) outsides() (all []outside) {
	for _, t := range m.Tablespaces {
		if t.Dir != "" {
			all = append(all, m.outsideOf(t))
		}
	}
	if m.WalDir != "" {
		all = append(all, m.outsideLog())
	}
	return all
}

func (m marker) outsideOf(t Tablespace) outside {
	return outside{dir: t.Dir, path: filepath.Join(t.Dir, m.Name+"."+t.Name), what: "tablespace " + t.Name,
		flag: "--tablespace " + t.Name + "=DIR"}
}

func (m marker) outsideLog() outside {
	return outside{dir: m.WalDir, path: filepath.Join(m.WalDir, m.Name+"."+logSpace), what: "the log",
		flag: "--wal-dir DIR", room: logMin}
}

// logMin is the least that the log's own disk must have free: max_wal_size is never less.
const logMin = 1 << 30

// makeOutside makes folders of a cluster on other disks; one that it made before, it keeps.
func (s *Store) makeOutside(m marker, account *process.Account, all []outside) error {
	for _, o := range all {
		if err := s.checkOutside(o, account); err != nil {
			return err
		}
		if err := o.make(m, account); err != nil {
			return err
		}
	}
	return nil
}

// checkOutside refuses a folder that cannot serve. It must be there: one that we made would lie on the wrong disk if
// the right one is not mounted.
func (s *Store) checkOutside(o outside, account *process.Account) error {
	refuse := func(hint, format string, args ...any) error {
		return problem.New(problem.Environment, fmt.Errorf(o.what+": "+format, args...), hint)
	}
	info, err := os.Stat(o.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return refuse("create it, or mount its disk: mkdir "+o.dir, "folder %s does not exist", o.dir)
	case err != nil:
		return refuse(o.flag, "%w", err)
	case !info.IsDir():
		return refuse(o.flag+" names a folder", "%s is not a folder", o.dir)
	}
	real, err := filepath.EvalSymlinks(o.dir)
	if err != nil {
		return refuse(o.flag, "%w", err)
	}
	for _, own := range []string{s.dir(), s.BackupDir()} {
		if inside, err := filepath.EvalSymlinks(own); err == nil && below(real, inside) {
			return refuse("choose a folder elsewhere: "+o.flag, "folder %s is below %s, where clusters and backups are",
				o.dir, own)
		}
	}
	if kept := unreachable(o.dir, account); kept != "" {
		return refuse("chmod o+x "+kept+", or another folder: "+o.flag, "user %s cannot enter %s", account.Name, kept)
	}
	if o.room > 0 {
		return problem.WithHint(Room(o.dir, o.room), "free some, or name a folder on another disk: "+o.flag)
	}
	return nil
}

// below says whether a path is a folder or in it.
func below(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, dir+string(filepath.Separator))
}

// make the folder, which must be empty, or this cluster's own.
func (o outside) make(m marker, account *process.Account) error {
	trouble := func(err error) error {
		return problem.WithHint(environment(fmt.Errorf("%s: %w", o.what, err)), "a folder that you may write: "+o.flag)
	}
	entries, err := os.ReadDir(o.path)
	mark, unmarked := o.mark()
	switch own := unmarked == nil && mark.ID == m.OutsideID; {
	case errors.Is(err, fs.ErrNotExist):
		err = os.Mkdir(o.path, 0o755)
	case err == nil && len(entries) > 0 && !own:
		return problem.New(problem.Environment, fmt.Errorf("%s: folder %s is not empty", o.what, o.path),
			"move away what is in it, or name another folder: "+o.flag)
	}
	if err != nil {
		return trouble(err)
	}
	text, err := json.Marshal(outsideMark{Cluster: m.Name, ID: m.OutsideID})
	if err != nil {
		return err
	}
	if err := errors.Join(os.Chmod(o.path, 0o755), // whatever the umask: the server's user passes through it
		writeFile(filepath.Join(o.path, outsideFile), append(text, '\n'), 0o600)); err != nil {
		return trouble(err)
	}
	if err := os.Mkdir(o.files(), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return trouble(err)
	}
	return errors.Join(environment(account.Own(o.files())), syncDir(o.path), syncDir(o.dir))
}

func (o outside) mark() (mark outsideMark, err error) {
	text, err := os.ReadFile(filepath.Join(o.path, outsideFile))
	if err != nil {
		return mark, err
	}
	return mark, json.Unmarshal(text, &mark)
}

// removeOutside removes the folders that a cluster has on other disks, and nothing that is not its own.
func (m marker) removeOutside() error {
	var failed error
	for _, o := range m.outsides() {
		mark, err := o.mark()
		if err != nil || mark.ID != m.OutsideID || m.OutsideID == "" {
			continue // not there, or somebody else's
		}
		if err := os.RemoveAll(o.files()); err == nil {
			err = os.RemoveAll(o.path)
			failed = errors.Join(failed, err)
		} else {
			failed = errors.Join(failed, err)
		}
	}
	return environment(failed)
}

// outsideFolders are those of the server's user.
func (m marker) outsideFolders() (all []string) {
	for _, o := range m.outsides() {
		all = append(all, o.files())
	}
	return all
}

// missingOutside says which folder of the cluster on another disk is not there: PostgreSQL's own error names a number.
func (m marker) missingOutside() error {
	for _, o := range m.outsides() {
		if mark, err := o.mark(); err != nil || mark.ID != m.OutsideID {
			return problem.New(problem.Environment, fmt.Errorf("%s: folder %s is not there, or not this cluster's",
				o.what, o.path), "mount its disk, or put the folder back")
		}
	}
	return nil
}

// moveLog moves the log of data that do not run to the cluster's folder for it.
func moveLog(ctx context.Context, srv installation.Server, account *process.Account, data, to string) error {
	log := filepath.Join(data, "pg_wal")
	if err := fillData(ctx, srv, account, to, exec.Command("cp", "-a", log+"/.", to)); err != nil {
		return err
	}
	var err error
	account.WithPermissions(func() {
		if err = os.RemoveAll(log); err == nil {
			err = os.Symlink(to, log)
		}
	})
	return environment(err)
}
