package compare

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/lab/run/result"
)

// memorySlack is the share by which two readings of one machine's memory may differ.
const memorySlack = 0.02

// condition of a run that its figures depend on, whatever the version of the measured program.
type condition struct{ name, value string }

// conditionsOf a run. What may differ between versions of a system (its shape, its program) is not among them.
func conditionsOf(r *result.Result) (all []condition) {
	c, l := r.Conditions, r.Conditions.Load
	add := func(name, format string, args ...any) {
		all = append(all, condition{name, fmt.Sprintf(format, args...)})
	}
	add("processor", "%s, %d cores", c.Machine.CPU, c.Machine.Cores)
	add("engine", "PostgreSQL %s %s", c.Engine.Version, c.Engine.Flavour)
	if c.Engine.Patchset != nil {
		all[len(all)-1].value += fmt.Sprintf(" %d", *c.Engine.Patchset)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Engine.Settings)) {
		add(name, "%s", c.Engine.Settings[name])
	}
	if s := l.Scenario; s != nil {
		add("scenario", "%s", s.Digest)
	}
	if a := l.Arrivals; a != nil {
		add("arrivals", "%g %s per s", a.RatePerS, a.Spacing)
	}
	if t := l.Think; t != nil {
		add("think time", "%s %s", human.Seconds(t.MeanS), t.Distribution)
	}
	add("users", "%d", r.Users)
	add("steady state", "%s", human.Seconds(l.DurationS))
	add("ramp", "%s", human.Seconds(l.RampS))
	add("timeout", "%s", human.Seconds(l.TimeoutS))
	add("base", "%s", c.Scale)
	add("shape", "%s", c.Shape)
	return all
}

// differences in conditions between runs that are to be compared, each once; the first new run stands for all of them.
func differences(stored, fresh []*result.Result) (texts []string) {
	now := conditionsOf(fresh[0])
	tell := func(name, was, is string) {
		if text := fmt.Sprintf("%s %s, now %s", name, known(was), known(is)); !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	for _, r := range slices.Concat(stored, fresh[1:]) {
		was := map[string]string{}
		for _, c := range conditionsOf(r) {
			was[c.name] = c.value
		}
		for _, c := range now {
			if was[c.name] != c.value {
				tell(c.name, was[c.name], c.value)
			}
			delete(was, c.name)
		}
		for _, name := range slices.Sorted(maps.Keys(was)) {
			tell(name, was[name], "")
		}
		a, b := r.Conditions.Machine.MemoryBytes, fresh[0].Conditions.Machine.MemoryBytes
		if float64(max(a, b)-min(a, b)) > memorySlack*float64(max(a, b)) {
			tell("memory", human.Bytes(a), human.Bytes(b))
		}
	}
	return texts
}

func known(value string) string {
	if strings.TrimSpace(value) == "" {
		return "none"
	}
	return value
}
