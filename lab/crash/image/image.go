// Package image rebuilds a data directory as a power cut may leave it, from a copy of what it was and the journal of
// what was written and flushed since.
//
// What a finished flush covers is there. Each other write is there wholly, in part or not at all, by sectors, whatever
// the order. Names are in the order of their changes (model Ordered, as ext4 and XFS do it: any flush makes all earlier
// changes of names durable, and a cut leaves a beginning of the others), or each stands for itself until its folder is
// flushed (model Strict, all that POSIX promises). Ordered is the default: PostgreSQL relies on it for the files of
// relations, whose folder it does not flush.
package image

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"

	"plimsoll/lab/postgres/storage"
)

// Model of the file system's names.
type Model string

const (
	Ordered Model = "ordered"
	Strict  Model = "strict"
)

// file is an inode: its content in the base, and what changed since.
type file struct {
	base    string // empty: created since
	changes []change
	flushed int // of the changes, the first ones
}

type change struct {
	record  storage.Record
	durable bool // the call itself flushed
}

// naming is a change of names.
type naming struct {
	record  storage.Record
	file    *file // of a created one
	durable bool
}

// Cut is a moment: all records up to its number are done.
type Cut struct {
	At    uint64
	Seed  uint64
	Model Model
}

// replay is the journal up to the cut.
type replay struct {
	base    string
	model   Model
	live    map[string]*file
	byIno   map[uint64]*file
	folders map[uint64]string
	names   []naming
	flushed int            // of the names, the first ones
	files   map[*file]bool // with changes
}

// errOutside: the journal is written by the server's user, and this process may be root.
var errOutside = errors.New("the journal names a file outside of the data folder")

// Build changes dir, a copy of base, to what the cut leaves. Nothing outside of dir is touched, and nothing outside of
// base is read, whatever the records name and wherever links lead.
func Build(base, dir string, records []storage.Record, cut Cut) error {
	r := &replay{base: base, model: cut.Model, live: map[string]*file{}, byIno: map[uint64]*file{},
		folders: map[uint64]string{}, files: map[*file]bool{}}
	for _, one := range records {
		if one.Number > cut.At {
			break
		}
		for _, path := range []string{one.Path, one.To} {
			if path != "" && !filepath.IsLocal(path) {
				return fmt.Errorf("rebuild record %d of the journal: %w: %q", one.Number, errOutside, path)
			}
		}
		if err := r.add(one); err != nil {
			return fmt.Errorf("rebuild record %d of the journal: %w", one.Number, err)
		}
	}
	inside, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer inside.Close()
	return r.write(inside, rand.New(rand.NewPCG(cut.Seed, cut.At)))
}

var errUnknown = errors.New("it changes a file that was never opened")

func (r *replay) add(one storage.Record) error {
	switch one.Kind {
	case storage.Open:
		r.open(one)
	case storage.Write, storage.Zero, storage.Truncate, storage.Allocate:
		f := r.byIno[one.Ino]
		if f == nil {
			return errUnknown
		}
		f.changes = append(f.changes, change{one, one.Flags&storage.Durable != 0})
		r.files[f] = true
	case storage.Sync:
		r.sync(one)
	case storage.SyncAll:
		r.syncAll(one)
	case storage.Rename, storage.Link, storage.Unlink, storage.Mkdir, storage.Rmdir:
		r.name(one)
	}
	return nil
}

func (r *replay) open(one storage.Record) {
	if one.Flags&storage.Directory != 0 {
		r.folders[one.Ino] = one.Path
		return
	}
	f := r.find(one.Path)
	if one.Flags&storage.Created != 0 && (f == nil || r.byIno[one.Ino] != f) || f == nil {
		f = &file{}
		r.live[one.Path] = f
		r.names = append(r.names, naming{record: one, file: f, durable: one.Flags&storage.Durable != 0})
		r.files[f] = true
	}
	r.byIno[one.Ino] = f
	if one.Flags&storage.Emptied != 0 {
		one.Kind, one.Size = storage.Truncate, 0
		f.changes = append(f.changes, change{one, one.Flags&storage.Durable != 0})
		r.files[f] = true
	}
}

// find returns the file that has this name now; nil: none.
func (r *replay) find(name string) *file {
	f, known := r.live[name]
	if !known {
		if info, err := os.Lstat(filepath.Join(r.base, name)); err == nil && info.Mode().IsRegular() {
			f = &file{base: name}
			r.live[name] = f
		}
	}
	return f
}

func (r *replay) name(one storage.Record) {
	n := naming{record: one, durable: one.Flags&storage.Durable != 0}
	switch one.Kind {
	case storage.Rename:
		n.file = r.find(one.Path)
		r.live[one.To], r.live[one.Path] = n.file, nil
	case storage.Link:
		n.file = r.find(one.Path)
		r.live[one.To] = n.file
	case storage.Unlink:
		n.file = r.find(one.Path)
		r.live[one.Path] = nil
	}
	r.names = append(r.names, n)
}

// sync makes durable what a flush covers. It also commits names: all in Ordered, those of its folder in Strict.
func (r *replay) sync(one storage.Record) {
	if f := r.byIno[one.Ino]; f != nil && r.folders[one.Ino] == "" {
		f.sync(one.Before)
	}
	if r.model != Strict {
		r.syncNames(one.Before)
		return
	}
	folder, isFolder := r.folders[one.Ino]
	for i := range r.names {
		n := &r.names[i]
		if n.record.Number < one.Before && isFolder && n.in(folder) {
			n.durable = true
		}
	}
}

func (r *replay) syncAll(one storage.Record) {
	for f := range r.files {
		f.sync(one.Before)
	}
	r.syncNames(one.Before)
}

// syncNames makes all names before a record durable.
func (r *replay) syncNames(before uint64) {
	for r.flushed < len(r.names) && r.names[r.flushed].record.Number < before {
		r.names[r.flushed].durable = true
		r.flushed++
	}
}

// sync covers a beginning of the changes: they are in the order of their numbers.
func (f *file) sync(before uint64) {
	for f.flushed < len(f.changes) && f.changes[f.flushed].record.Number < before {
		f.flushed++
	}
}

func (n naming) in(folder string) bool {
	parent := func(name string) string {
		if dir := path.Dir(name); dir != "." {
			return dir
		}
		return ""
	}
	return parent(n.record.Path) == folder || n.record.To != "" && parent(n.record.To) == folder
}

// write puts the names and contents that the journal touched into the copy.
func (r *replay) write(dir *os.Root, random *rand.Rand) error {
	names, err := r.applyNames(dir, random)
	if err != nil {
		return err
	}
	for f := range r.files { // a file that was only changed keeps its name
		if _, moved := names[f.base]; f.base != "" && !moved {
			names[f.base] = f
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) { // the same seed makes the same image
		if err := r.put(dir, names[name], name, random); err != nil {
			return err
		}
	}
	return nil
}

// put places a file where it is after the cut; nil: nowhere.
func (r *replay) put(dir *os.Root, f *file, name string, random *rand.Rand) error {
	if f == nil {
		if err := dir.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	if _, err := dir.Stat(filepath.Dir(name)); errors.Is(err, fs.ErrNotExist) {
		return nil // its folder is lost
	}
	content, err := r.content(f, random)
	if err != nil {
		return err
	}
	at, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = at.Write(content)
	return errors.Join(err, at.Close())
}
