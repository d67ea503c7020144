package confusion

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"plimsoll/ground/postgres/installation"
	"plimsoll/ground/problem"
	"plimsoll/lab/prove/confusion/incident"
)

// Sets of faults.
const (
	SetOld = "old" // written in Go, planted in a base that is always the same
	SetNew = "new" // incidents, under names and strengths that are drawn
	SetAll = "all"
)

// Sets lists them.
var Sets = []string{SetOld, SetNew, SetAll}

// SeedDefault of what trials of incidents draw.
const SeedDefault = 1

// Conditions of a trial of incidents, drawn by its seed.
type Conditions struct {
	Engine string `json:"engine"`
	Load   string `json:"load"`
	Kind   string `json:"kind"` // of the load
	// Pooler: users and diagnosis go through pgbouncer. Standby: what reads, and the diagnosis, use a standby.
	Pooler  bool `json:"pooler"`
	Standby bool `json:"standby"`
	// Statements: pg_stat_statements can be read.
	Statements bool `json:"statements"`
	Strangers  bool `json:"strangers"` // a process of others takes a processor
}

// String names what is not usual.
func (c Conditions) String() string {
	text := c.Engine + ", " + c.Load
	for _, one := range []struct {
		is   bool
		name string
	}{{c.Pooler, "pooler"}, {c.Standby, "standby"}, {!c.Statements, "no statements"}, {c.Strangers, "strangers"}} {
		if one.is {
			text += ", " + one.name
		}
	}
	return text
}

// each condition by name.
func (c Conditions) each() []string {
	is := map[bool]string{true: "with ", false: "without "}
	return []string{"engine " + c.Engine, "load " + c.Kind, is[c.Pooler] + "pooler", is[c.Standby] + "standby",
		is[c.Statements] + "pg_stat_statements", is[c.Strangers] + "strangers"}
}

// job is one trial to be made.
type job struct {
	round int
	name  string
	old   bool
	plant plant // of the old set
	// Of the new set: none is a healthy load.
	faults     []*incident.Fault
	load       *incident.Fault
	seed       uint64
	conditions Conditions
	plain      bool // under the base's own names
}

func (j job) unseen() bool {
	if j.old {
		return j.plant.hidden()
	}
	return slices.ContainsFunc(j.faults, func(f *incident.Fault) bool { return f.Unseen })
}

func (j job) needsStandby() bool {
	return j.conditions.Standby || slices.ContainsFunc(j.faults, (*incident.Fault).NeedsStandby)
}

// around a diagnosis of incidents: copy, load, baseline, plant, and the end.
const aroundIncident = 12 * time.Second

func (o Options) lasts(j job) time.Duration {
	if j.old {
		return cmp.Or(o.Duration, DurationDefault) + around
	}
	return cmp.Or(o.Duration, incidentDuration) + aroundIncident
}

// drawer draws the conditions of trials.
type drawer struct {
	Options
	engines map[string]installation.Server
	pooler  bool // pgbouncer is installed
}

// hash is a seed for something of this test.
func (o Options) hash(round int, name string) uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, o.Seed, round, name)
	return h.Sum64()
}

// draw a trial of faults, or of a healthy load.
func (d drawer) draw(round int, name string, faults []*incident.Fault, load *incident.Fault) job {
	j := job{round: round, name: name, faults: faults, load: load, seed: d.hash(round, name)}
	rng := rand.New(rand.NewPCG(j.seed, 1))
	var engines []string
	for _, engine := range slices.Sorted(maps.Keys(d.engines)) {
		if !slices.ContainsFunc(faults, func(f *incident.Fault) bool {
			return !hasLibrary(d.engines[engine], f.Library)
		}) {
			engines = append(engines, engine)
		}
	}
	if len(engines) == 0 { // the trial says so
		engines = slices.Sorted(maps.Keys(d.engines))
	}
	c := &j.conditions
	c.Engine = engines[rng.IntN(len(engines))]
	loads := incident.Loads()
	if drawn := loads[rng.IntN(len(loads))]; load == nil {
		j.load = drawn
	}
	c.Load, c.Kind = j.load.Name, j.load.Kind
	chance := func(share float64) bool { return rng.Float64() < share }
	every := func(is func(*incident.Fault) bool) bool { return !slices.ContainsFunc(faults, not(is)) }
	reads := len(faults) > 0 && every(func(f *incident.Fault) bool { return f.Standby })
	pooled := every(func(f *incident.Fault) bool { return !f.Direct })
	c.Standby = chance(0.25) && reads
	c.Pooler = chance(0.3) && pooled && !c.Standby && d.pooler
	c.Statements, c.Strangers = !chance(0.3), chance(0.15)
	return j
}

