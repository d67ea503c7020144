package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/storage"
	"plimsoll/lab/run/result"
)

// fact is a line of the conditions.
type fact struct{ Name, Value string }

// conditions are what the figures depend on, most important first.
func conditions(r *result.Result) []fact {
	c := r.Conditions
	facts := []fact{
		{"load", load(r)},
		{"profile", profile(c.Load.Profile)},
		{"scenario", scenario(c.Load)},
		{"stages", stageLine(r.Stages)},
		{"mix", mix(c.Load.Mix)},
		{"base", erpOnly(c, c.Scale)},
		{"shape of the ERP", erpOnly(c, c.Shape)},
		{"engine", engine(c)},
		{"durability", durability(c.Engine.Settings)},
		{"memory settings", settings(c.Engine.Settings, "shared_buffers", "work_mem", "temp_buffers", "max_wal_size")},
		{"workers", workers(c.Workers)},
		{"machine", machine(c)},
		{"CPU, share of all cores", cpu(c.CPU)},
		{"disturbance", disturbance(r.Disturbance)},
		{"cost of an operation", costOfEach(r.Cost)},
		{footprintFact, footprints(r.Footprints)},
		{memoryFact, memory(r.Memory)},
		{"generator", generator(r)},
		{"agents", agents(r.Generator.Agents)},
		{"software", cmp.Or(c.Software, "not stated")},
	}
	return slices.DeleteFunc(facts, func(f fact) bool { return f.Value == "" })
}

// erpOnly are conditions that every run of the ERP states, and others do not have.
func erpOnly(c result.Conditions, text string) string {
	if s := c.Load.Scenario; s != nil && s.Application != "erp" {
		return text
	}
	return cmp.Or(text, "not stated")
}

func load(r *result.Result) string {
	l := r.Conditions.Load
	if l.Arrivals != nil {
		return fmt.Sprintf("%s arrivals, %g per second, open model, %s sessions, ramp %s, steady %s, seed %d",
			l.Arrivals.Spacing, l.Arrivals.RatePerS, human.Thousands(r.Users), human.Seconds(l.RampS),
			human.Seconds(r.DurationS), l.Seed)
	}
	return fmt.Sprintf("%s users%s, %s model%s, ramp %s, steady %s, seed %d",
		human.Thousands(r.Users), changedText(l.Changes), l.Model, thinking(l.Think), human.Seconds(l.RampS),
		human.Seconds(r.DurationS), l.Seed)
}

// profile that the load follows, and how it differs; empty without one.
func profile(p *result.Profile) string {
	if p == nil {
		return ""
	}
	if len(p.Changes) == 0 {
		return p.Name
	}
	return p.Name + " with changes: " + strings.Join(p.Changes, ", ")
}

// thinking describes the think times; empty without any.
func thinking(t *result.Think) string {
	if t == nil {
		return ""
	}
	return fmt.Sprintf(", think time %s mean %s at most %s", t.Distribution, human.Seconds(t.MeanS),
		human.Seconds(t.CapS))
}

// changedText marks a number that is only the plan's.
func changedText(changes []result.Change) string {
	if len(changes) == 0 {
		return ""
	}
	return fmt.Sprintf(" as planned, changed by the user %s (see the events)", human.Count(len(changes), "time"))
}

// scenario is what a file set beyond numbers of users and the mix; absent in older results.
// speaking is how users reach a web application; empty if they do not, or if an older result does not say.
func speaking(h *result.HTTP) string {
	if h == nil {
		return ""
	}
	whose := map[string]string{"shared": "over connections that all users share", "user": "over a connection of each " +
		"user", "browser": "over connections of each user as browsers have them"}
	return fmt.Sprintf(", HTTP/%s %s", h.Version, whose[h.Connections])
}

func scenario(l result.Load) string {
	if l.Scenario == nil {
		return ""
	}
	text := fmt.Sprintf("%s (%s)", l.Scenario.Name, l.Scenario.Digest)
	if l.Scenario.Application == "erp" {
		text += fmt.Sprintf(", %.1f %% of the sales must be refused, %.1f %% of the documents back-dated",
			100*l.Scenario.Refused, 100*l.Scenario.Backdated)
	}
	if l.Scenario.Application == "none" {
		text += ", own operations"
	}
	if l.Scenario.Session != "" {
		text += fmt.Sprintf(", %s protocol, a session for each user", l.Scenario.Protocol)
	} else if l.Scenario.Protocol != "" {
		text += fmt.Sprintf(", %s protocol over %d connections", l.Scenario.Protocol, l.Scenario.Connections)
	}
	text += speaking(l.Scenario.HTTP)
	if len(l.Roles) > 1 {
		for _, r := range l.Roles {
			text += fmt.Sprintf("; %s: %s users", r.Name, human.Thousands(r.Users))
			if r.Think != nil {
				text += fmt.Sprintf(", think time %s mean %s", r.Think.Distribution, human.Seconds(r.Think.MeanS))
			}
		}
	}
	return text + pace(l)
}

// dayShown is the most points of a day that are named; a recorded one has thousands.
const dayShown = 24

