package machine

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// limits are set by the control groups; 0 means no limit.
type limits struct {
	memoryBytes int64
	cores       float64
}

// self is our own process, as /proc names it.
const self = "self"

// readLimits takes the smallest limit of a process's control group and all groups above it, since each one binds. root
// stands for / so that tests can supply their own files.
func readLimits(root, process string) (limits, error) {
	text, err := os.ReadFile(filepath.Join(root, "proc", process, "cgroup"))
	if os.IsNotExist(err) {
		return limits{}, nil
	}
	if err != nil {
		return limits{}, fmt.Errorf("read control groups: %w", err)
	}
	var l limits
	// A line is ID:CONTROLLERS:PATH; version 2 has no controllers there.
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) == 3 {
			l.readGroup(root, parts[1], parts[2])
		}
	}
	return l, nil
}

const mount = "sys/fs/cgroup"

func (l *limits) readGroup(root, controllers, group string) {
	switch {
	case controllers == "":
		for _, dir := range upwards(filepath.Join(root, mount), group) {
			l.lowerMemory(readNumber(filepath.Join(dir, "memory.max")))
			l.lowerCores(readQuota(dir, "cpu.max"))
		}
	case hasController(controllers, "memory"):
		for _, dir := range upwards(filepath.Join(root, mount, "memory"), group) {
			l.lowerMemory(readNumber(filepath.Join(dir, "memory.limit_in_bytes")))
		}
	case hasController(controllers, "cpu"):
		for _, dir := range upwards(filepath.Join(root, mount, "cpu"), group) {
			quota := readNumber(filepath.Join(dir, "cpu.cfs_quota_us"))
			period := readNumber(filepath.Join(dir, "cpu.cfs_period_us"))
			if quota > 0 && period > 0 {
				l.lowerCores(float64(quota) / float64(period))
			}
		}
	}
}

func hasController(list, name string) bool {
	return strings.Contains(","+list+",", ","+name+",")
}

// upwards lists a group's folder and those above it. In a container the path may be the host's; then only the topmost
// folder, the container's own, exists.
func upwards(top, group string) []string {
	dirs := []string{top}
	for group = path.Clean("/" + group); group != "/"; group = path.Dir(group) {
		dirs = append(dirs, filepath.Join(top, group))
	}
	return dirs
}

func (l *limits) lowerMemory(bytes int64) {
	if bytes > 0 && (l.memoryBytes == 0 || bytes < l.memoryBytes) {
		l.memoryBytes = bytes
	}
}

func (l *limits) lowerCores(cores float64) {
	if cores > 0 && (l.cores == 0 || cores < l.cores) {
		l.cores = cores
	}
}

// readNumber is 0 for "max", for a missing file, and for no limit.
func readNumber(file string) int64 {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// readQuota reads version 2's "QUOTA PERIOD" in microseconds.
func readQuota(dir, file string) float64 {
	text, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		return 0
	}
	var quota, period float64
	if _, err := fmt.Sscan(string(text), &quota, &period); err != nil || period <= 0 {
		return 0 // "max 100000"
	}
	return quota / period
}
