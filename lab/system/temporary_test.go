package system_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"plimsoll/ground/postgres/cluster"
	"plimsoll/lab/system"
)

func TestTemporary(t *testing.T) {
	clusters := store(t)
	left, err := clusters.Create(t.Context(), "own", spec()) // by a measurement that was killed
	if err != nil {
		t.Fatal(err)
	}
	mark := filepath.Join(left.Dir(), "mark")
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c, remove, err := system.Temporary(t.Context(), clusters, "own", spec())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(mark); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is the cluster of before: %v", err)
	}
	if _, _, err := system.Temporary(t.Context(), clusters, "own", spec()); err == nil {
		t.Error("a second measurement took it")
	}
	if s := c.Status(t.Context()); s.State != cluster.Stopped {
		t.Errorf("%s", s.State)
	}
	if err := remove(); err != nil {
		t.Fatal(err)
	}
	if names := clusters.Names(); len(names) > 0 {
		t.Errorf("%q stay", names)
	}
}
