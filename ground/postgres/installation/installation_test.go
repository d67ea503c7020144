package installation_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/postgres/installation"
	"plimsoll/ground/problem"
	"plimsoll/ground/problem/problemtest"
)

func TestMain(m *testing.M) { clustertest.Main(m) }

func TestFind(t *testing.T) {
	t.Run("WhatIsNamedByItsPrefixOrBinFolder", func(t *testing.T) {
		want := clustertest.Start(t).Server()
		for _, path := range []string{want.Prefix, want.BinDir} {
			got, err := installation.Find(t.Context(), path)
			// What the distribution installed is its flavour only when found as such.
			if err != nil || got.BinDir != want.BinDir || got.VersionNum != want.VersionNum ||
				got.Prefix != want.Prefix {
				t.Errorf("%s: got %+v, %v, want %+v", path, got, err, want)
			}
		}
	})
	t.Run("NotAnotherMajorVersion", func(t *testing.T) {
		have := clustertest.Start(t).Server()
		_, err := installation.FindMajor(t.Context(), have.Prefix, have.Major()+1)
		problemtest.Want(t, err, problem.Environment, "is not PostgreSQL")
	})
	t.Run("NoneInstalledSaysHowToGetOne", func(t *testing.T) {
		_, err := installation.FindMajor(t.Context(), installation.System, 99)
		problemtest.Want(t, err, problem.Environment, "no PostgreSQL 99 is installed on this machine",
			"apt-get install", "--engine DIR")
		if strings.Contains(err.Error(), "file does not exist") {
			t.Errorf("%v: which file?", err)
		}
	})
	t.Run("AnUnknownWordIsBadUsage", func(t *testing.T) {
		_, err := installation.Find(t.Context(), "oracle")
		problemtest.Want(t, err, problem.Usage, `"oracle"`)
	})
	t.Run("AnEmptyFolderIsNoEngine", func(t *testing.T) {
		_, err := installation.Find(t.Context(), t.TempDir())
		problemtest.Want(t, err, problem.Environment, "make engine")
	})
	t.Run("NotBuiltYet", func(t *testing.T) {
		t.Setenv("PLIMSOLL_CACHE", t.TempDir())
		_, err := installation.Find(t.Context(), installation.Plimsoll)
		problemtest.Want(t, err, problem.Environment, "engine plimsoll is not built", "make engine")
	})
	t.Run("EachEngineThatIsMissingIsHadByItsOwnCommand", func(t *testing.T) {
		t.Setenv("PLIMSOLL_CACHE", t.TempDir())
		_, err := installation.Find(t.Context(), installation.Vanilla)
		problemtest.Want(t, err, problem.Environment, "engine vanilla is not built", "make engine FLAVOUR=vanilla")
		_, err = installation.Find(t.Context(), installation.Stock)
		problemtest.Want(t, err, problem.Environment, "stock-18", "make engine ENGINE=stock")
	})
	t.Run("StockOfTheMajorVersionThatADataFolderAsksFor", func(t *testing.T) {
		cache := t.TempDir()
		t.Setenv("PLIMSOLL_CACHE", cache)
		have := clustertest.Start(t).Server()
		must(t, os.MkdirAll(filepath.Join(cache, "engine", "current"), 0o755))
		link := fmt.Sprintf("%s-%d", installation.Stock, have.Major())
		must(t, os.Symlink(have.Prefix, filepath.Join(cache, "engine", "current", link)))
		got, err := installation.FindMajor(t.Context(), installation.Stock, have.Major())
		if err != nil || got.Version != have.Version {
			t.Errorf("got %+v, %v", got, err)
		}
	})
	t.Run("WhatThisCheckoutBuiltThoughAnotherBuiltLater", func(t *testing.T) {
		cache := t.TempDir()
		t.Setenv("PLIMSOLL_CACHE", cache)
		have := clustertest.Start(t).Server()
		// The same name as the build's: engine/lib/dirs.sh.
		out, err := exec.Command("bash", "-c", `ENGINE=$(cd ../../../engine && pwd -P) MAJOR=18
			. "$ENGINE/lib/key.sh" && . "$ENGINE/lib/dirs.sh" && set_dirs && echo "$CHECKOUT"`).Output()
		must(t, err)
		own := strings.TrimSpace(string(out))
		newest := filepath.Join(cache, "engine", "current")
		for dir, prefix := range map[string]string{own: have.Prefix, newest: "/another/checkouts"} {
			must(t, os.MkdirAll(dir, 0o755))
			must(t, os.Symlink(prefix, filepath.Join(dir, installation.Plimsoll)))
		}
		got, err := installation.Find(t.Context(), installation.Plimsoll)
		if err != nil || got.BinDir != have.BinDir {
			t.Errorf("got %+v, %v", got, err)
		}
	})
	t.Run("WhatAPackageOfOursInstalled", func(t *testing.T) {
		t.Setenv("PLIMSOLL_CACHE", t.TempDir())
		have := clustertest.Start(t).Server()
		prefix := filepath.Join(t.TempDir(), "18.0")
		must(t, os.MkdirAll(filepath.Join(prefix, "bin"), 0o755))
		must(t, os.Symlink(filepath.Join(have.BinDir, "postgres"), filepath.Join(prefix, "bin", "postgres")))
		must(t, os.WriteFile(filepath.Join(prefix, installation.ManifestFile),
			[]byte(`{"flavour": "plimsoll", "patchset": 7}`), 0o644))
		t.Setenv("PATH", filepath.Join(prefix, "bin")+":"+os.Getenv("PATH"))
		for _, engine := range []string{installation.Plimsoll, ""} {
			got, err := installation.Find(t.Context(), engine)
			if err != nil || got.Prefix != prefix || got.Flavour != installation.Plimsoll || got.Patchset != 7 {
				t.Errorf("%q: got %+v, %v", engine, got, err)
			}
		}
		if got, err := installation.Find(t.Context(), installation.System); err == nil && got.Prefix == prefix {
			t.Errorf("ours passes for the distribution's: %+v", got)
		}
	})
	t.Run("WhereNothingIsNamedTheInstalledServesForTheBuilt", func(t *testing.T) {
		installed, err := installation.Find(t.Context(), installation.System)
		if err != nil {
			t.Skipf("NOT TESTED: %v", err)
		}
		t.Setenv("PLIMSOLL_CACHE", t.TempDir())
		got, err := installation.Find(t.Context(), "")
		if err != nil || got != installed || got.Flavour != installation.System || got.Lost() == "" {
			t.Errorf("got %+v, %v", got, err)
		}
	})
	t.Run("ABrokenBuildIsReportedNotReplaced", func(t *testing.T) {
		cache := t.TempDir()
		t.Setenv("PLIMSOLL_CACHE", cache)
		have := clustertest.Start(t).Server()
		prefix := filepath.Join(cache, "engine", "x")
		must(t, os.MkdirAll(filepath.Join(cache, "engine", "current"), 0o755))
		must(t, os.MkdirAll(prefix, 0o755))
		must(t, os.Symlink(have.BinDir, filepath.Join(prefix, "bin")))
		must(t, os.Symlink(prefix, filepath.Join(cache, "engine", "current", installation.Plimsoll)))
		must(t, os.WriteFile(filepath.Join(prefix, installation.ManifestFile), []byte("{"), 0o644))
		_, err := installation.Find(t.Context(), "")
		problemtest.Want(t, err, problem.Environment, "manifest", "make engine")
	})
}

