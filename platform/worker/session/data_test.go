package session

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func sessions(t testing.TB, o Options) *Sessions {
	t.Helper()
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.End)
	return s
}

func open(t testing.TB, s *Sessions, code string) *Session {
	t.Helper()
	token, err := s.Open(User{Code: code})
	if err != nil {
		t.Fatal(err)
	}
	opened, _ := s.Find(token)
	return opened
}

// files of all workers in dir.
func files(dir string) []string {
	names, _ := filepath.Glob(filepath.Join(dir, "*", "*"+fileSuffix)) // fails on a bad pattern only
	return names
}

// Whatever sessions do, each reads what it wrote itself, memory stays within its bound, and files are those of
// sessions that live.
func TestSessionsKeepWhatTheyWere(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		now := time.Unix(0, 0)
		s, err := New(Options{Dir: dir, Memory: rapid.Int64Range(0, 6000).Draw(t, "memory") + 1, Now: func() time.Time {
			return now
		}})
		if err != nil {
			t.Fatal(err)
		}
		defer s.End()
		model := map[*Session]map[string][]byte{}
		alive := func() []*Session {
			return slices.SortedFunc(maps.Keys(model), func(a, b *Session) int {
				return strings.Compare(a.User.Code, b.User.Code)
			})
		}
		t.Repeat(map[string]func(*rapid.T){
			"open": func(t *rapid.T) {
				token, err := s.Open(User{Code: fmt.Sprintf("%04d", len(model))})
				if err != nil {
					t.Fatal(err)
				}
				opened, _ := s.Find(token)
				model[opened] = map[string][]byte{}
			},
			"set": func(t *rapid.T) {
				if len(model) == 0 {
					t.Skip("nobody")
				}
				session := rapid.SampledFrom(alive()).Draw(t, "session")
				key := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "key")
				value := bytes.Repeat([]byte(session.User.Code), rapid.IntRange(0, 400).Draw(t, "length"))
				switch err := session.Set(key, value); {
				case errors.Is(err, ErrNoRoom): // more than all of the memory: nothing was changed
				case err != nil:
					t.Fatal(err)
				case len(value) == 0:
					delete(model[session], key)
				default:
					model[session][key] = value
				}
			},
			"close": func(t *rapid.T) {
				if len(model) == 0 {
					t.Skip("nobody")
				}
				session := rapid.SampledFrom(alive()).Draw(t, "session")
				s.Close(session)
				delete(model, session)
			},
			"leave alone": func(t *rapid.T) {
				if now = now.Add(IdleDefault / 2); rapid.Bool().Draw(t, "for long") {
					now = now.Add(IdleDefault)
					if got := s.Sweep(); got != len(model) {
						t.Fatalf("swept %d of %d", got, len(model))
					}
					clear(model)
				}
				for session := range model {
					s.Find(session.token)
				}
			},
			"": func(t *rapid.T) {
				f := s.Figures()
				if f.MemoryBytes > f.MemoryMax || f.MemoryBytes < 0 || f.Lost > 0 {
					t.Fatalf("figures %+v", f)
				}
				var onDisk, inMemory int64
				for session := range model {
					if session.data.file != nil {
						onDisk += session.data.file.bytes
					} else {
						inMemory += session.data.size
					}
				}
				var there int64
				for _, name := range files(dir) {
					info, err := os.Stat(name)
					if err != nil {
						t.Fatal(err)
					}
					there += info.Size()
				}
				if f.DiskBytes != onDisk || f.DiskBytes != there || f.MemoryBytes != inMemory {
					t.Fatalf("figures %+v, but sessions have %d in memory and %d on disk, files %d", f, inMemory,
						onDisk, there)
				}
				for session, want := range model {
					for _, key := range []string{"a", "b", "c"} {
						got, found, err := session.Get(key)
						if _, known := want[key]; err != nil || found != known || !bytes.Equal(got, want[key]) {
							t.Fatalf("%s of %s: %q, %v, %v; want %q", key, session.User.Code, got, found, err,
								want[key])
						}
					}
				}
			},
		})
	})
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestSessionsOfManyAtOnce(t *testing.T) {
	dir := t.TempDir()
	s := sessions(t, Options{Dir: dir, Memory: 50_000})
	all := make([]*Session, 40)
	for n := range all {
		all[n] = open(t, s, fmt.Sprint(n))
	}
	var group sync.WaitGroup
	for worker := range 8 {
		group.Add(1)
		go func() {
			defer group.Done()
			rng := rand.New(rand.NewPCG(1, uint64(worker)))
			for range 500 {
				// each key is written by one worker, so it knows what must be there
				session, key := all[rng.IntN(len(all))], fmt.Sprint(worker)
				value := bytes.Repeat([]byte(session.User.Code+","), 1+rng.IntN(300))
				if err := session.Set(key, value); err != nil {
					t.Error(err)
				}
				if got, _, err := session.Get(key); err != nil || !bytes.Equal(got, value) {
					t.Errorf("%q, %v; want %q", got, err, value)
				}
			}
		}()
	}
	group.Wait()
	if f := s.Figures(); f.Spills == 0 || f.Reads == 0 || f.SpillTime == 0 || f.Lost > 0 ||
		f.MemoryBytes > f.MemoryMax {
		t.Errorf("figures %+v, want spills and reads within the limit, and nothing lost", f)
	}
}

