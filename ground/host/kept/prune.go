package kept

import (
	"context"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"plimsoll/ground/host/lock"
)

// Item is a result as one chooses what to remove: how old and how large it is, and its label.
type Item struct {
	Folder Folder    `json:"-"`
	Kind   string    `json:"kind"`
	ID     string    `json:"id"`
	At     time.Time `json:"at"`
	Bytes  int64     `json:"bytes"`
	Label
}

// Items are all results of the folder, newest first, without those that a process works on.
func (f Folder) Items() (all []Item, err error) {
	ids, err := f.IDs()
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if _, held, err := lock.HeldBy(f.Dir(id) + lockSuffix); err != nil || held {
			continue
		}
		i := Item{Folder: f, Kind: f.Kind, ID: id, At: f.began(id), Bytes: Size(f.Dir(id))}
		if i.Label, err = f.Label(id); err != nil {
			return nil, err
		}
		all = append(all, i)
	}
	return all, nil
}

// began is when a result began, as its id says.
func (f Folder) began(id string) time.Time {
	at, _ := time.Parse(idFormat, id[:min(len(id), len(idFormat))])
	return at
}

// Remove it, unless a process works on it.
func (i Item) Remove(ctx context.Context) error {
	release, err := i.Folder.Hold(ctx, i.ID)
	if err != nil {
		return err
	}
	defer release()
	return i.Folder.Remove(i.ID)
}

// Size of all files below a path, in bytes. What cannot be read counts as nothing.
func Size(path string) (bytes int64) {
	_ = filepath.WalkDir(path, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			bytes += info.Size()
		}
		return nil
	})
	return bytes
}

// Choice of results to remove. What it does not say excludes none.
type Choice struct {
	Tag        string        // only those with it
	OlderThan  time.Duration // only those that began longer ago
	Keep       int           // not the newest so many of those with the tag
	LargerThan int64         // only the oldest, until all that stay together take no more bytes
}

// Of the items, those to remove, oldest first.
func (c Choice) Of(items []Item, now time.Time) (chosen []Item) {
	items = slices.Clone(items)
	slices.SortStableFunc(items, func(a, b Item) int { return b.At.Compare(a.At) })
	all, kept := int64(0), 0
	for _, i := range items {
		all += i.Bytes
		switch {
		case !i.Has(c.Tag):
		case kept < c.Keep:
			kept++
		case c.OlderThan == 0 || now.Sub(i.At) > c.OlderThan:
			chosen = append(chosen, i)
		}
	}
	slices.Reverse(chosen)
	if c.LargerThan == 0 {
		return chosen
	}
	for n, i := range chosen {
		if all <= c.LargerThan {
			return chosen[:n]
		}
		all -= i.Bytes
	}
	return chosen
}