func not(is func(*incident.Fault) bool) func(*incident.Fault) bool {
	return func(f *incident.Fault) bool { return !is(f) }
}

// pairs of a round: each fault that can be beside another is in one.
func (d drawer) pairs(round int) (all [][]*incident.Fault) {
	faults := slices.DeleteFunc(slices.Clone(incident.All()), func(f *incident.Fault) bool { return f.Apart })
	rng := rand.New(rand.NewPCG(d.hash(round, "pairs"), 2))
	rng.Shuffle(len(faults), func(i, j int) { faults[i], faults[j] = faults[j], faults[i] })
	for i := 0; i+1 < len(faults); i += 2 {
		if incident.Fit(faults[i], faults[i+1]) {
			all = append(all, faults[i:i+2])
		}
	}
	return all
}

func nameOf(faults []*incident.Fault) string {
	var names []string
	for _, f := range faults {
		names = append(names, f.Name)
	}
	return strings.Join(names, "+")
}

// healthyLoad names the trial of a load without a fault.
func healthyLoad(load *incident.Fault) string { return Healthy + ":" + load.Name }

// incidents of a round.
func (d drawer) incidents(round int) (all []job) {
	for _, load := range incident.Loads() {
		all = append(all, d.draw(round, healthyLoad(load), nil, load))
	}
	for _, f := range incident.All() {
		all = append(all, d.draw(round, f.Name, []*incident.Fault{f}, nil))
	}
	for _, pair := range d.pairs(round) {
		all = append(all, d.draw(round, nameOf(pair), pair, nil))
	}
	return all
}

// named is the trial that a person names: of the old set, or of the new one.
func (d drawer) named(round int, name string) (job, error) {
	for _, load := range incident.Loads() {
		if name == healthyLoad(load) {
			return d.draw(round, name, nil, load), nil
		}
	}
	var faults []*incident.Fault
	parts := strings.Split(name, "+")
	for _, part := range parts {
		if f := incident.Find(part); f != nil {
			faults = append(faults, f)
		}
	}
	switch {
	case len(faults) == 0:
		p, err := parse(name)
		return job{round: round, name: name, old: true, plant: p}, err
	case len(faults) < len(parts):
		return job{}, problem.New(problem.Usage, fmt.Errorf("%q: not faults of one set", name),
			"plant faults of the old set together, or of the new")
	case len(faults) > 1 && !incident.Fit(faults[0], faults[1]) || len(faults) > 2:
		return job{}, problem.New(problem.Usage, fmt.Errorf("%q cannot be planted together", name),
			"one or two faults, neither of which holds up the whole server")
	}
	return d.draw(round, name, faults, nil), nil
}

// jobs of the whole test, those of one engine of a round together: a server takes some seconds to make.
func (o Options) jobs(ctx context.Context) (all []job, err error) {
	d := drawer{Options: o, pooler: poolerProgram() != ""}
	if d.engines, err = o.engines(ctx); err != nil {
		return nil, err
	}
	for round := 1; round <= max(1, o.Rounds); round++ {
		var these []job
		if len(o.Only) > 0 {
			for _, name := range o.Only {
				j, err := d.named(round, name)
				if err != nil {
					return nil, err
				}
				these = append(these, j)
			}
		} else {
			these = d.round(round)
		}
		slices.SortStableFunc(these, func(a, b job) int {
			return cmp.Compare(a.conditions.Engine, b.conditions.Engine)
		})
		all = append(all, these...)
	}
	return all, nil
}

func (d drawer) round(round int) (all []job) {
	if d.Set != SetNew {
		for _, p := range plants() {
			all = append(all, job{round: round, name: p.name(), old: true, plant: p})
		}
	}
	if d.Set != SetOld {
		all = append(all, d.incidents(round)...)
	}
	return all
}

// within the number of trials and the time that are allowed: those left are drawn, and keep their order.
func (o Options) within(all []job) (some []job) {
	if o.Trials == 0 && o.Budget == 0 {
		return all
	}
	order := rand.New(rand.NewPCG(o.Seed, 3)).Perm(len(all))
	chosen, spent := map[int]bool{}, time.Duration(0)
	for _, i := range order {
		if o.Trials > 0 && len(chosen) == o.Trials || o.Budget > 0 && spent+o.lasts(all[i]) > o.Budget {
			break
		}
		chosen[i] = true
		spent += o.lasts(all[i])
	}
	for i, j := range all {
		if chosen[i] {
			some = append(some, j)
		}
	}
	return some
}
