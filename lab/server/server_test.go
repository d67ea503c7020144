package server_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"plimsoll/lab/cluster/clustertest"
	"plimsoll/lab/server"
	"plimsoll/platform/problem"
)

func TestMain(m *testing.M) { clustertest.Main(m) }

func TestFind(t *testing.T) {
	t.Run("WhatIsNamedByItsPrefixOrBinFolder", func(t *testing.T) {
		want := clustertest.Start(t).Server()
		for _, path := range []string{want.Prefix, want.BinDir} {
			got, err := server.Find(t.Context(), path)
			// What the distribution installed is its flavour only when found as such.
			if err != nil || got.BinDir != want.BinDir || got.VersionNum != want.VersionNum || got.Prefix != want.Prefix {
				t.Errorf("%s: got %+v, %v, want %+v", path, got, err, want)
			}
		}
	})
	t.Run("NotAnotherMajorVersion", func(t *testing.T) {
		have := clustertest.Start(t).Server()
		_, err := server.FindMajor(t.Context(), have.Prefix, have.Major()+1)
		wantProblem(t, err, problem.Environment, "is not PostgreSQL")
	})
	t.Run("AnUnknownWordIsBadUsage", func(t *testing.T) {
		_, err := server.Find(t.Context(), "oracle")
		wantProblem(t, err, problem.Usage, `"oracle"`)
	})
	t.Run("AnEmptyFolderIsNoEngine", func(t *testing.T) {
		_, err := server.Find(t.Context(), t.TempDir())
		wantProblem(t, err, problem.Environment, "make engine")
	})
	t.Run("NotBuiltYet", func(t *testing.T) {
		t.Setenv("PLIMSOLL_CACHE", t.TempDir())
		_, err := server.Find(t.Context(), server.Plimsoll)
		wantProblem(t, err, problem.Environment, "built engine plimsoll", "make engine")
	})
	t.Run("WhereNothingIsNamedTheInstalledServesForTheBuilt", func(t *testing.T) {
		installed, err := server.Find(t.Context(), server.System)
		if err != nil {
			t.Skipf("NOT TESTED: %v", err)
		}
		t.Setenv("PLIMSOLL_CACHE", t.TempDir())
		got, err := server.Find(t.Context(), "")
		if err != nil || got != installed || got.Flavour != server.System || got.Lost() == "" {
			t.Errorf("got %+v, %v", got, err)
		}
	})
	t.Run("ABrokenBuildIsSaidNotReplaced", func(t *testing.T) {
		cache := t.TempDir()
		t.Setenv("PLIMSOLL_CACHE", cache)
		have := clustertest.Start(t).Server()
		prefix := filepath.Join(cache, "engine", "x")
		must(t, os.MkdirAll(filepath.Join(cache, "engine", "current"), 0o755))
		must(t, os.MkdirAll(prefix, 0o755))
		must(t, os.Symlink(have.BinDir, filepath.Join(prefix, "bin")))
		must(t, os.Symlink(prefix, filepath.Join(cache, "engine", "current", server.Plimsoll)))
		must(t, os.WriteFile(filepath.Join(prefix, server.ManifestFile), []byte("{"), 0o644))
		_, err := server.Find(t.Context(), "")
		wantProblem(t, err, problem.Environment, "manifest", "make engine")
	})
}

func TestSettings_OfARealServer(t *testing.T) {
	known, err := clustertest.Start(t).Server().Settings(t.Context())
	must(t, err)
	for name, want := range map[string]bool{"work_mem": true, "trace_sort": true, "no_such_setting": false} { // trace_sort is in no sample file
		if got := known.Has(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	must(t, known.Err())
}

func TestCheckPatchset_OfARealServer(t *testing.T) {
	c := clustertest.Start(t)
	conn, err := pgx.Connect(t.Context(), c.DSN("").Secret())
	must(t, err)
	defer conn.Close(t.Context())
	got := server.PatchsetOf(conn.PgConn())
	if got.Number != c.Server().Patchset || got.Stock() != (c.Server().Patchset == 0) || !strings.HasPrefix(got.Version, c.Server().Version) {
		t.Errorf("connection says %+v, the installation %+v", got, c.Server())
	}
	if (c.Server().Lost() == "") == got.Stock() {
		t.Errorf("lost %q on %s", c.Server().Lost(), got)
	}
	must(t, server.CheckPatchset(conn.PgConn(), got.Number))
	err = server.CheckPatchset(conn.PgConn(), got.Number+1)
	wantProblem(t, err, problem.Environment, "needs patchset", "plimsoll up --flavour plimsoll")
	if got.Stock() && !strings.Contains(err.Error(), "stock server") {
		t.Error(err)
	}
}

func wantProblem(t *testing.T, err error, class problem.Class, parts ...string) {
	t.Helper()
	if err == nil || problem.ClassOf(err) != class || problem.HintOf(err) == "" {
		t.Fatalf("class %v, hint %q of %v", problem.ClassOf(err), problem.HintOf(err), err)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error()+problem.HintOf(err), part) {
			t.Errorf("%v (%s) lacks %q", err, problem.HintOf(err), part)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
