package cluster_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/clustertest"
)

// tree is what a folder holds, by name.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		info, err := d.Info()
		if err != nil {
			return err
		}
		all[name] = info.Mode().String()
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(path)
			all[name] += string(text)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// What was done to the data since the last time is undone, also where neither name, size nor time of a file tell.
func TestRewind_UndoesEverything(t *testing.T) {
	c, err := cluster.Open(clustertest.State(t)).Create(t.Context(), "rewound", clustertest.Copied(clustertest.Spec()))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.KeepData(t.Context()); err != nil {
		t.Fatal(err)
	}
	at := func(data, name string) string { return filepath.Join(data, name) }
	// with the old size and time
	secretly := func(data, name string) error {
		info, err := os.Stat(at(data, name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(at(data, name), make([]byte, info.Size()), 0o600); err != nil {
			return err
		}
		return os.Chtimes(at(data, name), info.ModTime(), info.ModTime())
	}
	ways := map[string]func(data string) error{
		"nothing":    func(string) error { return nil },
		"changed":    func(data string) error { return secretly(data, "base/1/1259") },
		"named over": func(data string) error { return os.Rename(at(data, "base/1/1249"), at(data, "base/1/1259")) },
		"removed":    func(data string) error { return os.RemoveAll(at(data, "base/1")) },
		"added":      func(data string) error { return os.MkdirAll(at(data, "base/7/8"), 0o700) },
		"a file for a folder": func(data string) error {
			if err := os.RemoveAll(at(data, "pg_xact")); err != nil {
				return err
			}
			return os.WriteFile(at(data, "pg_xact"), nil, 0o600)
		},
		"a link": func(data string) error {
			if err := os.Remove(at(data, "PG_VERSION")); err != nil {
				return err
			}
			return os.Symlink("/etc/hostname", at(data, "PG_VERSION"))
		},
		"no rights": func(data string) error { return os.Chmod(at(data, "base/1/1255"), 0o400) },
	}
	want := tree(t, c.KeptData())
	for name, change := range ways {
		for _, do := range []func(string) error{change, ways["nothing"]} {
			if err := c.Rewind(t.Context(), do); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if diff := cmp.Diff(want, tree(t, c.DataDir())); diff != "" {
			t.Errorf("%s was not undone (%d bytes of difference)", name, len(diff))
		}
	}
}

// What a failed change did is undone by the next one.
func TestRewind_AfterAFailedChange(t *testing.T) {
	c, err := cluster.Open(clustertest.State(t)).Create(t.Context(), "rewound", clustertest.Copied(clustertest.Spec()))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.KeepData(t.Context()); err != nil {
		t.Fatal(err)
	}
	fail := func(data string) error {
		if err := os.Remove(filepath.Join(data, "PG_VERSION")); err != nil {
			return err
		}
		return fs.ErrInvalid
	}
	if err := c.Rewind(t.Context(), fail); err == nil {
		t.Fatal("the error of a change is lost")
	}
	if err := c.Rewind(t.Context(), func(string) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if _, there := tree(t, c.DataDir())["PG_VERSION"]; !there {
		t.Error("what a failed change removed is not there again")
	}
}

// A copy that was killed in the middle is no copy, and goes with the next one; an older copy is replaced.
func TestKeepData_AfterAKilledOne(t *testing.T) {
	c, err := cluster.Open(clustertest.State(t)).Create(t.Context(), "kept", clustertest.Copied(clustertest.Spec()))
	if err != nil {
		t.Fatal(err)
	}
	for _, left := range []string{c.KeptData(), c.KeptData() + ".partial"} {
		if err := os.MkdirAll(filepath.Join(left, "base"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.KeepData(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(tree(t, c.DataDir()), tree(t, c.KeptData())); diff != "" {
		t.Errorf("the copy differs by %d bytes of text", len(diff))
	}
	if _, err := os.Stat(c.KeptData() + ".partial"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a part of a copy is left: %v", err)
	}
}
