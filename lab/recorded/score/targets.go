package score

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"plimsoll/lab/recorded/timings"
)

// TargetMost of an operation; none waits longer for an answer.
const TargetMost = 24 * time.Hour

// TargetsOf operations that a file names: a table, or exports of 1C's register of timings, also a folder of them.
func TargetsOf(ctx context.Context, path string) (map[string]time.Duration, error) {
	files, err := timings.Files([]string{path})
	if err != nil {
		return nil, err
	}
	if len(files) > 0 {
		return registerTargets(ctx, files)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read targets: %w", err)
	}
	defer func() { _ = file.Close() }()
	return ReadTargets(file)
}

// ReadTargets reads a table of operations and their targets in seconds, as spreadsheets write it: separated by
// semicolons, tabs or commas, decimals with a point or a comma, with or without a first line of titles.
func ReadTargets(r io.Reader) (map[string]time.Duration, error) {
	targets := map[string]time.Duration{}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\uFEFF"))
		if line == "" {
			continue
		}
		at := strings.LastIndexAny(line, ";\t")
		if at < 0 {
			at = strings.LastIndexByte(line, ',')
		}
		if at < 0 {
			return nil, fmt.Errorf("line %d: %q is no operation and target: write Operation;1.5", n, line)
		}
		name := strings.Trim(strings.TrimSpace(line[:at]), `"`)
		target, err := ParseTarget(strings.Trim(strings.TrimSpace(line[at+1:]), `"`))
		switch {
		case err != nil && n == 1:
			continue // titles
		case err != nil:
			return nil, fmt.Errorf("line %d, %s: %w", n, name, err)
		case targets[name] != 0:
			return nil, fmt.Errorf("line %d: %s has a target already", n, name)
		}
		targets[name] = target
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read targets: %w", err)
	}
	if len(targets) == 0 {
		return nil, errors.New("no targets in it: write one operation a line, as Operation;1.5")
	}
	return targets, nil
}

// ParseTarget reads seconds, or a duration with a unit.
func ParseTarget(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		seconds, err := strconv.ParseFloat(strings.Replace(text, ",", ".", 1), 64)
		if err != nil || math.IsNaN(seconds) || math.Abs(seconds) > TargetMost.Seconds() {
			return 0, fmt.Errorf("%q is no target in seconds", text)
		}
		d = time.Duration(math.Round(seconds*1e6)) * time.Microsecond
	}
	switch {
	case d < time.Millisecond || d > TargetMost:
		return 0, fmt.Errorf("a target of %s is not between 1 ms and %s", text, TargetMost)
	case !threeDigits(d):
		return 0, fmt.Errorf("a target of %s has more than three digits: times are kept with four, 4T must be one",
			text)
	}
	return d, nil
}

// threeDigits says that a target has no more, so that it and four times as much are exact among shortened durations.
func threeDigits(d time.Duration) bool {
	unit := time.Microsecond
	for d/unit >= 1000 {
		unit *= 10
	}
	return d%unit == 0
}
