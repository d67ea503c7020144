package kept

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/ground/problem"
)

func TestOpen_GoesOnWhereAnotherEnded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kept")
	open := func(conditions string) (*File, int) {
		t.Helper()
		k, results, err := Open(t.Context(), path, "test", conditions)
		if err != nil {
			t.Fatal(err)
		}
		return k, len(results)
	}
	k, n := open("a")
	if err := errors.Join(k.Add(1), k.Add(2), k.Close()); err != nil || n != 0 {
		t.Fatal(n, err)
	}
	text, _ := os.ReadFile(path)
	if err := os.WriteFile(path, append(text, `{"half`...), 0o600); err != nil {
		t.Fatal(err)
	}
	if k, n = open("a"); n != 2 {
		t.Errorf("%d results", n)
	}
	if _, _, err := Open(t.Context(), path, "test", "a"); err == nil {
		t.Error("two had it at the same time")
	}
	if err := errors.Join(k.Add(3), k.Close()); err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(path); string(text) != "\"a\"\n1\n2\n3\n" {
		t.Errorf("want settings and three results, got %q", text)
	}
	if _, _, err := Open(t.Context(), path, "test", "b"); err == nil || problem.ClassOf(err) != problem.Usage ||
		!strings.Contains(err.Error(), "recorded with other settings") {
		t.Errorf("error %v, want a usage error about the other settings", err)
	}
	if left, _ := filepath.Glob(path + "*"); len(left) != 1 {
		t.Errorf("left: %s", left)
	}
}

func TestFile_NilKeepsNothing(t *testing.T) {
	var k *File
	if err := errors.Join(k.Add(1), k.Close()); err != nil {
		t.Error(err)
	}
}
