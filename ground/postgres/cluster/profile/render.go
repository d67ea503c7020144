package profile

import (
	"cmp"
	"fmt"
	"sort"
	"strings"

	"plimsoll/ground/human"
)

// Render writes settings as a configuration file, each below its reason.
func Render(name Name, in Input, settings []Setting) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Profile %s of Plimsoll for PostgreSQL %d, derived from\n# %s.\n", name, in.Version, describe(in))
	b.WriteString("# Rewritten at every start: put your own settings into user.conf, which is read after this.\n")
	b.WriteString("# port, listen_addresses and the socket's folder are on the server's command line.\n")
	for _, s := range settings {
		b.WriteByte('\n')
		for _, line := range human.Wrap(s.Reason, lineMax) {
			fmt.Fprintf(&b, "# %s\n", line)
		}
		fmt.Fprintf(&b, "%s = %s\n", s.Name, quote(s.Value))
	}
	return b.String()
}

// describe leaves out what varies by itself, so that the file changes only when a setting does.
func describe(in Input) string {
	m := in.Machine
	text := fmt.Sprintf("%d cores, %s of memory", m.Cores, Bytes(tidyUp(m.MemoryBytes)))
	if in.Memory != 0 && in.Memory != m.MemoryBytes {
		text += fmt.Sprintf(" of which this cluster may use %s", Bytes(tidyUp(in.Memory)))
	}
	text += ", disk " + string(m.Disk)
	if m.LimitedBy != "" {
		text += ", limited by " + m.LimitedBy
	}
	return text
}

// tidyUp rounds to MB for readers.
func tidyUp(n int64) int64 { return (n + mB/2) / mB * mB }

const lineMax = 110

// quote puts a value in quotes unless it is a plain word or number.
func quote(value string) string {
	plain := func(r rune) bool {
		return r == '.' || r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	}
	if value != "" && strings.TrimFunc(value, plain) == "" {
		return value
	}
	return "'" + strings.ReplaceAll(value, "'", "''") + "'"
}

// Changes lists the settings that differ between two rendered files, such as "work_mem 32MB → 64MB".
func Changes(before, after string) []string {
	old, now := values(before), values(after)
	var changed []string
	for name, value := range now {
		if old[name] != value {
			changed = append(changed, fmt.Sprintf("%s %s → %s", name, cmp.Or(old[name], "default"), value))
		}
	}
	for name, value := range old {
		if now[name] == "" {
			changed = append(changed, fmt.Sprintf("%s %s → default", name, value))
		}
	}
	sort.Strings(changed)
	return changed
}

func values(text string) map[string]string {
	found := map[string]string{}
	for line := range strings.Lines(text) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), " = ")
		if ok && !strings.HasPrefix(name, "#") {
			found[name] = value
		}
	}
	return found
}
