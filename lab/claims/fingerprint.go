package claims

import "plimsoll/lab/machine"

// Machine is the fingerprint by which a finding is known to be of this machine.
type Machine struct {
	CPU         string `json:"cpu"`
	Cores       int    `json:"cores"`
	MemoryBytes int64  `json:"memory_bytes"`
	Kernel      string `json:"kernel"`
}

// memorySlack is how far two readings of the same machine may part: the kernel keeps
// some memory to itself, and how much varies from boot to boot.
const memorySlack = 64 << 20

// Here is the fingerprint of this machine; what it does not tell is empty.
func Here() Machine {
	m, _ := machine.Describe("/") // the disk alone can be unknown, and is no part of it
	return Machine{CPU: m.CPU, Cores: m.Cores, MemoryBytes: m.MemoryBytes, Kernel: m.Kernel}
}

// Elsewhere says what differs between where a finding was made and here: "machine",
// "kernel", "engine", "version", or "" when it still speaks of this place.
func (k Kept) Elsewhere(here Machine, engine, software string) string {
	memory := k.Machine.MemoryBytes - here.MemoryBytes
	switch {
	case k.Machine.CPU != here.CPU || k.Machine.Cores != here.Cores || memory > memorySlack || memory < -memorySlack:
		return "machine"
	case k.Machine.Kernel != here.Kernel:
		return "kernel"
	case engine != "" && k.Engine != engine:
		return "engine"
	case k.Software != software:
		return "version"
	}
	return ""
}
