package machine

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// diskUnder says how the disk under dir seeks, and its kernel name.
func diskUnder(dir string) (DiskKind, string) {
	var st unix.Stat_t
	if err := unix.Stat(dir, &st); err != nil {
		return UnknownDisk, ""
	}
	return diskKind("/", fmt.Sprintf("%d:%d", unix.Major(st.Dev), unix.Minor(st.Dev)))
}

// diskKind asks sysfs. File systems without a block device of their own
// (overlay, tmpfs, network, btrfs) are not to be found there.
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

// emulated disks claim to rotate whatever is behind them: it is the driver's
// default (virtio, Xen), or the hypervisor's.
func emulated(root, name string) bool {
	if strings.HasPrefix(name, "vd") || strings.HasPrefix(name, "xvd") {
		return true
	}
	cpu, err := os.ReadFile(filepath.Join(root, "proc/cpuinfo"))
	return err == nil && slices.Contains(strings.Fields(string(cpu)), "hypervisor")
}