func TestDataOfASessionIsBounded(t *testing.T) {
	s := open(t, sessions(t, Options{}), "")
	if err := s.Set("k", make([]byte, DataMax)); !errors.Is(err, ErrDataFull) {
		t.Errorf("too large: %v", err)
	}
	for n := range KeysMax {
		if err := s.Set(fmt.Sprint(n), []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Set("one more", []byte("x")); !errors.Is(err, ErrDataFull) {
		t.Errorf("too many: %v", err)
	}
	if entries, err := s.Entries(); err != nil || len(entries) != KeysMax {
		t.Errorf("%d entries, %v", len(entries), err)
	}
}

// A disk that takes nothing: what fits into memory stays, more is refused, nothing is lost, and with room it goes on.
func TestWithoutADisk(t *testing.T) {
	for name, o := range map[string]Options{"None": {Memory: 10_000}, "Broken": {Memory: 10_000, Dir: t.TempDir()},
		"Full": {Memory: 10_000, Dir: t.TempDir()}} {
		t.Run(name, func(t *testing.T) {
			s := sessions(t, o)
			repair := func() {}
			switch name {
			case "Broken":
				path := s.store.folder.path
				s.store.folder.path = filepath.Join(path, "gone")
				repair = func() { s.store.folder.path = path }
			case "Full":
				s.store.figures.DiskMax = 0
				repair = func() { s.store.figures.DiskMax = 1 << 20 }
			}
			first, second := open(t, s, "first"), open(t, s, "second")
			value := bytes.Repeat([]byte("x"), 8000)
			if err := first.Set("k", value); err != nil {
				t.Fatal(err)
			}
			if err := second.Set("k", value); !errors.Is(err, ErrNoRoom) {
				t.Errorf("got %v", err)
			}
			if got, _, err := first.Get("k"); err != nil || !bytes.Equal(got, value) {
				t.Errorf("what was kept: %d bytes, %v", len(got), err)
			}
			if f := s.Figures(); f.Refused != 1 || f.MemoryBytes > f.MemoryMax || f.DiskBytes != 0 {
				t.Errorf("figures %+v, want one value refused and nothing on disk", f)
			}
			if repair(); name != "None" {
				if err := second.Set("k", value); err != nil {
					t.Errorf("with room again: %v", err)
				}
			}
		})
	}
}

// A file that is not what was written, or is another session's, is lost and nothing worse.
func TestFilesAreNotTrusted(t *testing.T) {
	dir := t.TempDir()
	s := sessions(t, Options{Dir: dir, Memory: 5000})
	victim, other, pushing := open(t, s, "victim"), open(t, s, "other"), open(t, s, "pushing")
	for _, session := range []*Session{victim, other, pushing} {
		if err := session.Set("k", bytes.Repeat([]byte(session.User.Code), 500)); err != nil {
			t.Fatal(err)
		}
	}
	if victim.data.file == nil {
		t.Fatal("nothing was spilled")
	}
	t.Run("AnotherSessions", func(t *testing.T) {
		alien, err := s.store.folder.write("somebody", map[string][]byte{"k": []byte("secret")}, func(int64) bool {
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
		own := victim.data.file.path
		text, _ := os.ReadFile(alien.path)
		if err := os.WriteFile(own, text, 0o600); err != nil {
			t.Fatal(err)
		}
		victim.data.file.sum = alien.sum
		if got, found, err := victim.Get("k"); found || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
		alien.remove()
	})
	t.Run("Changed", func(t *testing.T) {
		for victim.data.file == nil { // it is read and pushed out again
			if err := victim.Set("k", bytes.Repeat([]byte("v"), 3000)); err != nil {
				t.Fatal(err)
			}
			if err := pushing.Set("k", bytes.Repeat([]byte("p"), 3000)); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(victim.data.file.path, []byte("nonsense"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, found, err := victim.Get("k"); found || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
	})
	if f := s.Figures(); f.Lost != 2 {
		t.Errorf("figures %+v, want two lost files", f)
	}
}

// What a killed worker left goes when the next one starts; what lives, or is not ours, stays.
func TestLeftoversAreRemoved(t *testing.T) {
	dir := t.TempDir()
	living := sessions(t, Options{Dir: dir})
	dead := filepath.Join(dir, folderPrefix+"dead")
	foreign := filepath.Join(dir, folderPrefix+"foreign")
	for _, path := range []string{dead, foreign} {
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(path, "1"+fileSuffix), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dead, marker), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	sessions(t, Options{Dir: dir})
	if _, err := os.Stat(dead); !errors.Is(err, os.ErrNotExist) {
		t.Error("the dead worker's folder is still there")
	}
	for _, path := range []string{foreign, living.store.folder.path} {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
}
