package machine

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// diskUnder tells what kind of disk is under dir, and its kernel name.
func diskUnder(dir string) (DiskKind, string) {
	var st unix.Stat_t
	if err := unix.Stat(dir, &st); err != nil {
		return UnknownDisk, ""
	}
	return diskKind("/", fmt.Sprintf("%d:%d", unix.Major(st.Dev), unix.Minor(st.Dev)))
}

// diskKind asks sysfs, which knows nothing of file systems without a block device (overlay, tmpfs, network, btrfs).
func diskKind(root, device string) (DiskKind, string) {
	block, err := filepath.EvalSymlinks(filepath.Join(root, "sys/dev/block", device))
	if err != nil {
		return UnknownDisk, ""
	}
	if _, err := os.Stat(filepath.Join(block, "partition")); err == nil {
		block = filepath.Dir(block)
	}
	name := filepath.Base(block)
	switch text, _ := os.ReadFile(filepath.Join(block, "queue/rotational")); strings.TrimSpace(string(text)) {
	case "0":
		return SolidState, name
	case "1":
		if !emulated(root, name) {
			return Rotational, name
		}
	}
	return UnknownDisk, name
}

// emulated disks always claim to rotate: it is the default of the driver (virtio, Xen) or of the hypervisor.
func emulated(root, name string) bool {
	if strings.HasPrefix(name, "vd") || strings.HasPrefix(name, "xvd") {
		return true
	}
	cpu, err := os.ReadFile(filepath.Join(root, "proc/cpuinfo"))
	return err == nil && slices.Contains(strings.Fields(string(cpu)), "hypervisor")
}
