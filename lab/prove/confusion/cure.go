package confusion

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres"
	"plimsoll/ground/postgres/installation"
	"plimsoll/ground/problem"
	"plimsoll/lab/diagnose"
	"plimsoll/lab/prove/confusion/incident"
)

// Cure is an incident that is played to its end: planted beside a load, diagnosed, and cured in a copy of its database.
// Both databases stay until Close, so that they can be compared under the load of the incident.
type Cure struct {
	Fault  string `json:"fault"`
	Does   string `json:"does"`
	Engine string `json:"engine"`
	Seed   uint64 `json:"seed"` // of the fault's strength
	// Figures say what the fault did to its applications.
	Figures   []string            `json:"figures"`
	Planted   []string            `json:"planted"` // SQL, and what applications do meanwhile
	Cured     []string            `json:"cured"`
	Diagnosis *diagnose.Diagnosis `json:"diagnosis"`
	Sick      CureSide            `json:"-"`
	Whole     CureSide            `json:"-"`

	theatre *theatre
	episode *episode
}

// CureSide is a database and the file of the scenario that its users play.
type CureSide struct{ DSN, Scenario string }

// cureLoad is what runs beside each case: people who look things up, sell and change a little.
const cureLoad = "short-mixed"

// Curable incidents, by name.
func Curable() (names []string) {
	for _, f := range incident.Curable() {
		names = append(names, f.Name)
	}
	return names
}

// PlayCure plays one incident until both databases are there. It is an error if the fault has no effect.
func PlayCure(ctx context.Context, o Options, name string) (c *Cure, err error) {
	f := incident.Find(name)
	if !slices.Contains(Curable(), name) {
		return nil, problem.New(problem.Usage, fmt.Errorf("%q is no incident that says how it is cured", name),
			"one of "+strings.Join(Curable(), ", "))
	}
	engine := cmp.Or(o.Spec.Engine, installation.Flavours[0])
	c = &Cure{Fault: name, Does: f.Does, Engine: engine, Seed: o.Seed}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
		}
	}()
	if c.theatre, err = openTheatre(ctx, o, engine); err != nil {
		c.theatre = nil // it has closed itself
		return c, err
	}
	if err := c.diagnose(ctx, f, cmp.Or(o.Duration, DurationDefault)); err != nil {
		return c, err
	}
	return c, c.cure(ctx)
}

// open the incident beside its load.
func (c *Cure) open(ctx context.Context, f *incident.Fault) (err error) {
	loads := incident.Loads()
	load := loads[slices.IndexFunc(loads, func(l *incident.Fault) bool { return l.Name == cureLoad })]
	e, err := c.theatre.open(ctx, job{name: f.Name, faults: []*incident.Fault{f}, load: load, seed: c.Seed, plain: true,
		conditions: Conditions{Engine: c.Engine, Load: load.Name, Kind: load.Kind, Statements: true}})
	if err == nil { // otherwise it has closed itself
		c.episode = e
	}
	return err
}

// diagnose the planted incident, whose effect is seen.
func (c *Cure) diagnose(ctx context.Context, f *incident.Fault, lasts time.Duration) error {
	if err := c.open(ctx, f); err != nil {
		return err
	}
	e := c.episode
	looks, err := e.untilPlanted(ctx)
	if err != nil {
		return err
	}
	// To plan the statements of a role it must be a member; who else may create functions here is a part of the case.
	if err := postgres.Execute(ctx, e.owner(""), "GRANT "+strings.Join(append(e.roles(), e.names.User), ", ")+" TO "+
		e.names.Watch); err != nil {
		return err
	}
	if c.Diagnosis, err = diagnose.Run(ctx, diagnose.Options{DSN: e.watchDSN(), Duration: lasts,
		Rate: diagnose.RateDefault, Software: c.theatre.Software, Trusted: e.users()}); err != nil {
		return err
	}
	looks[3] = e.look(ctx)
	for _, one := range e.effects(looks) {
		if !one.Took() {
			return problem.New(problem.Threshold, fmt.Errorf("the fault had no effect: %s", one),
				"on a machine that is busy, try again later")
		}
		c.Figures = append(c.Figures, one.String())
	}
	return nil
}

