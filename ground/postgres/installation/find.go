package installation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"

	"plimsoll/ground/problem"
)

const hintMissing = "install PostgreSQL 15-18 (Debian: apt-get install postgresql), name a prefix with --engine DIR, " +
	"build ours in a checkout of Plimsoll: make engine, or install its package plimsoll-postgresql-18"

// hintToGet says how to get one of the engines that the make targets provide.
func hintToGet(flavour string) string {
	switch flavour {
	case Plimsoll:
		return hintMissing
	case Vanilla:
		return "build it with `make engine FLAVOUR=vanilla`; `make demo` builds only the flavour that it runs"
	}
	return "fetch PostgreSQL 18 with `make engine ENGINE=stock`, another version with `engine/build stock 16`"
}

// Find resolves the name of an engine: plimsoll, vanilla, stock, system or the folder of a prefix. Empty means our
// build, in a cache or as a package, or if it is missing the newest installed PostgreSQL; Lost says what that costs.
func Find(ctx context.Context, engine string) (Server, error) { return FindMajor(ctx, engine, 0) }

// FindMajor is Find for one major version, as an existing data folder needs; 0 is any.
func FindMajor(ctx context.Context, engine string, major int) (Server, error) {
	switch {
	case engine == Plimsoll || engine == Vanilla:
		return built(ctx, engine, major)
	case engine == Stock:
		return built(ctx, fmt.Sprintf("%s-%d", Stock, cmp.Or(major, MajorMax)), major)
	case engine == System:
		return installed(ctx, major)
	case engine == "":
		s, err := built(ctx, Plimsoll, major)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return s, err
		}
		return installed(ctx, major)
	case strings.ContainsRune(engine, os.PathSeparator):
		return named(ctx, engine, major)
	}
	return Server{}, problem.New(problem.Usage, fmt.Errorf("unknown engine %q", engine),
		"plimsoll, vanilla, stock, system, or the folder of a PostgreSQL prefix")
}

func built(ctx context.Context, flavour string, major int) (Server, error) {
	// A link moves with the next build; a cluster remembers the folder that it leads to.
	var prefix string
	var err error
	for _, dir := range links() {
		if prefix, err = filepath.EvalSymlinks(filepath.Join(dir, flavour)); err == nil {
			break
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		if s, found := packaged(ctx, flavour, major); found {
			return s, nil
		}
		return Server{}, problem.New(problem.Environment, notBuilt(flavour), hintToGet(flavour))
	}
	if err != nil {
		return Server{}, problem.New(problem.Environment, fmt.Errorf("find the engine %s: %w", flavour, err), "")
	}
	return named(ctx, prefix, major)
}

// packaged is our build as a package of the distribution's kind installed it (make engine-deb): its prefix has a
// manifest, too.
func packaged(ctx context.Context, flavour string, major int) (Server, bool) {
	for _, bin := range installedBins(ctx) {
		if s, err := Describe(ctx, bin); err == nil && s.Flavour == flavour && (major == 0 || s.Major() == major) {
			return s, true
		}
	}
	return Server{}, false
}

// notBuilt is the flavour that is missing.
type notBuilt string

func (n notBuilt) Error() string { return fmt.Sprintf("the engine %s is not built", string(n)) }

func (notBuilt) Unwrap() error { return fs.ErrNotExist }

func named(ctx context.Context, prefix string, major int) (Server, error) {
	s, err := Describe(ctx, prefix)
	if err == nil && major != 0 && s.Major() != major {
		err = problem.New(problem.Environment, fmt.Errorf("%s is not PostgreSQL %d", s, major), hintMissing)
	}
	return s, err
}

// Describe describes the PostgreSQL in a prefix or its bin folder.
func Describe(ctx context.Context, prefix string) (Server, error) {
	prefix, err := filepath.Abs(prefix)
	if err != nil {
		return Server{}, fmt.Errorf("find engine: %w", err)
	}
	bin := filepath.Join(prefix, "bin")
	if _, err := os.Stat(filepath.Join(prefix, "postgres")); err == nil {
		prefix, bin = filepath.Dir(prefix), prefix
	}
	version, err := versionOf(ctx, filepath.Join(bin, "postgres"))
	if err != nil {
		return Server{}, err
	}
	s := Server{Flavour: Custom, Version: version, VersionNum: number(version), BinDir: bin, Prefix: prefix}
	if s.Major() < MajorMin || s.Major() > MajorMax {
		return Server{}, problem.New(problem.Environment,
			fmt.Errorf("%s: PostgreSQL %d to %d are supported", s, MajorMin, MajorMax), hintMissing)
	}
	m, ours, err := readManifest(prefix)
	if err != nil {
		return Server{}, problem.New(problem.Environment, err, "build the engine again: make engine")
	}
	if ours {
		s.Flavour, s.Patchset = m.Flavour, m.Patchset
	}
	return s, nil
}

var versionText = regexp.MustCompile(`\(PostgreSQL\) (\d+(?:\.\d+|devel|(?:alpha|beta|rc)\d+))`)

func versionOf(ctx context.Context, postgres string) (string, error) {
	out, _, err := runProgram(ctx, postgres, "--version")
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return "", problem.New(problem.Environment, fmt.Errorf("read the version of %s: %w", postgres, err),
			hintMissing)
	}
	found := versionText.FindStringSubmatch(out)
	if found == nil {
		return "", problem.New(problem.Environment,
			fmt.Errorf("%s says %q, which is not a PostgreSQL version", postgres, strings.TrimSpace(out)),
			hintMissing)
	}
	return found[1], nil
}

