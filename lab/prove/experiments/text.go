package experiments

import (
	"fmt"
	"strings"

	"plimsoll/lab/postgres"
	"plimsoll/lab/prove/trial"
	"plimsoll/lab/run/result"
)

// thousands writes 30000 as 30,000.
func thousands(n int) string { return trial.Thousands(int64(n)) }

func engineText(e result.Engine) string {
	if e.Patchset == nil {
		return fmt.Sprintf("PostgreSQL %s, stock", e.Version)
	}
	return fmt.Sprintf("PostgreSQL %s, %s, patchset %d", e.Version, e.Flavour, *e.Patchset)
}

func lookText(look *postgres.Server) string {
	return engineText(result.Engine{Version: look.Version, Flavour: look.Flavour, Patchset: look.Patchset})
}

func settingsText(settings map[string]string, names ...string) (text string) {
	for i, name := range names {
		if i > 0 {
			text += ", "
		}
		text += name + "=" + orUnknown(settings[name])
	}
	return text
}

func orUnknown(s string) string {
	if s == "" {
		return "unavailable"
	}
	return s
}

// statementsOf a text, with values in place of its variables: name, value, name, value, …
func statementsOf(text string, variables ...string) (all []string) {
	for s := range strings.SplitSeq(strings.NewReplacer(variables...).Replace(text), ";") {
		if s = strings.TrimSpace(s); s != "" {
			all = append(all, s)
		}
	}
	return all
}
