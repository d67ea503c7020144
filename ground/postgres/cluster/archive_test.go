package cluster

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"plimsoll/ground/postgres/installation"
	"plimsoll/ground/problem"
)

// The program sync of this test only prints what it is asked to flush.
func TestArchiveCommand_CountsASegmentOnceItsNameIsFlushed(t *testing.T) {
	data, archive, bin := t.TempDir(), filepath.Join(t.TempDir(), "it's 100%"), t.TempDir()
	write := func(path, text string, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(archive, 0o755); err != nil {
		t.Fatal(err)
	}
	flushed := filepath.Join(bin, "flushed")
	write(filepath.Join(bin, "sync"), "#!/bin/sh\necho \"$@\" >> '"+flushed+"'\n", 0o755)
	run := func() (output string, err error) {
		t.Helper()
		os.Remove(flushed)
		text := strings.NewReplacer("%%", "%", "%f", "0001", "%p", "segment").Replace(archiveCommand(archive))
		cmd := exec.CommandContext(t.Context(), "sh", "-c", text)
		cmd.Dir, cmd.Env = data, append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
		err = cmd.Run()
		all, _ := os.ReadFile(flushed)
		return strings.Join(strings.Fields(string(all)), " "), err
	}
	write(filepath.Join(data, "segment"), "log", 0o600)
	if said, err := run(); err != nil || said != ".0001 ." {
		t.Errorf("flushed %q, %v", said, err)
	}
	// The command before was killed between its rename and the flush of the folder.
	if said, err := run(); err != nil || said != "." {
		t.Errorf("of a segment that is there flushed %q, %v", said, err)
	}
	write(filepath.Join(data, "segment"), "other log", 0o600)
	if _, err := run(); err == nil {
		t.Error("another segment of the same name counts as archived")
	}
	if text, err := os.ReadFile(filepath.Join(archive, "0001")); err != nil || string(text) != "log" {
		t.Errorf("the archive has %q, %v", text, err)
	}
}

func TestArchive_IsOfAClusterThatArchives(t *testing.T) {
	of := func(log LogKept, primary string) marker {
		return marker{replication: replication{Log: log, Archive: "a", ReplicaOf: primary}}
	}
	for name, c := range map[string]struct {
		marker marker
		want   string
	}{
		"Archives": {of(ArchiveLog, ""), "a"}, "ArchivedOnce": {of(ReplicaLog, ""), ""},
		"AStandby": {of(ArchiveLog, "b"), ""},
	} {
		if got := (&Cluster{marker: c.marker}).Base().Archive; got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	// Segments of one folder follow each other.
	if !of(ArchiveLog, "").newArchive(of(ReplicaLog, "")) || of(ArchiveLog, "").newArchive(of(ArchiveLog, "")) ||
		of(ReplicaLog, "").newArchive(of(ArchiveLog, "")) {
		t.Error("a new archive begins where the log was not archived before")
	}
}

func TestReplica_TakesNoOtherStandbysSlot(t *testing.T) {
	s := Open(t.TempDir())
	if err := os.MkdirAll(s.path("a-b"), 0o755); err != nil {
		t.Fatal(err)
	}
	other := marker{Format: markerFormat, Name: "a-b", replication: replication{ReplicaOf: "p"}}
	if err := other.write(s.path("a-b")); err != nil {
		t.Fatal(err)
	}
	primary := &Cluster{store: s, dir: s.path("p"), marker: marker{Name: "p"}}
	err := s.fillReplica(t.Context(), s.path(".a__b~1"), installation.Server{}, nil, Spec{ReplicaOf: primary},
		marker{}, nil)
	if problem.ClassOf(err) != problem.Usage || !strings.Contains(err.Error(), "a-b has the slot") {
		t.Errorf("error %v, want a usage error that a-b has the slot", err)
	}
}

// The umask belongs to the whole process: tests that run in parallel must not change it.
func TestMakeDirs_LetTheServersUserPassWhateverTheUmask(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root: others' servers pass through root's folders")
	}
	parent := filepath.Join(t.TempDir(), "state")
	child := filepath.Join(parent, "backups")
	before := syscall.Umask(0o077)
	err := makeDirs(parent, child)
	syscall.Umask(before)
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{parent, child} {
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o755 {
			t.Errorf("%s: %v, %v", dir, info, err)
		}
	}
}

func TestMinimalLog_IsRefusedBesideStandbys(t *testing.T) {
	s := Open(t.TempDir())
	for name, m := range map[string]marker{"p": {}, "r": {replication: replication{ReplicaOf: "p", Log: ReplicaLog}}} {
		if err := os.MkdirAll(s.path(name), 0o755); err != nil {
			t.Fatal(err)
		}
		m.Format, m.Name = markerFormat, name
		if err := m.write(s.path(name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"p", "r"} {
		c, err := s.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.applySpec(t.Context(), c, Spec{Log: MinimalLog}); problem.ClassOf(err) != problem.Usage {
			t.Errorf("%s: %v", name, err)
		}
	}
}
