package system

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/identity"
	"plimsoll/ground/problem"
	"plimsoll/lab/load/onec"
	"plimsoll/lab/load/scenario"
	"plimsoll/lab/run"
	"plimsoll/platform/worker/shape"
)

// System is what a load is put on: a database, and the application servers on it.
type System struct {
	Name string // in results
	Target
	Shape Shape
	// Outfit of a 1C load.
	Outfit onec.Outfit
	// WorkerFlags are further flags of its application servers.
	WorkerFlags []string
	// Run configures each of its runs. Up sets DSN, Profile, Scale and Serve.
	Run run.Options
	// Reset is how its database returns to the same state before each run.
	Reset Reset

	rig  *Rig // nil: its server is not ours to start and stop
	base Base // of the ERP, or of 1C
}

// Target is the database that is meant.
type Target struct {
	Cluster string // of this machine; empty: the one that runs, or one that Up creates
	Engine  string // that a missing cluster is created with
	DSN     string // of a database elsewhere: then no cluster is meant
}

// String names the target without secrets.
func (t Target) String() string {
	if t.DSN == "" {
		return t.Cluster
	}
	name, err := identity.NameOf(t.DSN)
	if err != nil {
		return "server of --dsn" // which cannot be read: nothing runs there
	}
	return name
}

// Database is the connection string of a target that runs: of the ERP's database, if its cluster has one.
func (t Target) Database(ctx context.Context, clusters *cluster.Store) (dsn string, err error) {
	if t.DSN != "" {
		return t.DSN, nil
	}
	c, err := clusters.Running(ctx, t.Cluster)
	if err != nil {
		return "", problem.WithHint(err, "name a database with --dsn, or start a cluster with 'plimsoll up'")
	}
	return DatabaseOf(ctx, c)
}

// On is the same system on another configuration: CLUSTER+SHAPE, or CLUSTER alone, which has the shape of this one.
// The shape of a 1C load is its outfit; a load of neither has none.
func (y System) On(text string) (_ System, err error) {
	y.Name = strings.TrimSpace(text)
	name, shapeName, has := strings.Cut(y.Name, "+")
	y.Target = Target{Cluster: name}
	switch {
	case has && y.OneC():
		y.Outfit = onec.Outfit(shapeName)
	case has:
		y.Shape.Name = shape.Name(shapeName)
	}
	switch {
	case name == "":
		err = problem.New(problem.Usage, fmt.Errorf("%q has no cluster", text), "such as plimsoll+lean")
	case has && y.OneC() && slices.Contains(onec.Outfits, y.Outfit):
	case has && y.OneC():
		err = problem.New(problem.Usage, fmt.Errorf("%q is no outfit of a 1C load", shapeName),
			"there are: "+onec.Names())
	case has && !slices.Contains(shape.Names, y.Shape.Name):
		err = noShape(shapeName)
	case has && !y.ERP():
		err = problem.New(problem.Usage, fmt.Errorf("%s: the scenario has no ERP, so there is no shape", y.Name),
			"name clusters alone")
	}
	return y, err
}

func noShape(name string) error {
	var names []string
	for _, one := range shape.Names {
		names = append(names, string(one))
	}
	return problem.New(problem.Usage, fmt.Errorf("%q is not a shape of the ERP", name),
		human.NearestHint(name, names, "there are: "+strings.Join(names, ", ")))
}

// CheckRequests refuses a system without a database of its own, or with application servers that run already, if its
// scenario cannot be played so.
func (y System) CheckRequests() error {
	s := y.Run.Scenario
	switch {
	case s.Application == scenario.ERP:
		return problem.New(problem.Usage, errors.New("the scenario is played by application servers that this command "+
			"starts"), "name a system, such as plimsoll+lean, or give a scenario with application = \"none\"")
	case y.Target == Target{} && s.NeedsDatabase():
		return problem.New(problem.Usage, errors.New("the scenario has SQL and so needs a database"),
			"name a system, or give a connection string")
	}
	return nil
}

// ServerLog is where the local cluster that it runs on logs; "" where there is none.
func (y System) ServerLog() string {
	if y.rig == nil {
		return ""
	}
	return y.rig.Cluster().LogFile()
}

// OneC says whether its users use a 1C base.
func (y System) OneC() bool { return y.Run.Scenario.Application == scenario.OneC }

// ERP says whether its users use the ERP.
func (y System) ERP() bool { return y.Run.Scenario.Application == scenario.ERP }
