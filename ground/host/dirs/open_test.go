package dirs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Another user may put anything in the place of each element of the path.
func TestOpenIn_FollowsNoLinkOnTheWay(t *testing.T) {
	const name, secret = "a/b/file", "root's own"
	for swapped, elements := range map[string][]string{
		"link":      {"a", "a/b", name},
		"hard link": {name},
		"pipe":      {name, "a/b"},
		"folder":    {name},
		"file":      {"a", "a/b"},
	} {
		for _, element := range elements {
			t.Run(swapped+" at "+element, func(t *testing.T) {
				all := t.TempDir()
				dir, victim := filepath.Join(all, "dir"), filepath.Join(all, "victim")
				for _, root := range []string{dir, victim} {
					check(t, os.MkdirAll(filepath.Join(root, "a/b"), 0o700))
					check(t, os.WriteFile(filepath.Join(root, name), []byte(secret), 0o600))
				}
				if text, err := ReadIn(dir, name, 1000); err != nil || string(text) != secret {
					t.Fatalf("%q, %v", text, err)
				}
				at := filepath.Join(dir, element)
				check(t, os.RemoveAll(at))
				switch swapped {
				case "link":
					check(t, os.Symlink(filepath.Join(victim, element), at))
				case "hard link":
					check(t, os.Link(filepath.Join(victim, element), at))
				case "pipe":
					check(t, syscall.Mkfifo(at, 0o600))
				case "folder":
					check(t, os.Mkdir(at, 0o700))
				case "file":
					check(t, os.WriteFile(at, nil, 0o600))
				}
				if f, err := OpenIn(dir, name, os.O_RDONLY); !errors.Is(err, ErrForeign) {
					t.Errorf("opened %v, error %v: want it refused as foreign", f, err)
				}
				if f, err := OpenIn(dir, name, os.O_WRONLY|os.O_APPEND); err == nil {
					t.Errorf("%v is open for writing", f.Name())
				}
			})
		}
	}
}

func TestOpenIn_StaysBelowTheFolder(t *testing.T) {
	all := t.TempDir()
	dir := filepath.Join(all, "dir")
	check(t, os.Mkdir(dir, 0o700))
	check(t, os.WriteFile(filepath.Join(all, "outside"), nil, 0o600))
	for _, name := range []string{"../outside", filepath.Join(all, "outside"), "", "."} {
		if f, err := OpenIn(dir, name, os.O_RDONLY); !errors.Is(err, ErrForeign) {
			t.Errorf("%q: %v, %v", name, f, err)
		}
	}
	if _, err := OpenIn(dir, "missing/file", os.O_RDONLY); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing folder: %v", err)
	}
}