func TestSettings_OfARealServer(t *testing.T) {
	known, err := clustertest.Start(t).Server().Settings(t.Context())
	must(t, err)
	// trace_sort is in no sample file
	for name, want := range map[string]bool{"work_mem": true, "trace_sort": true, "no_such_setting": false} {
		if got := known.Has(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	for value, want := range map[string]bool{"pglz": true, "off": true, "no_such_method": false} {
		if got := known.Accepts("wal_compression", value); got != want {
			t.Errorf("wal_compression = %s: %v", value, got)
		}
	}
	must(t, known.Err())
}

func TestPatchsetOf_ARealServer(t *testing.T) {
	c := clustertest.Start(t)
	conn, err := pgx.Connect(t.Context(), c.DSN("").Secret())
	must(t, err)
	defer conn.Close(t.Context())
	got := installation.PatchsetOf(conn.PgConn())
	if got.Number != c.Server().Patchset || got.Stock() != (c.Server().Patchset == 0) ||
		!strings.HasPrefix(got.Version, c.Server().Version) {
		t.Errorf("connection says %+v, the installation %+v", got, c.Server())
	}
	if (c.Server().Lost() == "") == got.Stock() {
		t.Errorf("lost %q on %s", c.Server().Lost(), got)
	}
}

func TestProgram_ThatIsMissingIsHadInTheWayOfItsFlavour(t *testing.T) {
	for flavour, want := range map[string]string{
		installation.Plimsoll: "build it again with `make engine`", installation.Vanilla: "build it again",
		installation.Stock: "the registry's package has no pg_basebackup", installation.System: "install the client",
	} {
		s := installation.Server{Flavour: flavour, BinDir: t.TempDir()}
		_, err := s.Program("pg_basebackup")
		problemtest.Want(t, err, problem.Environment, "find pg_basebackup", want)
	}
}

// Our builds have every program that a command of ours runs.
func TestProgram_OfOurBuildsAreAllThere(t *testing.T) {
	s := clustertest.Start(t).Server()
	if s.Flavour != installation.Plimsoll && s.Flavour != installation.Vanilla {
		t.Skipf("NOT TESTED: %s is not ours", s)
	}
	for _, name := range []string{"initdb", "pg_basebackup", "pg_controldata", "pg_dump", "pg_restore",
		"pg_verifybackup", "pg_waldump", "pgbench", "postgres", "psql"} {
		if _, err := s.Program(name); err != nil {
			t.Errorf("%v; hint: %s", err, problem.HintOf(err))
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
