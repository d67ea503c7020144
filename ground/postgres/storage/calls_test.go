package storage

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Every call of the C library that changes or flushes a file is in the journal, under each of its names: a program that
// was built for large files calls pwrite64 where another calls pwrite.

// seen is what the journal must have of a call, behind the files that the program opens first. A text of beyond alone
// means that the journal cannot tell it, and says so.
var seen = map[string][]string{
	"open": {"create new"}, "open64": {"create new"}, "openat": {"create new"}, "openat64": {"create new"},
	"openat-folder": {"create sub/new"}, "open-upwards": {"create new"},
	"open-from-below": {"create new"}, "fchdir": {"create sub/new"},
	"open-truncate": {"empty old"}, "creat": {"create new"}, "creat64": {"create new"},
	"__open_2": {"empty old"}, "__open64_2": {"empty old"}, "__openat_2": {"empty old"}, "__openat64_2": {"empty old"},
	"mkstemp": {"create made"}, "mkstemp64": {"create made"}, "mkostemp": {"create made"},
	"mkostemp64": {"create made"},
	"mkstemps":   {"create made"}, "mkstemps64": {"create made"}, "mkostemps": {"create made"},
	"mkostemps64": {"create made"}, "mkdtemp": {"mkdir fold"},
	"fopen":        {"create new", "write new 0+5"},
	"fopen64":      {"create new", "write new 0+5"},
	"freopen":      {"create new", "write new 0+5"},
	"freopen64":    {"create new", "write new 0+5"},
	"fdopen":       {"create new", "write new 0+5"},
	"stream-fsync": {"create new", "write new 0+5", "fsync new"},
	"stream-exit":  {"create new", "write new 0+5"},
	"dup":          {"write old 0+5"}, "dup2": {"write old 0+5"}, "dup3": {"write old 0+5"},
	"fcntl": {"write old 0+5"}, "fcntl64": {"write old 0+5"}, "inherited": {"write old 0+5"},

	"write": {"write old 0+5"}, "writev": {"write old 0+5"}, "pwrite": {"write old 100+5"},
	"pwrite64": {"write old 100+5"}, "pwritev": {"write old 100+5"}, "pwritev64": {"write old 100+5"},
	"pwritev2": {"write old 100+5"}, "pwritev64v2": {"write old 100+5"}, "pwritev2-here": {"write old 7+5"},
	"pwritev2-dsync": {"write old 100+5 durable"}, "pwritev2-sync": {"write old 100+5 durable whole"},
	"pwritev2-append": {"write old 8192+5"}, "pwrite-append": {"write old 8192+5"},
	"write-dsync": {"write old 0+5 durable"}, "write-sync": {"write old 0+5 durable whole"},
	"lseek64": {"write old 100+5"}, "dprintf": {"write old 0+5"}, "vdprintf": {"write old 0+5"},
	"__dprintf_chk": {"write old 0+5"}, "sendfile": {"write old 0+5"}, "sendfile64": {"write old 0+5"},
	"copy_file_range": {"write old 0+5"}, "splice": {"write old 0+5"}, "ioctl-clone": {"write old 0+5"},
	"aio_write": {"beyond"}, "aio_write64": {"beyond"}, "mmap": {"beyond"}, "mmap64": {"beyond"}, "mmap-private": {},

	"ftruncate": {"size old 100"}, "ftruncate64": {"size old 100"}, "truncate": {"size old 100"},
	"truncate64": {"size old 100"}, "posix_fallocate": {"allocate old 8192+8192"},
	"posix_fallocate64": {"allocate old 8192+8192"}, "fallocate": {"allocate old 8192+8192"},
	"fallocate64": {"allocate old 8192+8192"}, "fallocate-keep-size": {"allocate old 0+0"},
	"fallocate-punch": {"zero old 4096+4096"}, "fallocate-zero": {"zero old 4096+8192"},
	"fallocate-collapse": {"size old 4096", "write old 0+4096"},

	"fsync": {"fsync old"}, "fdatasync": {"fdatasync old"}, "fsync-folder": {"fsync "},
	"sync_file_range": {"writeback old"}, "syncfs": {"sync"}, "sync": {"sync"}, "aio_fsync": {"beyond"},

	"rename": {"rename old new"}, "renameat": {"rename old sub/new"}, "renameat2": {"rename old new"},
	"renameat2-exchange": {"beyond"}, "rename-out": {"beyond"}, "rename-in": {"beyond"}, "rename-folder": {"beyond"},
	"link": {"link old new"}, "linkat": {"link old sub/new"}, "link-in": {"beyond"}, "unnamed": {"beyond"},
	"symlink": {"beyond"}, "symlinkat": {"beyond"}, "unlink": {"unlink old"}, "unlinkat": {"unlink old"},
	"unlinkat-folder": {"rmdir sub"}, "remove": {"unlink old"}, "remove-folder": {"rmdir sub"},
	"mkdir": {"mkdir new"}, "mkdirat": {"mkdir sub/new"}, "rmdir": {"rmdir sub"},
}

