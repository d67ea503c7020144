// Package files writes the files that a test reads.
package files

import (
	"os"
	"path/filepath"
	"testing"
)

// Write writes a file below a folder, with the folders it needs, and returns its path.
func Write(t testing.TB, folder, name, text string) string {
	t.Helper()
	path := filepath.Join(folder, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Tree is a folder of the test's own with these files, each by its path below the folder.
func Tree(t testing.TB, texts map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range texts {
		Write(t, folder, name, text)
	}
	return folder
}
