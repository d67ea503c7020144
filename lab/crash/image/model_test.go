package image_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"plimsoll/ground/postgres/storage"
	"plimsoll/lab/crash/image"
)

// The model keeps, for each file and each sector, every value that the disk may hold: what the last covering flush
// left, and what any write since then made of it. It knows nothing of fates, units or seeds.

const (
	sector  = 512
	sectors = 4
)

type simple struct {
	record uint64
	files  map[string]*simpleFile
	made   []storage.Record
}

type simpleFile struct {
	ino      uint64
	possible [sectors]map[byte]uint64 // value of all bytes of a sector, and the record that wrote it
}

func (s *simple) add(r storage.Record) storage.Record {
	s.record++
	r.Number = s.record
	s.made = append(s.made, r)
	return r
}

// image is what a cut after the last record leaves in the folder dir.
func (s *simple) image(t rapid.TB, base, dir string, seed uint64) {
	t.Helper()
	if err := os.CopyFS(dir, os.DirFS(base)); err != nil {
		t.Fatal(err)
	}
	cut := image.Cut{At: s.record, Seed: seed, Model: image.Models[seed%uint64(len(image.Models))]}
	if _, err := image.Build(base, dir, s.made, cut); err != nil {
		t.Fatal(err)
	}
}

// newSimple makes the folder with its files.
func newSimple(t rapid.TB, base string) *simple {
	t.Helper()
	if err := os.Mkdir(base, 0o700); err != nil {
		t.Fatal(err)
	}
	s := &simple{files: map[string]*simpleFile{}}
	for n := range 2 {
		name := fmt.Sprintf("f%d", n)
		if err := os.WriteFile(filepath.Join(base, name), make([]byte, sectors*sector), 0o600); err != nil {
			t.Fatal(err)
		}
		f := &simpleFile{ino: uint64(n + 1)}
		for i := range f.possible {
			f.possible[i] = map[byte]uint64{0: 0}
		}
		s.files[name] = f
		s.add(storage.Record{Kind: storage.Open, Ino: f.ino, Path: name})
	}
	return s
}

// write fills some sectors with one value.
func (s *simple) write(f *simpleFile, first, count int, value byte, durable bool) {
	r := storage.Record{Kind: storage.Write, Ino: f.ino, Offset: int64(first * sector), Size: int64(count * sector),
		Data: bytes.Repeat([]byte{value}, count*sector)}
	if durable {
		r.Flags = storage.Durable
	}
	r = s.add(r)
	for i := first; i < first+count; i++ {
		if durable {
			f.possible[i] = map[byte]uint64{}
		}
		f.possible[i][value] = r.Number
	}
}

// sync covers what was written before an earlier record: a flush that began then.
func (s *simple) sync(f *simpleFile, before uint64) {
	s.add(storage.Record{Kind: []storage.Kind{storage.Sync, storage.Datasync}[before%2], Ino: f.ino, Before: before})
	for i, values := range f.possible {
		last, lastAt := byte(0), uint64(0)
		for value, at := range values {
			if at < before && at >= lastAt {
				last, lastAt = value, at
			}
		}
		for value, at := range values {
			if at < before && value != last {
				delete(f.possible[i], value)
			}
		}
	}
}

func TestEverySectorIsAsAFlushOrALaterWriteLeftIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		root, err := os.MkdirTemp("", "image-*")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(root)
		base, dir := filepath.Join(root, "base"), filepath.Join(root, "data")
		s := newSimple(t, base)
		names := slices.Sorted(maps.Keys(s.files))
		for n := range rapid.IntRange(1, 25).Draw(t, "steps") {
			f := s.files[rapid.SampledFrom(names).Draw(t, "file")]
			if rapid.IntRange(0, 3).Draw(t, "step") == 0 {
				s.sync(f, uint64(rapid.IntRange(1, int(s.record)+1).Draw(t, "before")))
				continue
			}
			first := rapid.IntRange(0, sectors-1).Draw(t, "first")
			count := rapid.IntRange(1, sectors-first).Draw(t, "count")
			s.write(f, first, count, byte(n+1), rapid.IntRange(0, 5).Draw(t, "durable") == 0)
		}
		s.image(t, base, dir, rapid.Uint64().Draw(t, "seed"))
		for name, f := range s.files {
			f.check(t, filepath.Join(dir, name))
		}
	})
}

