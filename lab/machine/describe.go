package machine

import (
	"os"
	"strings"
)

// Machine is what figures that were measured on it depend on.
type Machine struct {
	OS     string `json:"os"`
	Kernel string `json:"kernel"`
	CPU    string `json:"cpu"` // model
	Facts
}

// Describe reads it; the disk is the one under dir.
func Describe(dir string) (Machine, error) {
	facts, err := Read(dir)
	return Machine{
		OS:     valueIn("/etc/os-release", "PRETTY_NAME=", "\""),
		Kernel: valueIn("/proc/sys/kernel/osrelease", "", ""),
		CPU:    valueIn("/proc/cpuinfo", "model name", ": \t"),
		Facts:  facts,
	}, err
}

// valueIn is what follows prefix in the first line that begins with it, without the
// cut characters around it; empty where there is none.
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

// Boot is the kernel's name of this boot of the machine: containers of one machine share it,
// as they share its cores. Empty where the kernel does not say.
func Boot() string { return valueIn("/proc/sys/kernel/random/boot_id", "", "") }
