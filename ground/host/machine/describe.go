package machine

import (
	"os"
	"strconv"
	"strings"
)

// Machine is the part of a measurement's conditions that belongs to the hardware and the kernel.
type Machine struct {
	OS     string `json:"os"`
	Kernel string `json:"kernel"`
	CPU    string `json:"cpu"` // model
	Facts
}

// Describe reads this machine; the disk is the one under dir.
func Describe(dir string) (Machine, error) {
	facts, err := Read(dir)
	return Machine{
		OS:     valueIn("/etc/os-release", "PRETTY_NAME=", "\""),
		Kernel: valueIn("/proc/sys/kernel/osrelease", "", ""),
		CPU:    valueIn("/proc/cpuinfo", "model name", ": \t"),
		Facts:  facts,
	}, err
}

// valueIn is the text after prefix in the first line that begins with it, with the characters of cut trimmed off; empty
// if there is no such line.
func valueIn(file, prefix, cut string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if rest, found := strings.CutPrefix(line, prefix); found {
			return strings.Trim(strings.TrimSpace(rest), cut)
		}
	}
	return ""
}

// Available is the memory that can be taken without swapping, by the kernel's estimate; 0: it gives none.
func Available() int64 {
	kib, _ := strconv.ParseInt(valueIn("/proc/meminfo", "MemAvailable:", " kB"), 10, 64)
	return kib << 10
}

// Boot is the kernel's id of this boot. Containers of one machine share it, as they share its cores. Empty if the
// kernel does not report one.
func Boot() string { return valueIn("/proc/sys/kernel/random/boot_id", "", "") }
