package machine

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// Read reads the machine's facts, as our own process may use it; the disk is the one under dir.
func Read(dir string) (Facts, error) { return read(self, dir) }

// ReadOf reads the facts as another process may use the machine: its control group may be another one than ours.
func ReadOf(pid int, dir string) (Facts, error) {
	process := strconv.Itoa(pid)
	if _, err := os.Stat(filepath.Join("/proc", process, "cgroup")); err != nil {
		return Facts{}, fmt.Errorf("read the control group of process %d: %w", pid, err)
	}
	return read(process, dir)
}

func read(process, dir string) (Facts, error) {
	memory, err := installedMemory("/proc/meminfo")
	if err != nil {
		return Facts{}, err
	}
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return Facts{}, fmt.Errorf("inspect the disk under %s: %w", dir, err)
	}
	f := Facts{
		MemoryBytes: memory,
		Cores:       runtime.NumCPU(), // the affinity mask, not the hardware
		// Free space for an ordinary user.
		DiskFreeBytes: int64(fs.Bavail) * int64(fs.Bsize),
	}
	f.Disk, f.DiskName = diskUnder(dir)
	limits, err := readLimits("/", process)
	if err != nil {
		return Facts{}, err
	}
	return f.limited(limits), nil
}

// limited applies the limits of the control groups.
func (f Facts) limited(l limits) Facts {
	var limiters []string
	if l.memoryBytes > 0 && l.memoryBytes < f.MemoryBytes {
		f.MemoryBytes, limiters = l.memoryBytes, append(limiters, "cgroup memory")
	}
	// Half a core still runs one process at a time.
	if cores := int(l.cores + 0.999); l.cores > 0 && cores < f.Cores {
		f.Cores, limiters = max(1, cores), append(limiters, "cgroup cpu")
	}
	f.LimitedBy = strings.Join(limiters, ", ")
	return f
}

// installedMemory is MemTotal of proc_meminfo(5), given in KiB.
func installedMemory(path string) (int64, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, fmt.Errorf("read memory size: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) >= 2 && fields[0] == "MemTotal:" {
			kib, err := strconv.ParseInt(fields[1], 10, 64)
			if err != nil {
				return 0, fmt.Errorf("read memory size: %w", err)
			}
			return kib << 10, nil
		}
	}
	return 0, fmt.Errorf("read memory size: no MemTotal in %s", path)
}
