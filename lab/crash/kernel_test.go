package crash_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/postgres/cluster/profile"
	"plimsoll/ground/postgres/storage"
	"plimsoll/test/patience"
)

// The journal is what the preloaded library saw. The kernel's own word (strace) is another mechanism: what the server
// wrote and flushed below its data must be the same, file by file.

// traced are the calls that change or flush files.
const traced = "write,pwrite64,writev,pwritev,pwritev2,fsync,fdatasync,sync,syncfs,sync_file_range,truncate," +
	"ftruncate,fallocate,rename,renameat,renameat2,unlink,unlinkat,link,linkat,mkdir,mkdirat,rmdir,copy_file_range," +
	"sendfile,splice,msync,io_uring_enter,io_submit"

// tally says of each file how many bytes were written, and how often it was flushed, by which call; and counts changes
// of sizes and names.
type tally map[string]int64

func (t tally) add(what, path string, n int64) { t[what+" "+path] += n }

func journalTally(records []storage.Record, begin uint64) tally {
	t, names := tally{}, map[uint64]string{}
	for _, r := range records {
		switch r.Kind {
		case storage.Open:
			names[r.Ino] = r.Path
		case storage.Rename:
			for ino, name := range names {
				if name == r.Path {
					names[ino] = r.To
				}
			}
		}
		if r.Number <= begin {
			continue
		}
		switch r.Kind {
		case storage.Write:
			t.add("bytes", names[r.Ino], int64(len(r.Data)))
		case storage.Zero:
			t.add("bytes", names[r.Ino], r.Size)
		case storage.Sync:
			t.add("fsync", names[r.Ino], 1)
		case storage.Datasync:
			t.add("fdatasync", names[r.Ino], 1)
		case storage.Writeback:
			t.add("sync_file_range", names[r.Ino], 1)
		case storage.Truncate:
			t.add("ftruncate", names[r.Ino], 1)
		case storage.Allocate:
			t.add("fallocate", names[r.Ino], 1)
		case storage.Mkdir:
			t.add("folders", r.Path, 1)
		case storage.Rmdir:
			t.add("folders gone", r.Path, 1)
		case storage.Rename:
			t.add("renames", r.To, 1)
		case storage.Unlink:
			t.add("removals", r.Path, 1)
		}
	}
	return t
}

var (
	tracedCall  = regexp.MustCompile(`^(\d+) +(\w+)\((.*)\) += (-?\d+)`)
	tracedFirst = regexp.MustCompile(`^(\d+) +(\w+\(.*?) *<unfinished \.\.\.>$`)
	tracedRest  = regexp.MustCompile(`^(\d+) +<\.\.\. \w+ resumed>(.*)$`)
	tracedFile  = regexp.MustCompile(`^\d+<([^>]*)>`)
	tracedNames = regexp.MustCompile(`"([^"]*)"`)
)

// kernelTally reads what strace wrote.
func kernelTally(t *testing.T, text, data string) tally {
	t.Helper()
	result, begun := tally{}, map[string]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if m := tracedFirst.FindStringSubmatch(line); m != nil {
			begun[m[1]] = m[1] + " " + m[2]
			continue
		}
		if m := tracedRest.FindStringSubmatch(line); m != nil {
			line = begun[m[1]] + m[2]
		}
		if m := tracedCall.FindStringSubmatch(line); m != nil && !strings.HasPrefix(m[4], "-") {
			result.call(t, m[2], m[3], m[4], data)
		}
	}
	return result
}

func (t tally) call(test *testing.T, name, args, returned, data string) {
	test.Helper()
	inside := func(path string) (string, bool) {
		path, _ = strings.CutSuffix(path, "(deleted)")
		if !filepath.IsAbs(path) {
			return path, path != "" // the server works in its data folder
		}
		return strings.CutPrefix(path, data+"/")
	}
	file := ""
	if m := tracedFile.FindStringSubmatch(args); m != nil {
		file = m[1]
	}
	path, ours := inside(file)
	n, _ := strconv.ParseInt(returned, 10, 64)
	names := tracedNames.FindAllStringSubmatch(args, -1)
	switch name {
	case "write", "pwrite64", "writev", "pwritev", "pwritev2":
		if ours {
			t.add("bytes", path, n)
		}
	case "fsync", "fdatasync", "sync_file_range", "ftruncate", "fallocate":
		if file == data {
			path, ours = "", true
		}
		if ours {
			t.add(name, path, 1)
		}
	case "rename", "renameat", "renameat2":
		if to, ours := inside(names[len(names)-1][1]); ours {
			t.add("renames", to, 1)
		}
	case "unlink", "unlinkat":
		if gone, ours := inside(names[0][1]); ours {
			what := "removals"
			if strings.Contains(args, "AT_REMOVEDIR") {
				what = "folders gone"
			}
			t.add(what, gone, 1)
		}
	case "mkdir", "mkdirat":
		if made, ours := inside(names[len(names)-1][1]); ours {
			t.add("folders", made, 1)
		}
	case "rmdir":
		if gone, ours := inside(names[0][1]); ours {
			t.add("folders gone", gone, 1)
		}
	default:
		if ours {
			test.Errorf("the journal knows no %s(%s)", name, args)
		}
	}
}

