package replay

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// FilesIn a folder that this process has open, by whatever name or none, as paths to read them.
func FilesIn(t *testing.T, dir string) (paths []string) {
	t.Helper()
	open, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range open {
		if of, err := os.Readlink(path); err == nil && strings.HasPrefix(of, dir+string(os.PathSeparator)) {
			paths = append(paths, path)
		}
	}
	return paths
}

// Values come back as they were: NULL, nothing, bytes.
func TestOrder_KeepsValues(t *testing.T) {
	o, err := newOrder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = o.remove() }()
	empty, bytes := "", strings.Repeat("é\x00", 200)
	want := []bound{{nil}, {&empty, nil, &bytes}, nil}
	for _, values := range want {
		if err := o.add(statement{Text: "SELECT $1", Values: values}); err != nil {
			t.Fatal(err)
		}
	}
	var got []bound
	if err := o.each(func(s statement) error { got = append(got, s.Values); return nil }); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("values %v came back as %v", want, got)
	}
}

const orderingIn = "PLIMSOLL_TEST_ORDERING_IN"

// What users wrote is found by nobody while a replay lasts, and is gone with its process, also when that is killed.
func TestOrder_AKilledReplayLeavesNothing(t *testing.T) {
	if dir := os.Getenv(orderingIn); dir != "" {
		ordering(t, dir)
	}
	dir := t.TempDir()
	c := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$")
	c.Env = append(os.Environ(), orderingIn+"="+dir)
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	said, err := bufio.NewReader(out).ReadString('\n')
	if !strings.Contains(said, "3 files") {
		t.Errorf("%q, %v: want statements in 3 files", said, err)
	}
	look := func(when string) {
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) > 0 {
			t.Errorf("%s: %v, %v", when, entries, err)
		}
	}
	look("while it lasts")
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err == nil {
		t.Error("it ended by itself")
	}
	look("afterwards")
}

// ordering orders statements, says in how many files they lie, and waits to be killed.
func ordering(t *testing.T, dir string) {
	o, err := newOrder(dir)
	for n := 0; err == nil && n < 3; n++ {
		if err = o.add(statement{Text: "SELECT 'what a user wrote'"}); err == nil {
			err = o.spill()
		}
	}
	fmt.Printf("%d files, %v\n", len(FilesIn(t, dir)), err)
	for { // nothing else runs here: an empty select would be a deadlock
		time.Sleep(time.Hour)
	}
}
