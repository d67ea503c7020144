package image

import (
	"path"

	"plimsoll/ground/postgres/storage"
)

// Model of what a flush does to names. All models agree on content: fsync and fdatasync make the content and size of
// their file durable, and no other file's.
type Model string

const (
	// Strict keeps a change of a name when the folder of the new name is flushed, and, by the rule of first names, when
	// fsync is called for what the change made. Every other change stands for itself.
	Strict Model = "strict"
	// Ordered is the journal of ext4 and XFS: changes of names are in their order, and a cut leaves a beginning. A
	// flush commits all changes before it if it has to commit: fsync if anything of its file changed since the last
	// commit, or anything in its folder; fdatasync only if the file is new, or its size or room changed.
	Ordered Model = "ordered"
	// POSIX is Strict without the rule of first names. PostgreSQL does not bear it: see firstName.
	POSIX Model = "posix"
)

// Models, the default first.
var Models = []Model{Strict, Ordered, POSIX}

// sync makes durable what a flush of a file or a folder covers.
func (r *replay) sync(one storage.Record) {
	f := r.byIno[one.Ino]
	if folder, is := r.folders[one.Ino]; is {
		r.syncFolder(folder, one)
	} else if f != nil {
		f.sync(one.Before)
		if r.model == Ordered {
			r.commit(f, one)
		}
		r.firstName(f.made, one)
	}
}

func (r *replay) syncFolder(folder string, one storage.Record) {
	if r.model == Ordered {
		if r.touched[folder].uncommitted(r.committed, one.Before) {
			r.commitNames(one.Before)
		}
		return
	}
	later := r.pending[folder][:0]
	for _, i := range r.pending[folder] {
		if r.names[i].record.Number < one.Before {
			r.names[i].durable = true
		} else {
			later = append(later, i)
		}
	}
	r.pending[folder] = later
	r.firstName(r.made[folder], one)
}

// firstName is a rule that POSIX does not have, and ext4, XFS, Btrfs and F2FS do: fsync of a new file or folder keeps
// the name with which it was made. PostgreSQL relies on it for the files of relations: a checkpoint calls fsync for
// each new file, and never for the folder of a database.
func (r *replay) firstName(made int, one storage.Record) {
	if r.model == Strict && one.Kind == storage.Sync && made > 0 && r.names[made-1].record.Number < one.Before {
		r.names[made-1].durable = true
	}
}

// commit the journal of Ordered for a flush of a file, or for a write that flushes, if there is something to commit.
func (r *replay) commit(f *file, one storage.Record) {
	whole, before := one.Kind == storage.Sync || one.Flags&storage.Whole != 0, one.Before
	if one.Kind == storage.Write || one.Kind == storage.Zero {
		before = one.Number + 1 // its own change, too
	}
	if f.resized.uncommitted(r.committed, before) || whole && f.touched.uncommitted(r.committed, before) {
		r.commitNames(one.Before)
	}
}

// commitNames before a record, in Ordered.
func (r *replay) commitNames(before uint64) {
	r.committed = max(r.committed, before)
	for r.flushed < len(r.names) && r.names[r.flushed].record.Number < before {
		r.names[r.flushed].durable = true
		r.flushed++
	}
}

// syncAll makes everything before a record durable.
func (r *replay) syncAll(one storage.Record) {
	for f := range r.files {
		f.sync(one.Before)
	}
	r.commitNames(one.Before)
}

// changed are the records that changed something: the first one since the last commit of the journal, and the last one.
type changed struct{ first, last uint64 }

func (c *changed) by(number, committed uint64) {
	if c.first == 0 || c.first < committed {
		c.first = number
	}
	c.last = number
}

// uncommitted says that a change before a record is not committed yet.
func (c changed) uncommitted(committed, before uint64) bool {
	first := c.first
	if first < committed {
		first = c.last
	}
	return first > 0 && first >= committed && first < before
}

// folderOf a name.
func folderOf(name string) string {
	if dir := path.Dir(name); dir != "." {
		return dir
	}
	return ""
}