func (f *simpleFile) check(t *rapid.T, path string) {
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != sectors*sector {
		t.Fatalf("%s has %d bytes", path, len(got))
	}
	for i, values := range f.possible {
		part := got[i*sector : (i+1)*sector]
		if _, may := values[part[0]]; !may || !bytes.Equal(part, bytes.Repeat(part[:1], sector)) {
			t.Fatalf("%s: sector %d is %d…, may be %v", path, i, part[0], slices.Sorted(maps.Keys(values)))
		}
	}
}

// Over many seeds every state that the model allows does occur: an image builder that is too kind is of no use.
func TestEveryStateOccurs(t *testing.T) {
	root := t.TempDir()
	base := filepath.Join(root, "base")
	s := newSimple(t, base)
	f := s.files["f0"]
	s.write(f, 0, 2, 1, false)
	s.sync(f, s.record+1)
	s.write(f, 0, 2, 2, false)
	s.write(f, 0, 2, 3, false)
	other := s.files["f1"] // a flush that began before the last write does not cover it
	s.write(other, 0, 1, 1, true)
	s.write(other, 0, 1, 2, false)
	s.sync(other, s.record)
	seen, seenOther := map[[2]byte]bool{}, map[byte]bool{}
	for seed := range uint64(300) {
		dir := filepath.Join(root, fmt.Sprint(seed))
		s.image(t, base, dir, seed)
		got, err := os.ReadFile(filepath.Join(dir, "f0"))
		if err != nil {
			t.Fatal(err)
		}
		seen[[2]byte{got[0], got[sector]}] = true
		if got, err = os.ReadFile(filepath.Join(dir, "f1")); err != nil {
			t.Fatal(err)
		}
		seenOther[got[0]] = true
	}
	if !seenOther[1] || !seenOther[2] || len(seenOther) != 2 {
		t.Errorf("a write during a flush left %v", seenOther)
	}
	for a := range byte(3) {
		for b := range byte(3) {
			if !seen[[2]byte{a + 1, b + 1}] {
				t.Errorf("the sectors never were %d and %d", a+1, b+1)
			}
		}
	}
}

// Names: what a model of plain maps says of files that are made, renamed and removed, when all of it was flushed, when
// none of it was, and in between.
func TestNamesAreABeginningOfTheirChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newNames()
		now := map[string]bool{}
		states := []map[string]bool{{}} // after each change of names
		least := 0                      // changes that are durable
		for n := range rapid.IntRange(1, 12).Draw(t, "steps") {
			change := s.change(t, n, now)
			if change == nil {
				s.add(storage.Record{Kind: storage.Sync, Ino: 1, Before: s.record + 1})
				least = len(states) - 1
				continue
			}
			now = changed(now, change)
			states = append(states, now)
		}
		got := s.names(t, image.Ordered)
		if !slices.ContainsFunc(states[least:], func(may map[string]bool) bool { return maps.Equal(may, got) }) {
			t.Fatalf("names %v; may be any of %v", got, states[least:])
		}
	})
}

// The same seed makes the same image.
func TestASeedIsRepeatable(t *testing.T) {
	root := t.TempDir()
	base := filepath.Join(root, "base")
	s := newSimple(t, base)
	random := rand.New(rand.NewPCG(1, 1))
	for n := range 20 {
		s.write(s.files[fmt.Sprintf("f%d", n%2)], random.IntN(sectors), 1, byte(n+1), false)
	}
	var first [][]byte
	for again := range 2 {
		dir := filepath.Join(root, fmt.Sprint("d", again))
		s.image(t, base, dir, 7)
		for n := range 2 {
			got, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("f%d", n)))
			if err != nil {
				t.Fatal(err)
			}
			if again == 0 {
				first = append(first, got)
			} else if !bytes.Equal(got, first[n]) {
				t.Errorf("file %d differs", n)
			}
		}
	}
}
