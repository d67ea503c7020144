package site

import (
	"cmp"
	"fmt"
	"strings"

	"plimsoll/ground/postgres"
	"plimsoll/lab/run/result"
)

// Listed writes values as "10, 25 and 50".
func Listed[T any](values []T) string {
	var b strings.Builder
	for i, value := range values {
		switch {
		case i > 0 && i == len(values)-1:
			b.WriteString(" and ")
		case i > 0:
			b.WriteString(", ")
		}
		fmt.Fprint(&b, value)
	}
	return b.String()
}

func EngineText(e result.Engine) string {
	if e.Patchset == nil {
		return fmt.Sprintf("PostgreSQL %s, stock", e.Version)
	}
	return fmt.Sprintf("PostgreSQL %s, %s, patchset %d", e.Version, e.Flavour, *e.Patchset)
}

func lookText(look *postgres.Server) string {
	return EngineText(result.Engine{Version: look.Version, Flavour: look.Flavour, Patchset: look.Patchset})
}

// Unavailable stands for what could not be read.
const Unavailable = "unavailable"

func SettingsText(settings map[string]string, names ...string) (text string) {
	for i, name := range names {
		if i > 0 {
			text += ", "
		}
		text += name + "=" + cmp.Or(settings[name], Unavailable)
	}
	return text
}
