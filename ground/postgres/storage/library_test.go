package storage

import (
	"os"
	"path/filepath"
	"testing"

	"plimsoll/ground/problem"
)

func TestLibrary(t *testing.T) {
	if _, err := findCompiler(); err != nil {
		t.Skipf("NOT TESTED: %v", err)
	}
	dir := t.TempDir()
	first, err := libraryIn(t.Context(), dir, "/none")
	if err != nil {
		t.Fatal(err)
	}
	made, err := os.Stat(first)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", "")
	again, err := libraryIn(t.Context(), dir, "/none")
	if kept, _ := os.Stat(again); err != nil || again != first || !kept.ModTime().Equal(made.ModTime()) {
		t.Errorf("%s, %v: it is compiled once, and later needs no compiler", again, err)
	}
	if packaged, err := libraryIn(t.Context(), t.TempDir(), dir); err != nil || packaged != first {
		t.Errorf("%s, %v: a package's is taken without a compiler", packaged, err)
	}
	_, err = libraryIn(t.Context(), t.TempDir(), "/none")
	if problem.ClassOf(err) != problem.Environment || problem.HintOf(err) == "" {
		t.Errorf("%v: want an error that says how to get a compiler", err)
	}
}

func TestACompilerThatFails(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "cc"), []byte("#!/bin/sh\necho 'no headers' >&2\nexit 1\n"),
		0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	cache := t.TempDir()
	_, err := libraryIn(t.Context(), cache, "/none")
	if problem.ClassOf(err) != problem.Environment {
		t.Errorf("%v: want an error of the environment", err)
	}
	if left, _ := os.ReadDir(cache); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}
