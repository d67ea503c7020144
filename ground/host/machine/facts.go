// Package machine reads what this machine is: the memory and cores that a process may really use (control groups
// respected), and the disk under a folder.
package machine

// DiskKind tells spinning disks from solid-state ones.
type DiskKind string

const (
	SolidState DiskKind = "ssd"
	Rotational DiskKind = "rotational"
	// UnknownDisk: the kernel does not know. Virtual disks always claim to rotate; overlays and network file systems
	// have no disk.
	UnknownDisk DiskKind = "unknown"
)

// Facts are an input of the tuned profile, so that tests can tune for machines they do not run on.
type Facts struct {
	MemoryBytes   int64    `json:"memory_bytes"` // least of RAM and the control groups' limits
	Cores         int      `json:"cores"`        // least of affinity and the control groups' quota, rounded up
	Disk          DiskKind `json:"disk"`
	DiskName      string   `json:"disk_name,omitempty"` // the kernel's: nvme0n1
	DiskFreeBytes int64    `json:"disk_free_bytes"`
	LimitedBy     string   `json:"limited_by,omitempty"` // "cgroup memory, cgroup cpu", if less than the machine has
}
