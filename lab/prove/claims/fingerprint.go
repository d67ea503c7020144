package claims

import "plimsoll/ground/host/machine"

// Machine is the fingerprint that ties a finding to a machine.
type Machine struct {
	CPU         string `json:"cpu"`
	Cores       int    `json:"cores"`
	MemoryBytes int64  `json:"memory_bytes"`
	Kernel      string `json:"kernel"`
}

// memorySlack is how far two readings of one machine may differ: the kernel reserves some memory, a little different at
// each boot.
const memorySlack = 64 << 20

// Here is the fingerprint of this machine; unknown parts are empty.
func Here() Machine {
	m, _ := machine.Describe("/") // only the disk can be unknown, and it is not part of the fingerprint
	return Machine{CPU: m.CPU, Cores: m.Cores, MemoryBytes: m.MemoryBytes, Kernel: m.Kernel}
}

// Elsewhere says in what a finding's origin differs from here: "machine", "kernel", "engine", "set of rules" (of before
// Answers), "version", or "" if the finding still applies.
func (k Record) Elsewhere(here Machine, engine, software string) string {
	memory := k.Machine.MemoryBytes - here.MemoryBytes
	switch {
	case k.Machine.CPU != here.CPU || k.Machine.Cores != here.Cores || memory > memorySlack || memory < -memorySlack:
		return "machine"
	case k.Machine.Kernel != here.Kernel:
		return "kernel"
	case engine != "" && k.Engine != engine:
		return "engine"
	case k.Answers == nil:
		return "set of rules"
	case k.Software != software:
		return "version"
	}
	return ""
}
