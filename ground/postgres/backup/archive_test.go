package backup

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/ground/host/lock"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/problem"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// PostgreSQL takes a status above 125 for an error, and any other but 0 for the end of the log.
func TestRestoreCommand_TellsTheEndOfTheLogFromAnError(t *testing.T) {
	const errorFrom = 126
	dir := filepath.Join(t.TempDir(), "it's 100%")
	must(t, os.Mkdir(dir, 0o755))
	must(t, os.WriteFile(filepath.Join(dir, "there"), []byte("log"), 0o600))
	run := func(dir, file, to string) int {
		text := strings.NewReplacer("%%", "%", "%f", file, "%p", to).Replace(restoreCommand(dir))
		err := exec.CommandContext(t.Context(), "sh", "-c", text).Run()
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return exit.ExitCode()
		}
		must(t, err)
		return 0
	}
	to := filepath.Join(t.TempDir(), "segment")
	if got := run(dir, "there", to); got != 0 {
		t.Errorf("a segment that is there: %d", got)
	}
	if got := run(dir, "missing", to); got != 1 {
		t.Errorf("the end of the log: %d", got)
	}
	if got := run(dir, "there", filepath.Join(to, "below a file")); got < errorFrom {
		t.Errorf("a segment that cannot be copied: %d", got)
	}
	if got := run(dir+".gone", "there", to); got < errorFrom {
		t.Errorf("an archive that is gone: %d", got)
	}
}

// pruned is a store with an archive of three segments and a backup that begins in the middle one.
type pruned struct {
	*Store
	t *testing.T
}

const (
	archived = "a-1"
	first    = "a-20260101-000000"
	second   = "a-20260102-000000"
)

func newPruned(t *testing.T) pruned {
	s := pruned{Open(cluster.Open(t.TempDir())), t}
	s.clusters.LockWait = 0
	must(t, os.MkdirAll(s.clusters.ArchiveDir(archived), 0o755))
	for _, name := range []string{"000000010000000000000002", "000000010000000000000003", "000000010000000000000004"} {
		must(t, os.WriteFile(filepath.Join(s.clusters.ArchiveDir(archived), name), nil, 0o600))
	}
	s.put(first, "0/3000028")
	return s
}

func (s pruned) put(id, start string) {
	s.t.Helper()
	must(s.t, os.MkdirAll(s.path(id), 0o755))
	must(s.t, writeRecord(s.path(id), Record{Format: format, ID: id, Base: cluster.Base{Archive: archived},
		StartLSN: start}))
}

func (s pruned) want(what string, segments int) {
	s.t.Helper()
	entries, err := os.ReadDir(s.clusters.ArchiveDir(archived))
	if err != nil && segments > 0 || len(entries) != segments {
		s.t.Errorf("%s: %d segments are left, want %d; %v", what, len(entries), segments, err)
	}
}

func TestRemove_LeavesTheLogThatOthersNeed(t *testing.T) {
	t.Run("OfAnotherBackup", func(t *testing.T) {
		s := newPruned(t)
		s.put(second, "0/4000028")
		must(t, s.Remove(t.Context(), first))
		s.want("the other begins with the last", 1)
		must(t, s.Remove(t.Context(), second))
		s.want("there is no other", 0)
	})
	t.Run("OfABackupThatIsBeingTaken", func(t *testing.T) {
		s := newPruned(t)
		dir := filepath.Join(s.dir(), growing+"1")
		must(t, os.Mkdir(dir, 0o755))
		held, err := lock.Acquire(t.Context(), filepath.Join(dir, lockName), "backup", 0)
		must(t, err)
		must(t, s.Remove(t.Context(), first))
		s.want("the new one may need them", 3)
		must(t, held.Release())
	})
	t.Run("OfABackupThatCannotBeRead", func(t *testing.T) {
		s := newPruned(t)
		s.put(second, "0/3000028")
		must(t, os.WriteFile(filepath.Join(s.path(second), recordFile), []byte("{"), 0o600))
		must(t, s.Remove(t.Context(), first))
		s.want("nobody knows what it needs", 3)
	})
	t.Run("NotWhileItIsRestored", func(t *testing.T) {
		s := newPruned(t)
		held, err := s.lockBackup(t.Context(), first, "restore")
		must(t, err)
		if err := s.Remove(t.Context(), first); problem.ClassOf(err) != problem.Environment ||
			!strings.Contains(err.Error(), "in use by restore") {
			t.Errorf("error %v, want one that the restore holds the backup", err)
		}
		must(t, held.Release())
		must(t, s.Remove(t.Context(), first))
	})
}

