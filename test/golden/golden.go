// Package golden owns files that tests compare text with, and -rewrite, which writes them again.
package golden

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files instead of comparing with them")

// Compare text with a file, from the folder of the test; or write the file.
func Compare(t testing.TB, file, text string) {
	t.Helper()
	if *rewrite {
		write(t, file, text)
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; -rewrite writes it", err)
	}
	if !bytes.Equal(want, []byte(text)) {
		t.Errorf("%s (want -, got +); -rewrite if that is meant:\n%s", file, cmp.Diff(string(want), text))
	}
}

func write(t testing.TB, file, text string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(file), 0o755)
	if err == nil {
		err = os.WriteFile(file, []byte(text), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
