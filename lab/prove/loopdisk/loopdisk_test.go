package loopdisk

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func possible(t *testing.T, limited bool) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if why := Impossible(dir, limited); why != "" {
		t.Skipf("NOT TESTED: cannot be had here, because %s", why)
	}
	return dir
}

func device(t *testing.T, path string) uint64 {
	t.Helper()
	var stat unix.Stat_t
	if err := unix.Stat(path, &stat); err != nil {
		t.Fatal(err)
	}
	return stat.Dev
}

// Each disk is a device of its own, with room of its own; nothing of it is left.
func TestMake_ADeviceThatGoesWithAllOnIt(t *testing.T) {
	dir := possible(t, false)
	for _, system := range []string{"ext4", Another()} {
		if system == "" {
			continue
		}
		d, err := Make(t.Context(), dir, Options{System: system, Bytes: 512 << 20, Files: 100_000})
		if err != nil {
			t.Fatalf("%s: %v", system, err)
		}
		if device(t, d.Dir) == device(t, dir) {
			t.Errorf("%s: it is the device of its folder", system)
		}
		var fs unix.Statfs_t
		if err := unix.Statfs(d.Dir, &fs); err != nil || (system == "ext4" && fs.Files < 100_000) {
			t.Errorf("%s: room for %d files, %v", system, fs.Files, err)
		}
		if err := os.WriteFile(filepath.Join(d.Dir, "file"), []byte("text"), 0o600); err != nil {
			t.Error(err)
		}
		if err := d.Remove(); err != nil {
			t.Errorf("%s: %v", system, err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%s: left behind: %v, %v", system, left, err)
		}
	}
}

// limitOf a device; empty: it has none.
func limitOf(t *testing.T, device string) string {
	t.Helper()
	text, err := os.ReadFile(throttle)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if name, limit, found := strings.Cut(strings.TrimSpace(line), " "); found && name == device {
			return limit
		}
	}
	return ""
}

// A limit is the device's, and goes with the disk.
func TestMake_ALimit(t *testing.T) {
	dir := possible(t, true)
	d, err := Make(t.Context(), dir, Options{Bytes: 64 << 20, WritesPerS: 150})
	if err != nil {
		t.Fatal(err)
	}
	if got := limitOf(t, d.device); got != "150" {
		t.Errorf("limit %q, want 150", got)
	}
	if err := d.Remove(); err != nil {
		t.Fatal(err)
	}
	if got := limitOf(t, d.device); got != "" {
		t.Errorf("limit %q of a disk that is gone", got)
	}
}

// What a killed process left is removed with the next disk; what belongs to one that runs is not.
func TestMake_RemovesWhatWasLeftBehind(t *testing.T) {
	dir := possible(t, false)
	left := filepath.Join(dir, prefix+"1073741824-1.img") // no process has such a number
	if err := os.WriteFile(left, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	mine, err := Make(t.Context(), dir, Options{Bytes: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	other, err := Make(t.Context(), dir, Options{Bytes: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", left, err)
	}
	for _, d := range []*Disk{mine, other} {
		if _, err := os.Stat(d.file); err != nil {
			t.Error(err)
		}
		if err := d.Remove(); err != nil {
			t.Error(err)
		}
	}
}

func TestMake_SaysWhatIsWrong(t *testing.T) {
	dir := possible(t, false)
	if d, err := Make(t.Context(), dir, Options{System: "no-such", Bytes: 16 << 20}); err == nil {
		t.Errorf("made %+v of an unknown file system", d)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