// trace the server and all that it starts, until it has ended; what strace saw is in the file.
func trace(t *testing.T, p *cluster.Postmaster, file string) (end func()) {
	t.Helper()
	args := []string{"-f", "-y", "-s", "0", "-e", "trace=" + traced, "-e", "signal=none", "-o", file}
	all := family(t, p.PID())
	for _, pid := range all {
		args = append(args, "-p", strconv.Itoa(pid))
	}
	cmd := exec.CommandContext(t.Context(), "strace", args...)
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Skipf("NOT TESTED: strace: %v", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	patience.Until(t, "the server is traced", func() bool {
		select {
		case err := <-ended:
			t.Skipf("NOT TESTED: strace may not look at processes here: %v: %s", err, said.String())
		default:
		}
		return !slices.ContainsFunc(all, untraced)
	})
	return func() {
		if err := <-ended; err != nil {
			t.Errorf("strace: %v: %s", err, said.String())
		}
	}
}

// family of a process: itself and its children.
func family(t *testing.T, pid int) []int {
	t.Helper()
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		t.Skipf("NOT TESTED: this kernel does not list children: %v", err)
	}
	all := []int{pid}
	for child := range strings.FieldsSeq(string(children)) {
		if n, err := strconv.Atoi(child); err == nil {
			all = append(all, n)
		}
	}
	return all
}

func untraced(pid int) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	return err == nil && strings.Contains(string(status), "TracerPid:\t0\n")
}

const tracedLoad = `CREATE TABLE t (id int PRIMARY KEY, note text);
	INSERT INTO t SELECT n, repeat('x', 500) FROM generate_series(1, 3000) n; SELECT pg_switch_wal(); CHECKPOINT;
	UPDATE t SET note = 'y' WHERE id % 7 = 0; CREATE TEMP TABLE s AS SELECT * FROM t; DROP TABLE t; CREATE DATABASE d;
	CHECKPOINT`

// loggedLoad flushes the log, and little else.
const loggedLoad = "CREATE TABLE t (id int); INSERT INTO t VALUES (1)"

// journalAndKernel are what both saw of a load and of an orderly stop.
func journalAndKernel(t *testing.T, load string, broken storage.Broken) (journal, kernel tally) {
	t.Helper()
	for _, program := range []string{"cc", "strace"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("NOT TESTED: the journal against the kernel: %v", err)
		}
	}
	spec := clustertest.Copied(clustertest.Spec())
	spec.Unsafe = false
	for name, value := range map[string]string{"autovacuum": "off", "bgwriter_lru_maxpages": "0"} {
		spec.Settings = append(spec.Settings, profile.Setting{Name: name, Value: value})
	}
	c, err := cluster.Open(clustertest.State(t)).Create(t.Context(), "traced", spec)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := c.JournalDir()
	if err != nil {
		t.Fatal(err)
	}
	p, err := c.Start(t.Context(), cluster.StartOptions{Journal: dir, Broken: broken})
	if err != nil {
		t.Fatal(err)
	}
	stopped := false
	defer func() {
		if !stopped {
			_ = p.Kill(t.Context())
		}
	}()
	conn, err := pgx.Connect(t.Context(), c.SocketDSN("").Secret())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), "CHECKPOINT"); err != nil { // nothing is left to write
		t.Fatal(err)
	}
	state, err := storage.OpenState(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer state.Close()
	file := filepath.Join(t.TempDir(), "calls")
	ended := trace(t, p, file)
	begin := state.Last()
	for sql := range strings.SplitSeq(load, ";") {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	stopped = true
	if err := p.Stop(t.Context(), cluster.Fast); err != nil {
		t.Fatal(err)
	}
	ended()
	if err := state.Err(); err != nil {
		t.Fatal(err)
	}
	records, err := storage.ReadJournal(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer records.Close()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return journalTally(records.Records, begin), kernelTally(t, string(text), c.DataDir())
}

func TestTheJournalSaysWhatTheKernelSays(t *testing.T) {
	journal, kernel := journalAndKernel(t, tracedLoad, "")
	t.Logf("%d figures of files", len(kernel))
	flushed := func(name string) bool { return strings.HasPrefix(name, "fdatasync pg_wal/") }
	if len(kernel) < 50 || !slices.ContainsFunc(slices.Collect(maps.Keys(kernel)), flushed) {
		t.Fatalf("strace saw no load: %v", kernel)
	}
	if diff := cmp.Diff(kernel, journal); diff != "" {
		t.Errorf("kernel -, journal +:\n%s", diff)
	}
}

// The control: a library that does not see flushes of the log.
func TestTheJournalSaysWhatTheKernelSays_IsNoticedOtherwise(t *testing.T) {
	journal, kernel := journalAndKernel(t, loggedLoad, storage.WALNever)
	if cmp.Equal(kernel, journal) {
		t.Error("flushes of the log were overlooked, and the kernel's word is the same")
	}
}
