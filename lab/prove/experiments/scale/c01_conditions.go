package scale

import (
	"cmp"
	"fmt"

	"plimsoll/ground/human"
	"plimsoll/lab/load/apdex"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
	"plimsoll/lab/run/result"
)

// conditions list what the figures depend on, mainly the differences from the report.
func (l *usersLoad) conditions() []claims.Condition {
	r := l.done[0]
	c := r.Conditions
	return []claims.Condition{
		{Name: "machine", Text: fmt.Sprintf("%d cores of %s, %.0f GB, for database, workers and generator together "+
			"(report: database on 96 cores and 1 TB, application tier and generators on machines of their own)",
			c.Machine.Cores, c.Machine.CPU, float64(c.Machine.MemoryBytes)/(1<<30))},
		{Name: "engine", Text: site.EngineText(c.Engine)},
		{Name: "base", Text: cmp.Or(c.Scale, site.Unavailable) + " (report: about 1 TB with 9,896,636 documents)"},
		{Name: "mix", Text: fmt.Sprintf("%d key operations of an ERP of our own (report: 1C:ERP with documents of "+
			"17 types); targets and weights are those that 'plimsoll run' prints", len(r.Operations))},
		{Name: "time", Text: fmt.Sprintf("%d x %s (report: %s)", len(l.done), human.Duration(l.duration),
			human.Duration(claimedLength))},
		{Name: "users", Text: fmt.Sprintf("%s sessions in one generator over HTTP, think time %s on average, %s "+
			"(report: 192 virtual machines of 160 sessions)", human.Thousands(l.users), human.Duration(claimedThink),
			thinkText(c.Load.Think))},
		{Name: "generator", Text: generatorText(l.done)},
		{Name: "durability", Text: site.SettingsText(c.Engine.Settings, "fsync", "synchronous_commit",
			"full_page_writes")},
	}
}

// thinkText describes the distribution of think times.
func thinkText(t *result.Think) string {
	if t == nil {
		return site.Unavailable
	}
	return t.Distribution
}

// generatorText is the largest processor share and lag of all repetitions.
func generatorText(done []*result.Result) string {
	cpu, lag := site.Unavailable, 0.0
	var most float64
	for _, rep := range done {
		if s := rep.Generator.CPUShare; s != nil {
			most = max(most, *s)
			cpu = fmt.Sprintf("%.0f %%", 100*most)
		}
		lag = max(lag, rep.Generator.LagMSP99)
	}
	return fmt.Sprintf("CPU share up to %s, p99 of the sending lag %.1f ms", cpu, lag)
}

func score(v *float64) string { return human.Known(v, "none", apdex.Text) }

func recountText(different []string) string {
	if len(different) == 0 {
		return "identical"
	}
	return fmt.Sprintf("differs in %d places", len(different))
}

func recountedTotal(m *trial.Measurements) string {
	sum := 0.0
	for _, n := range m.Figures(trial.At("", recountedCount)) {
		sum += n
	}
	return human.Thousands(int64(sum))
}

func recountedAlike(m *trial.Measurements) string {
	for _, n := range m.Figures(trial.At("", differentCount)) {
		if n > 0 {
			return "differently"
		}
	}
	return "identically"
}

func booksFound(m *trial.Measurements) string {
	for _, state := range m.Figures(trial.At("", booksState)) {
		switch state {
		case booksNotAudited:
			return "not audited"
		case booksWrong:
			return "wrong"
		}
	}
	return "clean"
}
