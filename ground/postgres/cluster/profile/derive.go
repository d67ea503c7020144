package profile

import (
	"fmt"
	"strings"
)

// Derive computes a profile's settings for a machine, without those that the server does not know (another version or
// patchset) or was not built for.
func Derive(name Name, in Input) []Setting {
	settings := logging
	switch name {
	case Stock:
	case Report:
		settings = append(report(in), logging...)
	case OneC:
		settings = append(oneC(in), logging...)
	default:
		settings = append(tuned(in), logging...)
	}
	var known []Setting
	for _, s := range settings {
		if in.takes(s) {
			known = append(known, s)
		}
	}
	return known
}

func (in Input) takes(s Setting) bool {
	ofLibrary := strings.Contains(s.Name, ".")
	if in.Knows != nil && !ofLibrary && !in.Knows(s.Name) {
		return false
	}
	return s.Name != walCompression || in.Accepts == nil || in.Accepts(s.Name, s.Value)
}

// All profiles have the same log settings: the lab parses the log.
var logging = []Setting{
	{"log_line_prefix", "%m [%p] %q%u@%d/%a ",
		"time, process, user, database and program: what the lab needs to tell operations apart"},
	{"log_destination", "stderr", "the keeper writes it to log/postgres.log"},
	{"logging_collector", "off", "the keeper opens the log; one process less, and nothing is lost when it crashes"},
	{"lc_messages", "C", "one language, whatever the machine's, because programs read the messages"},
}

// tuned is in the order of PostgreSQL's sample file.
func tuned(in Input) []Setting {
	m := shareOf(in)
	var all []Setting
	for _, group := range [][]Setting{
		m.connections(), m.memory(), m.background(), m.parallel(), m.wal(), m.planner(), m.autovacuum(), m.locks(),
		m.observing(), m.patched(),
	} {
		all = append(all, group...)
	}
	return all
}

// share is the part of the machine that one cluster is planned for.
type share struct {
	bytes    int64
	cores    int
	rotating bool
	unsure   bool // virtual disk: taken for solid state, and reported as unsure
	diskFree int64
	version  int
}

func shareOf(in Input) share {
	memory := in.Memory
	if memory == 0 {
		memory = in.Machine.MemoryBytes
	}
	return share{
		bytes: memory, cores: max(1, in.Machine.Cores),
		rotating: in.Machine.Disk == "rotational", unsure: in.Machine.Disk == "unknown",
		diskFree: in.Machine.DiskFreeBytes, version: in.Version,
	}
}

func set(name string, value any, reason string, args ...any) Setting {
	return Setting{name, fmt.Sprint(value), fmt.Sprintf(reason, args...)}
}
