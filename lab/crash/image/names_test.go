package image_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"plimsoll/ground/postgres/storage"
	"plimsoll/lab/crash/image"
)

// cutOften gives the names that cuts at the end of a journal leave, and how often, over many seeds.
func cutOften(t *testing.T, model image.Model, records []storage.Record) map[string]int {
	t.Helper()
	for i := range records {
		records[i].Number = uint64(i) + 1
		if records[i].Before == 0 {
			records[i].Before = records[i].Number
		}
	}
	seen := map[string]int{}
	root := t.TempDir()
	base := filepath.Join(root, "base")
	if err := os.Mkdir(base, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(base, "log"), make([]byte, 8192), 0o600); err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(cuts) {
		dir := filepath.Join(root, fmt.Sprint(seed))
		if err := os.CopyFS(dir, os.DirFS(base)); err != nil {
			t.Fatal(err)
		}
		cut := image.Cut{At: uint64(len(records)), Seed: seed, Model: model}
		if _, err := image.Build(base, dir, records, cut); err != nil {
			t.Fatal(err)
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			seen[e.Name()]++
		}
	}
	return seen
}

const cuts = 40

// often: in about half of the cuts.
func often(n int) bool { return n > cuts/4 && n < cuts*3/4 }

// TestWhatKeepsARename: a file is made and flushed with its folder, and gets another name. What follows keeps that
// name, or may not: then about half of the cuts lose it.
func TestWhatKeepsARename(t *testing.T) {
	const folder, made, log = 1, 2, 3
	write := func(offset, size int64, flags uint16) storage.Record {
		return storage.Record{Kind: storage.Write, Ino: log, Offset: offset, Size: size, Data: make([]byte, size),
			Flags: flags}
	}
	flush := func(kind storage.Kind, ino uint64) storage.Record { return storage.Record{Kind: kind, Ino: ino} }
	for name, c := range map[string]struct {
		then            []storage.Record
		strict, ordered bool // keep it
	}{
		"Nothing":      {nil, false, false},
		"ItsFolder":    {[]storage.Record{flush(storage.Sync, folder)}, true, true},
		"ItsFile":      {[]storage.Record{flush(storage.Sync, made)}, false, true},
		"ItsFilesData": {[]storage.Record{flush(storage.Datasync, made)}, false, false},
		"AnotherFilesData": {[]storage.Record{write(0, 512, 0), flush(storage.Datasync, log)},
			false, false},
		"AnotherUnchangedFile": {[]storage.Record{flush(storage.Sync, log)}, false, false},
		"AnotherFile":          {[]storage.Record{write(0, 512, 0), flush(storage.Sync, log)}, false, true},
		"AnotherLongerFile":    {[]storage.Record{write(8192, 512, 0), flush(storage.Datasync, log)}, false, true},
		"AnotherFileWithRoom": {[]storage.Record{{Kind: storage.Allocate, Ino: log, Offset: 8192, Size: 8192},
			flush(storage.Datasync, log)}, false, true},
		"AShorterFile": {[]storage.Record{{Kind: storage.Truncate, Ino: log, Size: 512},
			flush(storage.Datasync, log)}, false, true},
		"AFlushedWrite":       {[]storage.Record{write(0, 512, storage.Durable)}, false, false},
		"AFlushedLongerWrite": {[]storage.Record{write(8192, 512, storage.Durable)}, false, true},
		"AWholeFlushedWrite":  {[]storage.Record{write(0, 512, storage.Durable|storage.Whole)}, false, true},
		"Writeback":           {[]storage.Record{write(8192, 512, 0), flush(storage.Writeback, log)}, false, false},
		"Everything":          {[]storage.Record{flush(storage.SyncAll, 0)}, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			for model, keeps := range map[image.Model]bool{image.Strict: c.strict, image.POSIX: c.strict,
				image.Ordered: c.ordered} {
				records := append([]storage.Record{
					{Kind: storage.Open, Ino: folder, Flags: storage.Directory},
					{Kind: storage.Open, Ino: log, Path: "log"},
					{Kind: storage.Open, Ino: made, Path: "new", Flags: storage.Created},
					flush(storage.Sync, made), flush(storage.Sync, folder),
					{Kind: storage.Rename, Path: "new", To: "name"}}, c.then...)
				seen := cutOften(t, model, records)
				if n := seen["name"]; keeps && n != cuts || !keeps && !often(n) || n+seen["new"] != cuts {
					t.Errorf("%s: after %d of %d cuts it has the new name, after %d the old one", model, n, cuts,
						seen["new"])
				}
			}
		})
	}
}

