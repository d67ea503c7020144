package diagnose

import (
	"fmt"
	"regexp"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/counters"
)

var (
	beginsWriting = regexp.MustCompile(`(?i)^\s*(begin|start\s+transaction)\b`)
	beginsReading = regexp.MustCompile(`(?i)\bread\s+only\b`)
)

// readsAsWrites: transactions are begun that may write, and only read. Each of them that writes takes a number, so that
// those without one are counted.
var readsAsWrites = cause{
	name:    "reads-begun-as-writes",
	healthy: "",
	find: func(m *measured) (*Finding, string) {
		numbers := m.delta.Sum(counters.Numbers, "", "next")
		begun := 0.0
		for _, key := range m.delta.Keys(counters.Statements) {
			label := nonEmpty(m.delta.Label(counters.Statements, key), key)
			if beginsWriting.MatchString(label) && !beginsReading.MatchString(label) {
				begun += valueOr(m.delta.Grew(counters.Statements, key, "calls"), 0)
			}
		}
		if numbers == nil || begun < beginsLeast.Value || begun-*numbers < begun/2 {
			return nil, ""
		}
		return &Finding{Title: "Transactions that only read are begun as those that write",
			Mechanism: "BEGIN without READ ONLY keeps a transaction on the primary: a pooler or a driver may not " +
				"send it " +
				"to a standby. With SERIALIZABLE it lets others fail, too. Around a single SELECT it costs two round " +
				"trips " +
				"for nothing.",
			Evidence: []string{fmt.Sprintf("%.0f transactions were begun by BEGIN, and the server gave out %.0f "+
				"numbers "+
				"for writing: %s of them at least wrote "+
				"nothing", begun, *numbers, human.Percent((begun-*numbers)/begun))},
			Excluded: []string{"savepoints: they take numbers as well, so that fewer wrote than that"},
			Next: []string{"BEGIN READ ONLY, or what the program's library calls a read-only transaction or autocommit",
				"reads can then go to a standby (target_session_attrs = prefer-standby)"}}, ""
	},
}
