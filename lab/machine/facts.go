// Package machine owns what this machine is: memory and cores that a process
// here may really use (control groups respected), and the disk under a folder.
package machine

// DiskKind says how a disk seeks.
type DiskKind string

const (
	SolidState DiskKind = "ssd"
	Rotational DiskKind = "rotational"
	// UnknownDisk is said where the kernel does not know: virtual disks claim
	// to rotate whatever is behind them, overlays and network have no disk.
	UnknownDisk DiskKind = "unknown"
)

// Facts are an input of the tuned profile, so that it can be tested for
// machines that are not here.
type Facts struct {
	MemoryBytes   int64    `json:"memory_bytes"` // least of RAM and the control groups' limits
	Cores         int      `json:"cores"`        // least of affinity and the control groups' quota, rounded up
	Disk          DiskKind `json:"disk"`
	DiskName      string   `json:"disk_name,omitempty"` // the kernel's: nvme0n1
	DiskFreeBytes int64    `json:"disk_free_bytes"`
	LimitedBy     string   `json:"limited_by,omitempty"` // "cgroup memory, cgroup cpu", where less than the machine has
}
