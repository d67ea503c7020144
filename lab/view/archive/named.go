package archive

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"plimsoll/ground/problem"
	"plimsoll/lab/run/result"
	"plimsoll/lab/run/store"
)

// Named finds runs by what a person calls them, in archives, in files and in the store.
type Named struct {
	// Recover is called before the store is asked. It completes runs whose process died; otherwise an older run would
	// pass for the last.
	Recover func()
}

// latestOf is latest:N.
const latestOf = store.Latest + ":"

// Run is one: an id, its beginning, latest, a result's file, or an archive of one run.
func (n Named) Run(which string) (*result.Result, error) {
	switch info, err := os.Stat(which); {
	case which == "":
		which = store.Latest
	case Is(which):
		all, err := Results(which)
		if err == nil && len(all) > 1 {
			err = problem.New(problem.Usage, fmt.Errorf("%s holds %d runs", which, len(all)),
				"'plimsoll report FILE' shows them")
		}
		if err != nil {
			return nil, err
		}
		return all[0], nil
	case strings.ContainsRune(which, os.PathSeparator), strings.HasSuffix(which, ".json"),
		err == nil && !info.IsDir():
		return store.Read(which)
	}
	n.Recover()
	return store.Default().Load(which)
}

// Runs are one or several: an archive or a folder of archives, latest:N, or what names one.
func (n Named) Runs(name string) ([]*result.Result, error) {
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		return resultsBelow(name)
	case Is(name):
		return Results(name)
	case strings.HasPrefix(name, latestOf):
		return n.latest(strings.TrimPrefix(name, latestOf))
	}
	r, err := n.Run(name)
	if err != nil {
		return nil, err
	}
	return []*result.Result{r}, nil
}

// Results of an archive.
func Results(name string) (all []*result.Result, err error) {
	a, err := Read(name)
	if err != nil {
		return nil, err
	}
	for _, run := range a.Runs {
		all = append(all, run.Result)
	}
	return all, nil
}

// resultsBelow are those of a folder's archives.
func resultsBelow(folder string) (all []*result.Result, err error) {
	err = filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() || !Is(path) {
			return err
		}
		some, err := Results(path)
		all = append(all, some...)
		return err
	})
	switch {
	case err != nil && !problem.Classified(err):
		return nil, problem.New(problem.Usage, fmt.Errorf("read baseline: %w", err), "")
	case err == nil && len(all) == 0:
		err = problem.New(problem.Usage, fmt.Errorf("read baseline: %s has no archive (.tar.zst, .zip)", folder),
			"'plimsoll export --archive FILE' writes one")
	}
	return all, err
}

func (n Named) latest(count string) (all []*result.Result, err error) {
	most, err := strconv.Atoi(count)
	if err != nil || most < 1 {
		return nil, problem.New(problem.Usage, fmt.Errorf("%s%s: it takes a number of runs", latestOf, count),
			"such as latest:4")
	}
	n.Recover()
	ids, err := store.Default().IDs()
	if err == nil && len(ids) < most {
		err = problem.New(problem.Usage, fmt.Errorf("%s%d: %d runs are stored", latestOf, most, len(ids)),
			"'plimsoll runs' lists them")
	}
	if err != nil {
		return nil, err
	}
	for _, id := range ids[:most] {
		r, err := store.Default().Load(id)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}
