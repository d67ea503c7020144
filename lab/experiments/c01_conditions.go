package experiments

import (
	"fmt"

	"plimsoll/lab/claims"
	"plimsoll/lab/postgres"
	"plimsoll/lab/result"
)

// c01Conditions say what the figures depend on and, above all, how this differs from the report.
func c01Conditions(b Bench, r *result.Result, done []repetition) []claims.Condition {
	c := r.Conditions
	return []claims.Condition{
		{Name: "machine", Text: fmt.Sprintf("%d cores of %s, %.0f GB, for database, workers and generator together (report: database on 96 cores and 1 TB, application tier and generators on machines of their own)",
			c.Machine.Cores, c.Machine.CPU, float64(c.Machine.MemoryBytes)/(1<<30))},
		{Name: "engine", Text: engineText(c.Engine)},
		{Name: "base", Text: orUnknown(c.Scale) + " (report: about 1 TB with 9,896,636 documents)"},
		{Name: "mix", Text: fmt.Sprintf("%d key operations of an ERP of our own (report: 1C:ERP with documents of 17 types); targets and weights are those that 'plimsoll run' prints", len(r.Operations))},
		{Name: "time", Text: fmt.Sprintf("%d x %s (report: %s)", len(done), length(b.Duration), length(claimedLength))},
		{Name: "users", Text: fmt.Sprintf("%s sessions in one generator over HTTP, think time %s on average, %s (report: 192 virtual machines of 160 sessions)",
			thousands(int64(b.Users)), length(claimedThink), thinkText(c.Load.Think))},
		{Name: "generator", Text: generatorText(done)},
		{Name: "durability", Text: settingsText(c.Engine.Settings, "fsync", "synchronous_commit", "full_page_writes")},
	}
}

// thinkText is how think times are spread.
func thinkText(t *result.Think) string {
	if t == nil {
		return orUnknown("")
	}
	return t.Distribution
}

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

// generatorText is the largest CPU share and lag of any repetition.
func generatorText(done []repetition) string {
	cpu, lag := "unavailable", 0.0
	var most float64
	for _, rep := range done {
		if s := rep.Generator.CPUShare; s != nil {
			most = max(most, *s)
			cpu = fmt.Sprintf("%.0f %%", 100*most)
		}
		lag = max(lag, rep.Generator.LagMSP99)
	}
	return fmt.Sprintf("CPU share up to %s, 99 %% of the operations sent within %.1f ms of being due", cpu, lag)
}

func score(v *float64) string {
	if v == nil {
		return "none"
	}
	return three(*v)
}

func recountText(rep repetition) string {
	if len(rep.different) == 0 {
		return "identical"
	}
	return fmt.Sprintf("differs in %d places", len(rep.different))
}

func together(done []repetition) string {
	for _, rep := range done {
		if len(rep.different) > 0 {
			return "differently"
		}
	}
	return "identically"
}

func books(done []repetition) string {
	for _, rep := range done {
		switch {
		case !rep.Audit.Done:
			return "not audited"
		case !rep.Audit.Clean:
			return "wrong"
		}
	}
	return "clean"
}
