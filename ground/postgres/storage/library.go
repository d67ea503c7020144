package storage

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"plimsoll/ground/host/dirs"
	"plimsoll/ground/problem"
)

//go:embed shim/shim.c
var source []byte

// compilers, in the order in which they are tried.
var compilers = []string{"cc", "gcc", "clang"}

// packaged is where the Debian package has the library, compiled (engine/lib/deb.sh).
const packaged = "/usr/lib/plimsoll"

// Library returns the path of the compiled library. Without the package's the first call on a machine compiles it; the
// name holds the hash of its source.
func Library(ctx context.Context) (string, error) {
	return libraryIn(ctx, filepath.Join(dirs.Cache(), "shim"), packaged)
}

func libraryIn(ctx context.Context, dir, packaged string) (string, error) {
	sum := sha256.Sum256(source)
	name := "storage-" + hex.EncodeToString(sum[:6]) + ".so"
	if path := filepath.Join(packaged, name); exists(path) {
		return path, nil
	}
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", problem.New(problem.Environment, err, "")
	}
	compiler, err := findCompiler()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", problem.New(problem.Environment, fmt.Errorf("store the storage library: %w", err),
			"PLIMSOLL_CACHE names another folder")
	}
	return path, compile(ctx, compiler, path)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func findCompiler() (string, error) {
	for _, name := range compilers {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", problem.New(problem.Environment,
		errors.New("flushes of a known latency and power cuts need a C compiler, and there is none (cc, gcc, clang)"),
		"install one: apt-get install gcc libc6-dev")
}

// compile writes the library atomically; a concurrent command produces the same file.
func compile(ctx context.Context, compiler, path string) error {
	work, err := os.MkdirTemp(filepath.Dir(path), ".compile-*")
	if err != nil {
		return problem.New(problem.Environment, fmt.Errorf("compile the storage library: %w", err), "")
	}
	defer os.RemoveAll(work)
	text, made := filepath.Join(work, "shim.c"), filepath.Join(work, "shim.so")
	if err := os.WriteFile(text, source, 0o644); err != nil {
		return problem.New(problem.Environment, fmt.Errorf("compile the storage library: %w", err), "")
	}
	cmd := exec.CommandContext(ctx, compiler, "-std=gnu11", "-O2", "-Wall", "-shared", "-fPIC", "-o", made, text,
		"-ldl", "-pthread")
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	if out, err := cmd.CombinedOutput(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return problem.New(problem.Environment,
			fmt.Errorf("compile the storage library with %s: %w: %s", compiler, err, firstLine(string(out))),
			"it needs the headers of glibc: apt-get install libc6-dev")
	}
	if err := os.Chmod(made, 0o755); err != nil { // readable by the server's user, whatever our umask
		return problem.New(problem.Environment, err, "")
	}
	return os.Rename(made, path)
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

// Broken is a fault planted in the library itself, to test that the tests above it notice.
type Broken string

const (
	AllDurable Broken = "all-durable" // treats every write as flushed
	WALNever   Broken = "wal-never"   // does not record flushes of the log
	// FoldersNever does not record flushes of folders, as if the server had forgotten them.
	FoldersNever Broken = "folders-never"
)

// Preload is what the library does in one server.
type Preload struct {
	Data    string        // the data directory; files elsewhere are ignored
	Latency time.Duration // minimum time of a flush
	Journal string        // folder of the journal, writable by the server's user; empty: none
	Broken  Broken
}

// Env is added to the server's environment.
func (p Preload) Env(ctx context.Context) ([]string, error) {
	library, err := Library(ctx)
	if err != nil {
		return nil, err
	}
	env := []string{"LD_PRELOAD=" + library, "PLIMSOLL_SHIM_DATA=" + p.Data,
		"PLIMSOLL_SHIM_FLUSH_NS=" + strconv.FormatInt(p.Latency.Nanoseconds(), 10)}
	if p.Journal != "" {
		env = append(env, "PLIMSOLL_SHIM_JOURNAL="+p.Journal)
	}
	if p.Broken != "" {
		env = append(env, "PLIMSOLL_SHIM_BROKEN="+string(p.Broken))
	}
	return env, nil
}
