// Package image rebuilds a data directory as a power cut may leave it, from a copy of what it was and the journal of
// what was written and flushed since.
//
// What a finished flush covers is there. Each other write is there wholly, in part or not at all, by sectors, whatever
// the order. What becomes of names depends on the model: Strict, the default, keeps no more than any file system that
// PostgreSQL runs on; Ordered is the journal of ext4 and XFS; POSIX is less than PostgreSQL relies on.
package image

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"plimsoll/ground/postgres/storage"
)

// file is an inode: its content in the base, and what changed since.
type file struct {
	base    string // empty: created since
	changes []change
	flushed int // of the changes, the first ones
	size    int64
	made    int // its place in names, from 1; 0: in the base
	// touched is for anything, resized for its size, its room and its being there.
	touched, resized changed
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
	files   map[*file]bool   // with changes
	made    map[string]int   // folders: their place in names, from 1
	pending map[string][]int // changes of names in a folder that no flush covers; not kept in Ordered

	// In Ordered: the first names that are durable, what is committed, and what was changed in folders.
	flushed   int
	committed uint64
	touched   map[string]changed
}

// errOutside: the journal is written by the server's user, and this process may be root.
var errOutside = errors.New("the journal names a file outside of the data folder")

// Build changes dir, a copy of base, to what the cut leaves. It gives the files that were removed and are there again.
// Nothing outside of dir is touched, and nothing outside of base is read, whatever the records name and wherever links
// lead.
func Build(base, dir string, records []storage.Record, cut Cut) (undead []string, err error) {
	r := &replay{base: base, model: cut.Model, live: map[string]*file{}, byIno: map[uint64]*file{},
		folders: map[uint64]string{}, files: map[*file]bool{}, made: map[string]int{}, pending: map[string][]int{},
		touched: map[string]changed{}}
	for _, one := range records {
		if one.Number > cut.At {
			break
		}
		for _, path := range []string{one.Path, one.To} {
			if path != "" && !filepath.IsLocal(path) {
				return nil, fmt.Errorf("rebuild record %d of the journal: %w: %q", one.Number, errOutside, path)
			}
		}
		if err := r.add(one); err != nil {
			return nil, fmt.Errorf("rebuild record %d of the journal: %w", one.Number, err)
		}
	}
	inside, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
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
		r.change(f, one)
		if r.model == Ordered && one.Flags&storage.Durable != 0 && one.Before > 0 {
			r.commit(f, one)
		}
	case storage.Sync, storage.Datasync:
		r.sync(one)
	case storage.SyncAll:
		r.syncAll(one)
	case storage.Rename, storage.Link, storage.Unlink, storage.Mkdir, storage.Rmdir:
		r.name(one)
	}
	return nil
}

// change the content or size of a file.
func (r *replay) change(f *file, one storage.Record) {
	f.changes = append(f.changes, change{one, one.Flags&storage.Durable != 0})
	r.files[f] = true
	size := f.size
	switch one.Kind {
	case storage.Truncate:
		size = one.Size
	default:
		size = max(size, one.Offset+one.Size)
	}
	f.touched.by(one.Number, r.committed)
	if size != f.size || one.Kind == storage.Allocate {
		f.size = size
		f.resized.by(one.Number, r.committed)
	}
}

func (r *replay) open(one storage.Record) {
	if one.Flags&storage.Directory != 0 {
		r.folders[one.Ino] = one.Path
		delete(r.byIno, one.Ino)
		return
	}
	delete(r.folders, one.Ino) // the number of a removed folder may be used again
	f := r.find(one.Path)
	if one.Flags&storage.Created != 0 && (f == nil || r.byIno[one.Ino] != f) || f == nil {
		f = &file{made: len(r.names) + 1}
		f.resized.by(one.Number, r.committed)
		r.live[one.Path] = f
		r.named(naming{record: one, file: f})
		r.files[f] = true
	}
	r.byIno[one.Ino] = f
	if one.Flags&storage.Emptied != 0 {
		one.Kind, one.Size = storage.Truncate, 0
		r.change(f, one)
	}
}

// find returns the file that has this name now; nil: none.
func (r *replay) find(name string) *file {
	f, known := r.live[name]
	if !known {
		if info, err := os.Lstat(filepath.Join(r.base, name)); err == nil && info.Mode().IsRegular() {
			f = &file{base: name, size: info.Size()}
			r.live[name] = f
		}
	}
	return f
}

func (r *replay) name(one storage.Record) {
	n := naming{record: one}
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
	r.named(n)
}

func (r *replay) named(n naming) {
	one := n.record
	n.durable = one.Flags&storage.Durable != 0
	if n.file != nil {
		n.file.touched.by(one.Number, r.committed)
	}
	folder := folderOf(one.Path)
	if r.touch(folder, one.Number); one.To != "" {
		folder = folderOf(one.To)
		r.touch(folder, one.Number)
	}
	if r.model != Ordered && !n.durable {
		r.pending[folder] = append(r.pending[folder], len(r.names))
	}
	r.names = append(r.names, n)
	if one.Kind == storage.Mkdir {
		r.made[one.Path] = len(r.names)
	}
}

func (r *replay) touch(folder string, number uint64) {
	c := r.touched[folder]
	c.by(number, r.committed)
	r.touched[folder] = c
}

// sync covers a beginning of the changes: they are in the order of their numbers.
func (f *file) sync(before uint64) {
	for f.flushed < len(f.changes) && f.changes[f.flushed].record.Number < before {
		f.flushed++
	}
}

// write puts the names and contents that the journal touched into the copy.
func (r *replay) write(dir *os.Root, random *rand.Rand) (undead []string, err error) {
	names, undone, err := r.applyNames(dir, random)
	if err != nil {
		return nil, err
	}
	for f := range r.files { // a file that was only changed keeps its name
		if _, moved := names[f.base]; f.base != "" && !moved {
			names[f.base] = f
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) { // the same seed makes the same image
		if err := r.put(dir, names[name], name, random); err != nil {
			return nil, err
		}
	}
	for _, name := range undone {
		if _, err := dir.Lstat(name); err == nil {
			undead = append(undead, name)
		}
	}
	return undead, nil
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