// cure a copy of the database in which nobody works any more.
func (c *Cure) cure(ctx context.Context) (err error) {
	e := c.episode
	e.rest()
	p := e.faults[0]
	c.Planted, c.Cured = changes(p.Plant, p.Work, p.During()), changes(p.Cure, p.During(), p.After())
	sick, whole := e.names.Database, e.names.Database+"_cured"
	if err := postgres.Execute(ctx, e.owner(""), "GRANT pg_monitor TO "+p.Role, // a run looks at the sessions
		"CREATE DATABASE "+whole+" TEMPLATE "+sick+" STRATEGY file_copy"); err != nil {
		return err
	}
	e.undone(func(ctx context.Context) error {
		return postgres.Execute(ctx, e.owner(""), "DROP DATABASE "+whole+" WITH (FORCE)")
	})
	if err := e.executeIn(ctx, whole, p.Cure); err != nil {
		return fmt.Errorf("%s: cure: %w", p.Name, err)
	}
	for _, side := range []struct {
		to   *CureSide
		name string
		work []incident.Work
	}{{&c.Sick, sick, p.During()}, {&c.Whole, whole, p.After()}} {
		if *side.to, err = c.side(side.name, slices.Concat(side.work, e.load.Work)); err != nil {
			return err
		}
	}
	return nil
}

// side is a database with the scenario of some applications.
func (c *Cure) side(database string, all []incident.Work) (s CureSide, err error) {
	e := c.episode
	s.DSN = e.login(e.faults[0].Role, c.theatre.cluster.DSN(database).Secret())
	s.Scenario = filepath.Join(c.theatre.dir, database+".toml")
	return s, os.WriteFile(s.Scenario, []byte(scenarioOf(database+": "+c.Does, all)), 0o644)
}

// scenarioOf applications: together they have as many users, and do each thing as often as its own clients would who
// wait for nothing but their thoughts.
func scenarioOf(title string, all []incident.Work) string {
	var b strings.Builder
	users, perS := 0, 0.0
	for _, w := range all {
		users += w.Clients
		perS += float64(w.Clients) / max(leastThink, w.Think).Seconds()
	}
	think := seconds(float64(users) / perS)
	fmt.Fprintf(&b, "title = %q\napplication = \"none\"\nusers = %d\n\n[think]\nmean = %q\n"+
		"distribution = \"exponential\"\n\n[sql]\nconnections = %d\nmode = \"extended\"\n", title, users,
		human.Duration(think), users)
	for _, w := range all {
		weight := math.Round(100 * float64(w.Clients) / max(leastThink, w.Think).Seconds() / perS)
		fmt.Fprintf(&b, "\n[operations.%s]\ntarget = \"100ms\"\nweight = %.0f\nsql = '''\n%s'''\n", w.App,
			max(1, weight), strings.TrimRight(w.Script.Text(), "\n")+"\n")
	}
	return b.String()
}

// leastThink of those who do not think: a scenario has one time for all.
const leastThink = 5 * time.Millisecond

// changes are SQL, and the scripts of applications that differ.
func changes(sql string, before, after []incident.Work) (all []string) {
	if sql = strings.TrimSpace(sql); sql != "" {
		all = append(all, sql)
	}
	for _, w := range after {
		same := slices.ContainsFunc(before, func(old incident.Work) bool {
			return old.App == w.App && old.Script.Text() == w.Script.Text()
		})
		if !same {
			all = append(all, w.App+":\n"+shortened(strings.TrimSpace(w.Script.Text())))
		}
	}
	return all
}

// shortened leaves out repeated lines beyond some.
func shortened(text string) string {
	const most = 8
	lines := strings.Split(text, "\n")
	if len(lines) <= most {
		return text
	}
	return strings.Join(lines[:most], "\n") + fmt.Sprintf("\n… %d more lines like these", len(lines)-most)
}

// Text of all but the comparison.
func (c *Cure) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "CASE %s: %s (%s, seed %d)\n\nPLANTED\n", c.Fault, c.Does, c.Engine, c.Seed)
	block := func(texts []string) {
		for _, text := range texts {
			for line := range strings.Lines(text) {
				b.WriteString("  " + strings.TrimRight(line, "\n") + "\n")
			}
		}
	}
	block(c.Planted)
	b.WriteString("\nSYMPTOM\n")
	block(c.Figures)
	b.WriteString("\nDIAGNOSIS\n")
	if err := c.Diagnosis.Text(&b); err != nil {
		return err
	}
	b.WriteString("\nCURE, in a copy of the database\n")
	block(c.Cured)
	b.WriteString("\nGAIN, by turns on both: A as it was planted, B cured\n")
	_, err := io.WriteString(w, human.Plain(b.String()))
	return err
}

// Close leaves nothing behind.
func (c *Cure) Close() (err error) {
	if c.episode != nil {
		err = c.episode.end()
	}
	if c.theatre != nil {
		err = errors.Join(err, c.theatre.close())
	}
	c.episode, c.theatre = nil, nil
	return err
}
