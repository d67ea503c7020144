// Package disk reads what the disks of this machine did. What cannot be read is an error, never zero.
package disk

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Work is what a disk did since the machine started.
type Work struct {
	Reads, Writes         int64
	ReadTime, WriteTime   time.Duration // of all transfers, also of those side by side
	Busy                  time.Duration // in which at least one transfer was under way
	Queue                 time.Duration // transfers under way, summed over time
	Flushes               int64         // 0 where the kernel does not count them
	FlushTime             time.Duration
	BytesRead, BytesWrite int64
}

// sectorBytes is the unit of /proc/diskstats, whatever the disk's own.
const sectorBytes = 512

// Read all disks that have done something, without partitions and loop devices.
func Read() (map[string]Work, error) { return readAt("/") }

func readAt(root string) (map[string]Work, error) {
	text, err := os.ReadFile(filepath.Join(root, "proc/diskstats"))
	if err != nil {
		return nil, fmt.Errorf("read the disks: %w", err)
	}
	all := map[string]Work{}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) < 14 || skipped(root, fields[2]) {
			continue
		}
		w, err := work(fields[3:])
		if err != nil {
			return nil, fmt.Errorf("read the disk %s: %w", fields[2], err)
		}
		if w.Reads+w.Writes > 0 {
			all[fields[2]] = w
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("read the disks: none is visible here")
	}
	return all, nil
}

// skipped are partitions, whose disk counts the same, and devices without a disk of their own.
func skipped(root, name string) bool {
	if strings.HasPrefix(name, "loop") || strings.HasPrefix(name, "ram") {
		return true
	}
	_, err := os.Stat(filepath.Join(root, "sys/class/block", name, "partition"))
	return err == nil
}

// work reads the fields of Documentation/admin-guide/iostats, from the first on.
func work(fields []string) (w Work, err error) {
	numbers := make([]int64, 17)
	for i := range min(len(numbers), len(fields)) {
		if numbers[i], err = strconv.ParseInt(fields[i], 10, 64); err != nil {
			return w, err
		}
	}
	ms := func(i int) time.Duration { return time.Duration(numbers[i]) * time.Millisecond }
	return Work{
		Reads: numbers[0], BytesRead: numbers[2] * sectorBytes, ReadTime: ms(3),
		Writes: numbers[4], BytesWrite: numbers[6] * sectorBytes, WriteTime: ms(7),
		Busy: ms(9), Queue: ms(10), Flushes: numbers[15], FlushTime: ms(16),
	}, nil
}

// Since is the work between two readings.
func (w Work) Since(before Work) Work {
	return Work{
		w.Reads - before.Reads, w.Writes - before.Writes, w.ReadTime - before.ReadTime, w.WriteTime - before.WriteTime,
		w.Busy - before.Busy, w.Queue - before.Queue, w.Flushes - before.Flushes, w.FlushTime - before.FlushTime,
		w.BytesRead - before.BytesRead, w.BytesWrite - before.BytesWrite,
	}
}
