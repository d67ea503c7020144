// Package uninstall owns what Plimsoll leaves on a machine: where that is, how large it is, and how it is removed.
//
//	survey ──nothing hinders──▶ remove: clusters ▶ backups ▶ results ▶ cache ▶ completions ▶ user
package uninstall

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"

	"plimsoll/ground/host/dirs"
	"plimsoll/ground/host/kept"
	"plimsoll/ground/host/lock"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/problem"
	"plimsoll/lab/advise"
)

// SystemUser is who root's servers run as.
const SystemUser = "plimsoll"

// Thing that is there.
type Thing struct {
	What  string `json:"what"`
	Path  string `json:"path,omitempty"`
	Bytes int64  `json:"bytes,omitempty"`
	Note  string `json:"note,omitempty"` // of what stays: why, and what to do

	remove func(context.Context) error
}

// Survey of a machine.
type Survey struct {
	Removes []Thing `json:"removes"`
	Stays   []Thing `json:"stays"`
	Hinders []Hint  `json:"hinders"`
}

// Hint is something that must end before anything is removed, and how.
type Hint struct {
	What string `json:"what"`
	Do   string `json:"do"`
}

// Options of a survey.
type Options struct {
	Clusters *cluster.Store
	User     bool // the system user goes, too
}

// Look at the machine.
func Look(ctx context.Context, o Options) (*Survey, error) {
	s := &Survey{Removes: []Thing{}, Stays: []Thing{}, Hinders: []Hint{}}
	state, err := look(dirs.State(), State)
	if err != nil {
		return nil, problem.New(problem.Environment, fmt.Errorf("look for what is there: %w", err), "")
	}
	cache, err := look(dirs.Cache(), Cache)
	if err != nil {
		return nil, problem.New(problem.Environment, fmt.Errorf("look for what is there: %w", err), "")
	}
	if err := s.clusters(ctx, o.Clusters); err != nil {
		return nil, err
	}
	s.underWay(state.path)
	if err := s.directory(state); err != nil {
		return nil, err
	}
	if err := s.directory(cache); err != nil {
		return nil, err
	}
	for _, path := range written() {
		s.removes("completion or manual page", path, func(context.Context) error { return os.Remove(path) })
	}
	s.others(o)
	return s, nil
}

func (s *Survey) removes(what, path string, how func(context.Context) error) {
	s.Removes = append(s.Removes, Thing{What: what, Path: path, Bytes: kept.Size(path), remove: how})
}

func (s *Survey) stays(what, path, note string) {
	s.Stays = append(s.Stays, Thing{What: what, Path: path, Note: note})
}

// clusters are destroyed one by one: parts of them may lie on other disks.
func (s *Survey) clusters(ctx context.Context, all *cluster.Store) error {
	found, err := all.Status(ctx)
	if err != nil {
		return err
	}
	for _, c := range found {
		path := filepath.Join(dirs.State(), "clusters", c.Name)
		switch c.State {
		case cluster.Running, cluster.Starting, cluster.Stopping:
			s.Hinders = append(s.Hinders, Hint{"cluster " + c.Name + " is " + string(c.State),
				"plimsoll down " + c.Name})
		case cluster.Foreign, cluster.Broken, cluster.Hidden:
			s.stays("cluster "+c.Name, path, "it is "+string(c.State)+": remove it yourself")
			continue
		}
		s.removes("cluster "+c.Name, path, func(ctx context.Context) error { return all.Destroy(ctx, c.Name) })
	}
	return nil
}

// underWay are measurements of which a process holds the lock.
func (s *Survey) underWay(state string) {
	for _, pattern := range []string{"runs/*/under-way", "lines/*.lock", "comparisons/*.lock"} {
		found, _ := filepath.Glob(filepath.Join(state, pattern))
		for _, path := range found {
			if owner, held, err := lock.HeldBy(path); err == nil && held {
				s.Hinders = append(s.Hinders, Hint{"a process works on " + strings.TrimPrefix(path, state+"/") + ": " +
					owner.String(), "wait until it has finished, or stop it"})
			}
		}
	}
}

