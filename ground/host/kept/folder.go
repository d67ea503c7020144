package kept

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"plimsoll/ground/host/dirs"
	"plimsoll/ground/host/lock"
	"plimsoll/ground/problem"
)

// Folder of all results of one kind. Each has a folder of its own, named by its id:
//
//	ROOT/20260131-154500/report.html   the page
//	ROOT/20260131-154500/FILE          the JSON, written after the page
type Folder struct {
	Root string
	File string
	Kind string // what a person calls such a result: "run"
	// Beginning is the label of results that begin: one whose process dies can be found by it, too.
	Beginning Label
}

// Latest stands for the id of the newest result.
const Latest = "latest"

const (
	reportFile = "report.html"
	idFormat   = "20060102-150405"
	lockSuffix = ".lock"
)

// Dir is the folder of a result.
func (f Folder) Dir(id string) string { return filepath.Join(f.Root, id) }

// ResultPath is the path of a result's JSON.
func (f Folder) ResultPath(id string) string { return filepath.Join(f.Root, id, f.File) }

// ReportPath is the path of a result's page.
func (f Folder) ReportPath(id string) string { return filepath.Join(f.Root, id, reportFile) }

// Begin makes the folder of a result and returns its id: the time (UTC), what is added to it, and a number where that
// is taken.
func (f Folder) Begin(at time.Time, added string) (id string, err error) {
	if err := dirs.Private(f.Root); err != nil {
		return "", f.Failed(err)
	}
	name := at.UTC().Format(idFormat) + added
	id = name
	for n := 2; n < 1000; n++ {
		if err = os.Mkdir(f.Dir(id), 0o700); !errors.Is(err, fs.ErrExist) {
			break
		}
		id = fmt.Sprintf("%s-%d", name, n)
	}
	if err == nil && !f.Beginning.IsEmpty() {
		if err = f.SetLabel(id, f.Beginning); err != nil {
			_ = os.RemoveAll(f.Dir(id)) // nothing else is in it yet
			return "", err
		}
	}
	return id, f.Failed(err)
}

// Start is Begin for a result that this process stores again and again, and holds until release is called.
func (f Folder) Start(ctx context.Context, at time.Time) (id string, release func(), err error) {
	if id, err = f.Begin(at, ""); err != nil {
		return "", nil, err
	}
	release, err = f.Hold(ctx, id)
	return id, release, err
}

// Hold reserves a result for this process until release is called: of two processes that continue the same one, each
// would overwrite what the other has stored.
func (f Folder) Hold(ctx context.Context, id string) (release func(), err error) {
	return Hold(ctx, f.Dir(id), f.Kind)
}

// Hold reserves a file or folder, which WHAT names, for this process until release is called.
func Hold(ctx context.Context, path, what string) (release func(), err error) {
	l, err := lock.Acquire(ctx, path+lockSuffix, what, 0)
	if err != nil {
		return nil, problem.New(problem.Environment, fmt.Errorf("%s %s: %w", what, filepath.Base(path), err),
			"stop that process, or wait until it has ended")
	}
	return func() { _ = l.Remove() }, nil // a lock ends with its process, whatever becomes of the file
}

// Failed is the problem of a result that cannot be stored; nil without an error.
func (f Folder) Failed(err error) error { return f.Problem("store the "+f.Kind, err) }

// Problem of something else that cannot be done in the folder.
func (f Folder) Problem(what string, err error) error {
	if err == nil {
		return nil
	}
	return problem.New(problem.Environment, fmt.Errorf("%s: %w", what, err),
		"PLIMSOLL_STATE names another state directory")
}

// Save writes the page, if there is one, then the JSON. If there is no room for both, the JSON is stored without the
// page.
func (f Folder) Save(id string, page, tree func(io.Writer) error) (err error) {
	if page != nil {
		err = Write(f.ReportPath(id), page)
	}
	if err == nil || errors.Is(err, syscall.ENOSPC) {
		if failed := Write(f.ResultPath(id), tree); failed != nil {
			err = failed
		}
	}
	return f.Failed(err)
}

// Has says whether the JSON of a result is stored.
func (f Folder) Has(id string) bool {
	_, err := os.Stat(f.ResultPath(id))
	return err == nil
}

// IDs of all results that have their JSON, newest first.
func (f Folder) IDs() (ids []string, err error) {
	entries, err := os.ReadDir(f.Root)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, f.Problem("list "+f.Kind+"s", err)
	}
	for _, e := range slices.Backward(entries) {
		if f.Has(e.Name()) {
			ids = append(ids, e.Name())
		}
	}
	return ids, nil
}

// Remove a result with everything in its folder.
func (f Folder) Remove(id string) error { return f.Failed(os.RemoveAll(f.Dir(id))) }

// Meant are the ids, newest first, that a person may mean: Latest, an id, or the beginning of some.
func Meant(id string, ids []string) (found []string) {
	for i, one := range ids {
		switch {
		case one == id, id == Latest && i == 0:
			return []string{one}
		case id != "" && strings.HasPrefix(one, id):
			found = append(found, one)
		}
	}
	return found
}

// Fingerprint is equal for settings that are equal.
func Fingerprint(settings any) string {
	text, err := json.Marshal(settings)
	if err != nil {
		panic(err) // only numbers and texts: cannot fail
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:6])
}