func pace(l result.Load) (text string) {
	if len(l.Day) > dayShown {
		return fmt.Sprintf("; pace of a day of %d points", len(l.Day))
	}
	for i, p := range l.Day {
		if i == 0 {
			text += "; pace of the day"
		}
		text += fmt.Sprintf(" %.0f %%: %.2g", 100*p[0], p[1])
	}
	return text
}

func mix(weights map[string]float64) string {
	ids := slices.SortedFunc(maps.Keys(weights), func(a, b string) int {
		if weights[a] != weights[b] {
			return int(1e6 * (weights[b] - weights[a]))
		}
		return strings.Compare(a, b)
	})
	for i, id := range ids {
		ids[i] = fmt.Sprintf("%s %.0f %%", id, 100*weights[id])
	}
	return strings.Join(ids, ", ")
}

func engine(c result.Conditions) string {
	if c.Engine.Version == "" {
		return "no database known"
	}
	text := fmt.Sprintf("PostgreSQL %s, %s", c.Engine.Version, c.Engine.Flavour)
	if c.Engine.Patchset != nil {
		text += fmt.Sprintf(" patchset %d", *c.Engine.Patchset)
	}
	if c.Profile != "" {
		text += ", profile " + c.Profile
	}
	if !c.Engine.Local {
		text += ", perhaps on another machine"
	}
	return text
}

func durability(s map[string]string) string {
	return settings(s, "fsync", "synchronous_commit", "full_page_writes", "wal_level", "data_checksums",
		storage.Setting)
}

func settings(all map[string]string, names ...string) string {
	var known []string
	for _, name := range names {
		if value, ok := all[name]; ok {
			known = append(known, name+"="+value)
		}
	}
	return strings.Join(known, ", ")
}

func workers(all []result.Worker) string {
	started := 0
	for _, w := range all {
		if w.Started {
			started++
		}
	}
	if len(all) == 0 {
		return ""
	}
	if started > 0 {
		return fmt.Sprintf("%d, started by the run", started)
	}
	return fmt.Sprintf("%d, already running", len(all))
}

func machine(c result.Conditions) string {
	m := c.Machine
	return fmt.Sprintf("%s, %d cores, %s RAM, %s, Linux %s", cmp.Or(m.CPU, "unknown processor"), m.Cores,
		human.Bytes(float64(m.MemoryBytes)), cmp.Or(m.OS, "unknown system"), cmp.Or(m.Kernel, "unknown"))
}

func cpu(c result.CPU) string {
	return fmt.Sprintf("generator %s, workers %s, database %s, whole machine %s, stolen %s",
		percent(c.Generator), percent(c.Workers), percent(c.Database), percent(c.Machine), percent(c.Steal))
}

// memoryFact is the name of the line about memory.
const memoryFact = "memory after warm-up"

// memory of all processes of each kind, and whether it grows; empty if the run was too short.
func memory(all []result.Memory) string {
	if len(all) == 0 {
		return ""
	}
	var grows, each []string
	for _, m := range all {
		if m.Grows() {
			grows = append(grows, m.Of)
		}
		each = append(each, fmt.Sprintf("%s %s, %+.1f %%, at most %s", m.Of, human.Bytes(m.Last), 100*m.Growth(),
			human.Bytes(m.Max)))
	}
	verdict := "no growth"
	if len(grows) > 0 {
		verdict = "GROWS: " + strings.Join(grows, ", ")
	}
	return fmt.Sprintf("%s; %s; private memory of all processes of a kind, medians of the two halves from %.0f s "+
		"to %.0f s", verdict, strings.Join(each, "; "), all[0].FromS, all[0].ToS)
}

// agents that generated the load, by machine; empty without any.
func agents(all []result.Agent) string {
	var lines []string
	for _, a := range all {
		text := fmt.Sprintf("%s: %s users, lag p99 %s ms, max %s ms, %s of %d cores, clock off by %.2f ms ± %.2f",
			a.Name, human.Thousands(a.Users),
			millis(&a.LagMSP99), millis(&a.LagMSMax), percent(a.CPUShare), a.Cores, a.ClockOffsetMS,
			a.ClockErrorMS)
		if a.LostAtS != nil {
			text += fmt.Sprintf(", lost after %.1f s", *a.LostAtS)
		}
		lines = append(lines, text)
	}
	return strings.Join(lines, "; ")
}

func generator(r *result.Result) string {
	g, lagLimit := r.Generator, r.Conditions.Load.LagLimitS
	text := fmt.Sprintf("lag p99 %s ms, max %s ms; at most %s operations at once", millis(&g.LagMSP99),
		millis(&g.LagMSMax), human.Thousands(g.InFlight))
	if g.Backlog > 0 {
		text += fmt.Sprintf(", at most %s waited for a slot", human.Thousands(g.Backlog))
	}
	if lagLimit > 0 {
		text += fmt.Sprintf("; not valid beyond a p99 of %s ms", human.Thousands(int64(1000*lagLimit)))
	}
	if g.UsersBytes != nil && len(r.Footprints) == 0 { // an older version measured only this
		text += fmt.Sprintf("; %s per user, fixed memory included", human.Bytes(*g.UsersBytes))
	}
	return text
}
