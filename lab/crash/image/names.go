package image

import (
	"math/rand/v2"
	"os"
	"path/filepath"

	"plimsoll/ground/postgres/storage"
)

// applyNames creates and removes folders, and returns the file that each changed name has after the cut (nil: none),
// and the names whose removal the cut undid.
func (r *replay) applyNames(dir *os.Root, random *rand.Rand) (names map[string]*file, undone []string, err error) {
	names = map[string]*file{}
	last := r.lastDurable()
	beginning := last + random.IntN(len(r.names)-last+1) // of the changes that no flush covers, in Ordered
	for i, n := range r.names {
		if !n.durable && (r.model != Ordered && random.IntN(2) == 0 || r.model == Ordered && i >= beginning) {
			if n.record.Kind == storage.Unlink {
				undone = append(undone, n.record.Path)
			}
			continue
		}
		if err := n.apply(dir, names); err != nil {
			return nil, nil, err
		}
	}
	return names, undone, nil
}

// lastDurable counts the changes of names up to the last durable one.
func (r *replay) lastDurable() int {
	for i := len(r.names); i > 0; i-- {
		if r.names[i-1].durable {
			return i
		}
	}
	return 0
}

func (n naming) apply(dir *os.Root, names map[string]*file) error {
	one := n.record
	switch one.Kind {
	case storage.Open:
		names[one.Path] = n.file
	case storage.Rename:
		names[one.To], names[one.Path] = n.file, nil
	case storage.Link:
		names[one.To] = n.file
	case storage.Unlink:
		names[one.Path] = nil
	case storage.Mkdir:
		if err := dir.Mkdir(one.Path, 0o700); err != nil {
			if os.IsExist(err) || os.IsNotExist(err) {
				return nil
			}
			return err
		}
	case storage.Rmdir:
		if _, err := dir.Lstat(one.Path); err == nil { // it is inside
			_ = os.RemoveAll(filepath.Join(dir.Name(), one.Path)) // not empty if a removal inside it was lost
		}
	}
	return nil
}