// TestFirstNames: the rule that tells Strict from POSIX.
func TestFirstNames(t *testing.T) {
	for name, c := range map[string]struct {
		kind storage.Kind
		kept map[image.Model]bool
	}{
		"Fsync":     {storage.Sync, map[image.Model]bool{image.Strict: true, image.Ordered: true}},
		"Fdatasync": {storage.Datasync, map[image.Model]bool{image.Ordered: true}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, model := range image.Models {
				seen := cutOften(t, model, []storage.Record{
					{Kind: storage.Open, Ino: 2, Path: "new", Flags: storage.Created}, {Kind: c.kind, Ino: 2},
					{Kind: storage.Mkdir, Path: "folder"},
					{Kind: storage.Open, Ino: 3, Path: "folder", Flags: storage.Directory},
					{Kind: storage.Open, Ino: 4, Path: "folder/file", Flags: storage.Created}, {Kind: c.kind, Ino: 3}})
				for _, made := range []string{"new", "folder"} {
					keeps := c.kept[model]
					if n := seen[made]; keeps && n != cuts || !keeps && !often(n) {
						t.Errorf("%s: %s is there after %d of %d cuts", model, made, n, cuts)
					}
				}
			}
		})
	}
}

// A model of plain maps: each change of a name that its folder's flush does not cover was made or not, whatever became
// of the others.
func TestStrictNamesStandForThemselves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newNames()
		now := map[string]bool{}
		may := []map[string]bool{{}} // what the names may be
		for n := range rapid.IntRange(1, 8).Draw(t, "steps") {
			change := s.change(t, n, now)
			if change == nil {
				s.add(storage.Record{Kind: storage.Datasync, Ino: 1, Before: s.record + 1})
				may = []map[string]bool{maps.Clone(now)}
				continue
			}
			for _, one := range slices.Clone(may) {
				may = append(may, changed(one, change))
			}
			now = changed(now, change)
		}
		got := s.names(t, image.Strict)
		if !slices.ContainsFunc(may, func(one map[string]bool) bool { return maps.Equal(one, got) }) {
			t.Fatalf("names %v; may be any of %v", got, may)
		}
	})
}

// newNames starts the record of a folder without files.
func newNames() *simple {
	s := &simple{}
	s.add(storage.Record{Kind: storage.Open, Ino: 1, Path: "", Flags: storage.Directory})
	return s
}

// change records that a name is made, renamed or removed, and returns what there is then; nil: the folder is to be
// flushed.
func (s *simple) change(t *rapid.T, n int, now map[string]bool) map[string]bool {
	there := slices.Sorted(maps.Keys(now))
	switch step := rapid.IntRange(0, 4).Draw(t, "step"); {
	case step == 4:
		return nil
	case step <= 1 || len(there) == 0:
		name := fmt.Sprintf("n%d", n)
		s.add(storage.Record{Kind: storage.Open, Ino: uint64(n + 10), Path: name, Flags: storage.Created})
		return map[string]bool{name: true}
	case step == 2:
		from, to := rapid.SampledFrom(there).Draw(t, "from"), fmt.Sprintf("m%d", n)
		s.add(storage.Record{Kind: storage.Rename, Path: from, To: to})
		return map[string]bool{from: false, to: true}
	}
	gone := rapid.SampledFrom(there).Draw(t, "gone")
	s.add(storage.Record{Kind: storage.Unlink, Path: gone})
	return map[string]bool{gone: false}
}

// changed are the names after a change of some.
func changed(names, change map[string]bool) map[string]bool {
	after := maps.Clone(names)
	for name, there := range change {
		if there {
			after[name] = true
		} else {
			delete(after, name)
		}
	}
	return after
}

// names that an image of all that was recorded has.
func (s *simple) names(t *rapid.T, model image.Model) map[string]bool {
	root, err := os.MkdirTemp("", "image-*")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(root)
	base, dir := filepath.Join(root, "base"), filepath.Join(root, "data")
	for _, path := range []string{base, dir} {
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	cut := image.Cut{At: s.record, Seed: rapid.Uint64().Draw(t, "seed"), Model: model}
	if _, err := image.Build(base, dir, s.made, cut); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, e := range entries {
		got[e.Name()] = true
	}
	return got
}

// A removal that the cut undoes is told, so that nobody takes the file for a fault of the server.
func TestWhatACutBringsBackIsTold(t *testing.T) {
	records := []storage.Record{{Number: 1, Kind: storage.Unlink, Path: "old"}}
	told, back := 0, 0
	for seed := range uint64(cuts) {
		root := t.TempDir()
		base, dir := filepath.Join(root, "base"), filepath.Join(root, "data")
		for _, folder := range []string{base, dir} {
			if err := os.Mkdir(folder, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(folder, "old"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		undead, err := image.Build(base, dir, records, image.Cut{At: 1, Seed: seed, Model: image.Strict})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(dir, "old")); err == nil {
			back++
		}
		if slices.Equal(undead, []string{"old"}) {
			told++
		}
	}
	if told != back || !often(back) {
		t.Errorf("%d of %d cuts brought the file back, and %d say so", back, cuts, told)
	}
}
