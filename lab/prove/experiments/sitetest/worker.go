package sitetest

import (
	"os"
	"testing"

	"plimsoll/erp/fill"
	"plimsoll/erp/fill/filltest"
)

// Program is this test binary as plimsoll, with the flags of a worker that is asked for nothing else.
func Program(t *testing.T) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PLIMSOLL_STATE", t.TempDir())
	return []string{self, "serve", "--listen", "127.0.0.1:0", "--jobs", "0", "--json"}
}

func FilledDatabase(t *testing.T) string {
	t.Helper()
	return filltest.Copy(t, "small", fill.Options{Items: 100, Counterparties: 50, Documents: 300})
}
