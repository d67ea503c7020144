package clustertest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"plimsoll/ground/postgres/installation"
)

// Lacking is an engine that can be had built with and without lz4.
type Lacking struct {
	Engine string // the folder of the installation
	flag   string
}

// lackingScript stands for the server's program.
const lackingScript = `#!/bin/sh
if [ -e '%s' ]; then
	for given; do
		if [ "$given" = wal_compression=lz4 ]; then
			echo 'FATAL:  invalid value for parameter "wal_compression": "lz4"' >&2
			exit 1
		fi
	done
fi
exec '%s' "$@"
`

// WithoutLZ4 makes an installation of the tests' engine that has lz4 until Lose.
func WithoutLZ4(t testing.TB) *Lacking {
	t.Helper()
	srv, err := installation.Find(context.Background(), Engine())
	if err == nil {
		var knows *installation.Settings
		if knows, err = srv.Settings(t.Context()); err == nil && !knows.Accepts("wal_compression", "lz4") {
			t.Skipf("NOT TESTED: %s has no lz4", srv)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	dir := State(t)
	l := &Lacking{Engine: filepath.Join(dir, "engine"), flag: filepath.Join(dir, "no-lz4")}
	bin := filepath.Join(l.Engine, "bin")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.MkdirAll(bin, 0o755))
	programs, err := os.ReadDir(srv.BinDir)
	must(err)
	for _, p := range programs {
		if name := p.Name(); name != "postgres" {
			must(os.Symlink(filepath.Join(srv.BinDir, name), filepath.Join(bin, name)))
		}
	}
	script := fmt.Sprintf(lackingScript, l.flag, filepath.Join(srv.BinDir, "postgres"))
	// A child of another test that is started meanwhile has the file open, too, until it becomes its program; whoever
	// runs the script then is told "text file busy".
	syscall.ForkLock.RLock()
	err = os.WriteFile(filepath.Join(bin, "postgres"), []byte(script), 0o755)
	syscall.ForkLock.RUnlock()
	must(err)
	return l
}

// Lose lz4, as by another build in the same place.
func (l *Lacking) Lose(t testing.TB) {
	t.Helper()
	l.rebuilt(t, os.WriteFile(l.flag, nil, 0o644))
}

// Regain it.
func (l *Lacking) Regain(t testing.TB) {
	t.Helper()
	l.rebuilt(t, os.Remove(l.flag))
}

// rebuilt is the server's program: a build gives it a new time of change.
func (l *Lacking) rebuilt(t testing.TB, err error) {
	t.Helper()
	if err == nil {
		now := time.Now()
		err = os.Chtimes(filepath.Join(l.Engine, "bin", "postgres"), now, now)
	}
	if err != nil {
		t.Fatal(err)
	}
}
