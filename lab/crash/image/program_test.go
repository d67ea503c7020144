package image_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"plimsoll/ground/postgres/storage"
	"plimsoll/lab/crash/image"
)

// A program that gives a file its name and does not flush the folder; then it flushes the data of another file, which
// keeps no name on ext4 and XFS. A harness that loses nothing here cannot show a missing flush of a folder.
func TestAProgramThatForgetsToFlushAFolderIsNoticed(t *testing.T) {
	all := t.TempDir()
	program, base, data := filepath.Join(all, "calls"), filepath.Join(all, "base"), filepath.Join(all, "data")
	journal := filepath.Join(all, "journal")
	compile := exec.CommandContext(t.Context(), "cc", "-o", program,
		"../../../ground/postgres/storage/testdata/calls.c", "-lrt", "-pthread")
	if out, err := compile.CombinedOutput(); errors.Is(err, exec.ErrNotFound) {
		t.Skipf("NOT TESTED: no C compiler: %v", err)
	} else if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	err := errors.Join(os.MkdirAll(filepath.Join(base, "sub"), 0o700), os.Mkdir(journal, 0o700),
		os.WriteFile(filepath.Join(base, "old"), make([]byte, 8192), 0o600),
		os.WriteFile(filepath.Join(base, "other"), nil, 0o600), os.CopyFS(data, os.DirFS(base)))
	if err != nil {
		t.Fatal(err)
	}
	env, err := storage.Preload{Data: data, Journal: journal}.Env(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "renamed-unflushed")
	cmd.Dir, cmd.Env = data, append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	written, err := storage.ReadJournal(journal)
	if err != nil {
		t.Fatal(err)
	}
	defer written.Close()
	for _, model := range image.Models {
		lost := 0
		for seed := range uint64(cuts) {
			dir := filepath.Join(t.TempDir(), "cut")
			if err := os.CopyFS(dir, os.DirFS(base)); err != nil {
				t.Fatal(err)
			}
			cut := image.Cut{At: uint64(len(written.Records)), Seed: seed, Model: model}
			if _, err := image.Build(base, dir, written.Records, cut); err != nil {
				t.Fatal(err)
			}
			if text, err := os.ReadFile(filepath.Join(dir, "name")); err != nil {
				lost++
			} else if string(text) != "hello" {
				t.Errorf("it has the content %q, which was flushed before", text)
			}
		}
		t.Logf("%s: the name is lost in %d of %d cuts", model, lost, cuts)
		if !often(lost) {
			t.Errorf("%s: the name is lost in %d of %d cuts, about half is expected", model, lost, cuts)
		}
	}
}