func (s *Survey) directory(d directory) error {
	if len(d.unknown) > 0 && !d.standard() && len(d.ours) > 0 {
		s.Hinders = append(s.Hinders, Hint{fmt.Sprintf("%s also holds %s, so its folders may be another's", d.path,
			strings.Join(d.unknown[:min(3, len(d.unknown))], ", ")),
			"remove what is Plimsoll's yourself: " + strings.Join(d.ours, ", ")})
	}
	for _, name := range d.unknown {
		s.stays("unknown", filepath.Join(d.path, name), "Plimsoll did not make it")
	}
	for _, name := range d.ours {
		path := filepath.Join(d.path, name)
		switch name {
		case "clusters":
			s.removes("locks of clusters", path, func(context.Context) error { return removeLocks(path) })
			continue
		case filepath.Base(advise.Folder()):
			applied, err := advise.StillApplied(path)
			if err != nil {
				return err
			}
			if len(applied) > 0 {
				s.stays(d.what(name), path, "changes on "+strings.Join(applied, ", ")+" are still in force; "+
					"'plimsoll advise --revert' undoes them by it")
				continue
			}
		}
		s.removes(d.what(name), path, func(context.Context) error { return os.RemoveAll(path) })
	}
	if len(d.ours)+len(d.unknown) > 0 {
		s.Removes = append(s.Removes, Thing{What: "the folder itself, if nothing is left in it", Path: d.path,
			remove: func(context.Context) error { _ = os.Remove(d.path); return nil }})
	}
	return nil
}

// removeLocks of clusters that are gone, and their folder unless something stays in it.
func removeLocks(dir string) error {
	found, err := filepath.Glob(filepath.Join(dir, ".*"))
	for _, path := range found {
		err = errors.Join(err, os.RemoveAll(path))
	}
	_ = os.Remove(dir)
	return err
}

// others are the system user, and what only its owner can remove.
func (s *Survey) others(o Options) {
	if path := dirs.ConfigFile(); exists(path) {
		s.stays("configuration", path, "you wrote it")
	}
	if _, err := user.Lookup(SystemUser); err == nil {
		if o.User {
			s.Removes = append(s.Removes, Thing{What: "system user " + SystemUser, remove: removeUser})
		} else {
			s.stays("system user "+SystemUser, "", "--system-user removes it")
		}
	}
	program, err := os.Executable()
	if err != nil {
		return
	}
	note := "remove the file, and the folder of the checkout if there is one"
	if of := packageOf(program); of != "" {
		note = "apt remove " + of
	}
	s.stays("this program", program, note)
}

func removeUser(ctx context.Context) error {
	out, err := exec.CommandContext(ctx, "userdel", SystemUser).CombinedOutput()
	if err != nil {
		return problem.New(problem.Environment, fmt.Errorf("remove the system user: %s",
			strings.TrimSpace(string(out))), "as root: userdel "+SystemUser)
	}
	return nil
}

// packageOf Debian that a file belongs to; empty: none.
func packageOf(path string) string {
	out, err := exec.Command("dpkg-query", "--search", path).Output()
	if name, _, found := strings.Cut(string(out), ":"); err == nil && found {
		return name
	}
	return ""
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// Remove everything that the survey says. It refuses while something hinders, and goes on where one thing fails.
func (s *Survey) Remove(ctx context.Context) error {
	if len(s.Hinders) > 0 {
		return problem.New(problem.Environment, errors.New(s.Hinders[0].What), s.Hinders[0].Do)
	}
	left := s.Removes
	var failed error
	for progress := true; progress && len(left) > 0; { // a cluster goes only after its standbys
		var again []Thing
		failed = nil
		for _, thing := range left {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err := thing.remove(ctx); err != nil {
				again = append(again, thing)
				failed = cmp.Or(failed, problem.WithHint(fmt.Errorf("%s: %w", thing.What, err), problem.HintOf(err)))
			}
		}
		progress = len(again) < len(left)
		left = again
	}
	return failed
}