// unsupported is the program's exit code if the file system here has no such call.
const unsupported = 77

func TestEveryCallIsInTheJournal(t *testing.T) {
	program := compiled(t)
	source, err := os.ReadFile("testdata/calls.c")
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range regexp.MustCompile(`CALL\("([^"]+)"\)`).FindAllStringSubmatch(string(source), -1) {
		call := found[1]
		want, known := seen[call]
		if !known {
			if call != unflushedRename {
				t.Errorf("%s is called, and nothing is expected of it", call)
			}
			continue
		}
		t.Run(call, func(t *testing.T) {
			records, err := called(t, program, t.TempDir(), call)
			if slices.Equal(want, []string{"beyond"}) {
				if err == nil {
					t.Errorf("the journal takes itself for complete: %q", told(records))
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, told(records)); diff != "" {
				t.Errorf("want -, journal +:\n%s", diff)
			}
		})
	}
}

const unflushedRename = "renamed-unflushed"

// compiled is the program that makes the calls.
func compiled(t *testing.T) string {
	t.Helper()
	compiler, err := findCompiler()
	if err != nil {
		t.Skipf("NOT TESTED: %v", err)
	}
	program := filepath.Join(t.TempDir(), "calls")
	out, err := exec.CommandContext(t.Context(), compiler, "-std=gnu11", "-Wall", "-o", program, "testdata/calls.c",
		"-lrt", "-pthread").CombinedOutput()
	if err != nil {
		t.Fatalf("compile the calls: %v: %s", err, out)
	}
	return program
}

// called makes a call with a journal, in the folder data below dir, and gives what is written there.
func called(t *testing.T, program, dir, call string) (records []Record, err error) {
	t.Helper()
	data, journal := filepath.Join(dir, "data"), filepath.Join(dir, "journal")
	err = errors.Join(os.MkdirAll(filepath.Join(data, "sub"), 0o700), os.Mkdir(journal, 0o700),
		os.WriteFile(filepath.Join(data, "old"), []byte(strings.Repeat("o", 8192)), 0o600),
		os.WriteFile(filepath.Join(data, "other"), []byte("hello"), 0o600),
		os.WriteFile(filepath.Join(dir, "outside"), []byte("hello"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	env, err := Preload{Data: data, Journal: journal}.Env(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, call)
	cmd.Dir, cmd.Env = data, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() == unsupported {
		t.Skipf("NOT TESTED: not on this file system: %s", out)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	state, err := OpenState(journal)
	if err != nil {
		t.Fatal(err)
	}
	defer state.Close()
	if err := state.Err(); err != nil {
		return nil, err
	}
	return slices.Clone(readAll(t, journal)), nil
}

func readAll(t *testing.T, dir string) []Record {
	t.Helper()
	j, err := ReadJournal(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j.Records
}

// told is what records say, without the opens of what is there and stays as it is.
func told(records []Record) []string {
	texts, names := []string{}, map[uint64]string{}
	random := regexp.MustCompile(`^(made|fold).{6}(\.x)?$`)
	for _, r := range records {
		name := random.ReplaceAllString(r.Path, "$1")
		if r.Kind == Open {
			names[r.Ino] = name
		}
		if text := tell(r, name, names[r.Ino]); text != "" {
			texts = append(texts, text)
		}
	}
	return texts
}

func tell(r Record, path, name string) string {
	flags := ""
	if r.Flags&Durable != 0 {
		flags = " durable"
	}
	if r.Flags&Whole != 0 {
		flags += " whole"
	}
	switch r.Kind {
	case Open:
		switch {
		case r.Flags&Created != 0:
			return "create " + path
		case r.Flags&Emptied != 0:
			return "empty " + path
		}
		return ""
	case Write:
		return fmt.Sprintf("write %s %d+%d%s", name, r.Offset, r.Size, flags)
	case Zero:
		return fmt.Sprintf("zero %s %d+%d%s", name, r.Offset, r.Size, flags)
	case Truncate:
		return fmt.Sprintf("size %s %d", name, r.Size)
	case Allocate:
		return fmt.Sprintf("allocate %s %d+%d", name, r.Offset, r.Size)
	case Sync:
		return "fsync " + name
	case Datasync:
		return "fdatasync " + name
	case Writeback:
		return "writeback " + name
	case SyncAll:
		return "sync"
	case Rename:
		return "rename " + path + " " + r.To
	case Link:
		return "link " + path + " " + r.To
	case Unlink:
		return "unlink " + path
	case Mkdir:
		return "mkdir " + path
	case Rmdir:
		return "rmdir " + path
	}
	return ""
}