var versionParts = regexp.MustCompile(`^(\d+)(?:\.(\d+))?`)

// number is server_version_num; a development version counts as minor version 0.
func number(version string) int {
	parts := versionParts.FindStringSubmatch(version)
	if parts == nil {
		return 0
	}
	major, _ := strconv.Atoi(parts[1])
	minor, _ := strconv.Atoi(parts[2])
	return major*10000 + minor
}

// Where distributions install PostgreSQL's major versions: Debian and Ubuntu, PGDG's RPMs, and upstream's default.
var installedPatterns = []string{"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/local/pgsql/bin"}

// installed is the newest supported server of the distribution.
func installed(ctx context.Context, major int) (Server, error) {
	var found []Server
	bins := installedBins(ctx)
	slices.Sort(bins)
	for _, bin := range slices.Compact(bins) {
		s, err := Describe(ctx, bin)
		// Ours may lie beside the distribution's, where a package put it.
		if err != nil || major != 0 && s.Major() != major || s.Flavour == Plimsoll {
			continue
		}
		if s.Flavour == Custom {
			s.Flavour = System
		}
		found = append(found, s)
	}
	if err := ctx.Err(); err != nil {
		return Server{}, err
	}
	if len(found) == 0 {
		return Server{}, problem.New(problem.Environment,
			notInstalled(wanted(major)), hintMissing)
	}
	sort.SliceStable(found, func(i, j int) bool { return found[i].VersionNum > found[j].VersionNum })
	return found[0], nil
}

// notInstalled are the versions of which none is installed.
type notInstalled string

func (n notInstalled) Error() string {
	return fmt.Sprintf("no PostgreSQL %s is installed on this machine", string(n))
}

func (notInstalled) Unwrap() error { return fs.ErrNotExist }

func wanted(major int) string {
	if major == 0 {
		return fmt.Sprintf("%d-%d", MajorMin, MajorMax)
	}
	return strconv.Itoa(major)
}

func installedBins(ctx context.Context) []string {
	var bins []string
	for _, pattern := range installedPatterns {
		found, _ := filepath.Glob(pattern) // the patterns are constants, so no error
		bins = append(bins, found...)
	}
	if out, err := exec.CommandContext(ctx, "pg_config", "--bindir").Output(); err == nil {
		bins = append(bins, strings.TrimSpace(string(out)))
	}
	if postgres, err := exec.LookPath("postgres"); err == nil {
		bins = append(bins, filepath.Dir(postgres))
	}
	return bins
}
