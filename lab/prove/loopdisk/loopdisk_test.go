package loopdisk

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
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

// A limit is the device's, and goes with the disk.
func TestDisk_ALimit(t *testing.T) {
	dir := possible(t, true)
	d, err := Make(t.Context(), dir, Options{Bytes: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		perS int
		want string
	}{{150, "150"}, {0, ""}, {99, "99"}} {
		if err := d.Limit(c.perS); err != nil {
			t.Fatal(err)
		}
		if got := limitOf(d.device); got != c.want {
			t.Errorf("limit %q, want %q", got, c.want)
		}
	}
	if err := d.Remove(); err != nil {
		t.Fatal(err)
	}
	if got := limitOf(d.device); got != "" {
		t.Errorf("limit %q of a disk that is gone", got)
	}
}

// makerVariable is set for a process that makes a disk in the folder it names, and waits to be killed.
const makerVariable = "PLIMSOLL_TEST_LOOPDISK"

func TestMain(m *testing.M) {
	dir := os.Getenv(makerVariable)
	if dir == "" {
		os.Exit(m.Run())
	}
	d, err := Make(context.Background(), dir, Options{Bytes: 16 << 20})
	if err == nil && os.Getenv(limitVariable) != "" {
		err = d.Limit(150)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(d.device)
	select {}
}

// limitVariable is set where its disk has a limit.
const limitVariable = "PLIMSOLL_TEST_LOOPDISK_LIMIT"

// killedMaker of a disk: it is mounted, and has a limit where one can be had.
func killedMaker(t *testing.T, dir string) (device string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), makerVariable+"="+dir)
	if Impossible(dir, true) == "" {
		cmd.Env = append(cmd.Env, limitVariable+"=1")
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	device, err = bufio.NewReader(out).ReadString('\n')
	if _, _, found := strings.Cut(device, ":"); err != nil || !found {
		t.Fatalf("%q, %v", device, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	return strings.TrimSpace(device)
}

// What a killed process left mounted is removed with the next disk, its limit too; what belongs to one that runs is
// not.
func TestMake_RemovesWhatWasLeftBehind(t *testing.T) {
	dir := possible(t, false)
	mine, err := Make(t.Context(), dir, Options{Bytes: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	device := killedMaker(t, dir)
	left, err := filepath.Glob(filepath.Join(dir, prefix+"*"))
	if err != nil || len(left) != 4 {
		t.Fatalf("%q, %v; want folder and file of two disks", left, err)
	}
	other, err := Make(t.Context(), dir, Options{Bytes: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range left {
		if _, err := os.Stat(path); os.IsNotExist(err) != !strings.HasPrefix(path, mine.Dir) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if limit := limitOf(device); limit != "" {
		t.Errorf("its device keeps a limit of %s for the next one", limit)
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