func TestForget_LeavesAnArchiveThatABackupNeeds(t *testing.T) {
	s := newPruned(t)
	must(t, s.Forget(archived))
	s.want("the backup needs it", 3)
	for _, name := range []string{"", ".", "..", "x/../" + archived} {
		must(t, s.Forget(name))
	}
	must(t, os.RemoveAll(s.path(first)))
	must(t, s.Forget(archived))
	s.want("nobody needs it", 0)
	if _, err := os.Stat(filepath.Dir(s.clusters.ArchiveDir(archived))); err != nil {
		t.Errorf("the folder of all archives: %v", err)
	}
}

func TestRestore_SaysThatTheArchiveIsGone(t *testing.T) {
	s := newPruned(t)
	problems := ""
	s.clusters.Say = func(message string) { problems += message }
	r, err := s.Find(first)
	must(t, err)
	if got := s.withoutLostArchive(r); got.Archive != archived || problems != "" {
		t.Errorf("%q, %s", got.Archive, problems)
	}
	must(t, os.RemoveAll(s.clusters.ArchiveDir(archived)))
	if got := s.withoutLostArchive(r); got.Archive != "" || !strings.Contains(problems, "archive of backup "+first) {
		t.Errorf("%q, %s", got.Archive, problems)
	}
}

func TestHoleIn_IsTheFirstSegmentMissingBehindTheBackup(t *testing.T) {
	s := newPruned(t) // 2, 3 and 4
	put := func(name string) {
		must(t, os.WriteFile(filepath.Join(s.clusters.ArchiveDir(archived), name), nil, 0o600))
	}
	problems := ""
	s.clusters.Say = func(message string) { problems += message }
	r := Record{Base: cluster.Base{Archive: archived}, EndLSN: "0/3000100"}
	put("000000010000000000000003.00000028.backup")
	if s.warnMissingSegment(r); problems != "" {
		t.Errorf("there is no hole: %s", problems)
	}
	put("0000000100000001000000FF")
	put("000000010000000000000005")
	if s.warnMissingSegment(r); !strings.Contains(problems, "segment 0000000000000006 is missing") {
		t.Errorf("want that segment 6 is missing, got %q", problems)
	}
	r.EndLSN = "1/FE000000"
	if entries, _ := os.ReadDir(s.clusters.ArchiveDir(archived)); r.missingSegment(entries) != "00000001000000FE" {
		t.Errorf("want segment FE, got %q", r.missingSegment(entries))
	}
}

// The server's user owns the folder of the data.
func TestReadManifest_FollowsNoLink(t *testing.T) {
	data, other := t.TempDir(), t.TempDir()
	file := filepath.Join(data, "backup_manifest")
	must(t, os.WriteFile(file, []byte(`{"WAL-Ranges": [{"Timeline": 1}]}`), 0o600))
	if m, err := readManifest(data); err != nil || m.Ranges[0].Timeline != 1 {
		t.Errorf("%+v, %v", m, err)
	}
	must(t, os.Symlink(file, filepath.Join(other, "backup_manifest")))
	if _, err := readManifest(other); err == nil {
		t.Error("a link was followed")
	}
}

func TestMoments_AreNoneOrTwoWhereClocksArePutForwardOrBack(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skipf("NOT TESTED: %v", err)
	}
	for text, want := range map[string]int{"2026-03-29 02:30": 0, "2026-10-25 02:30": 2, "2026-10-25 03:30": 1,
		"2026-07-01 12:00": 1} {
		clock, err := time.Parse("2006-01-02 15:04", text)
		must(t, err)
		all := moments(clock, zone)
		if len(all) != want {
			t.Errorf("%s: %v, want %d", text, all, want)
		}
		for _, one := range all {
			if got := one.Format("2006-01-02 15:04"); got != text {
				t.Errorf("%s is %s there", text, got)
			}
		}
	}
}
