package slowness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/host/machine"
	"plimsoll/ground/human"
	"plimsoll/ground/postgres"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/problem"
	"plimsoll/lab/diagnose"
	"plimsoll/lab/prove/delay"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
	"plimsoll/lab/run/worker"
)

// Sizes of the office.
const (
	officeScale  = 0.002 // of the report's base: 20,000 documents
	officeMaking = 40 * time.Second
	officeStop   = time.Minute
	// officeDelay of a round trip, where the network between the tiers is slow: as in C37. The diagnosis takes half of
	// it for a program's own time.
	officeDelay = time.Millisecond
)

// office is our ERP at work: a server of its own with a filled base, of which each desk has a copy.
type office struct {
	bench site.Bench
	scale float64 // of the report's base
	// delays of networks of their own, in which desks are apart.
	delays   []time.Duration
	networks map[time.Duration]*delay.Network
	server   *cluster.Postmaster
	base     *site.SeparateBase
	copies   int
}

// newOffice with networks of these delays.
func newOffice(b site.Bench, delays ...time.Duration) *office {
	return &office{bench: b, scale: officeScale, delays: delays}
}

// part on an office. Its sides are desks.
func (o *office) part(series ...trial.Series) trial.Part {
	return trial.Part{Rounds: o.bench.Rounds(rounds), Turn: o.bench.Turn(turn), Between: 3 * time.Second,
		Series: series, Open: o.open}
}

func (o *office) open(ctx context.Context, r *trial.Record) error {
	if err := o.begin(ctx, r.AtEnd); err != nil {
		return err
	}
	here, _ := machine.Describe("/")
	r.Condition("engine", o.server.Cluster().Server().String())
	r.Condition("machine", fmt.Sprintf("%d cores of %s, for database, application and users together; %s", here.Cores,
		here.CPU, shapeText()))
	return nil
}

func (o *office) begin(ctx context.Context, atEnd func(func() error)) error {
	own, err := site.NewOwnCluster(ctx, o.bench, "prove-office", cluster.Spec{Memory: "512MB"}, atEnd)
	if err != nil {
		return err
	}
	if o.base, err = own.Filled(ctx, o.scale); err != nil {
		return err
	}
	options, err := o.openNetworks(own, atEnd)
	if err != nil {
		return err
	}
	if o.server, err = own.Start(ctx, options); err != nil {
		return err
	}
	atEnd(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), officeStop)
		defer cancel()
		return o.server.Stop(ctx, cluster.Immediate)
	})
	return nil
}

// openNetworks in which the server listens.
func (o *office) openNetworks(own *site.OwnCluster, atEnd func(func() error)) (options cluster.StartOptions,
	err error) {
	if len(o.delays) == 0 {
		return options, nil
	}
	o.networks = map[time.Duration]*delay.Network{}
	for _, d := range o.delays {
		if o.networks[d], err = delay.OpenNetwork(d); err != nil {
			return options, problem.New(problem.Environment, err, "run it as root")
		}
		atEnd(o.networks[d].Close)
	}
	return own.ListenWithin(slices.Collect(maps.Values(o.networks))...)
}

// copy of the base.
func (o *office) copy(ctx context.Context) (dsn string, err error) {
	o.copies++
	name, c := fmt.Sprintf("desk_%d", o.copies), o.server.Cluster()
	err = postgres.With(ctx, c.DSN("").Secret(), func(conn *pgx.Conn) error {
		return postgres.CopyDatabase(ctx, conn, o.base.Name, name)
	})
	return c.DSN(name).Secret(), err
}

// arrangement of a desk.
type arrangement struct {
	users   int
	threads int // of the worker; 0: one for each processor
	// network of its own in which the worker is; nil: beside the database.
	network *delay.Network
}

// desk is a worker of the ERP in the classic shape, and users who post documents there.
type desk struct {
	bench   site.Bench
	dsn     string // as seen from here
	worker  *worker.Worker
	posters *site.Posters
	trip    time.Duration // of an empty query between worker and database; 0: not measured
}

// newDesk on a base; it ends with atEnd.
func newDesk(ctx context.Context, b site.Bench, dsn string, a arrangement, atEnd func(func() error)) (*desk, error) {
	d := &desk{bench: b, dsn: dsn}
	accounts, its := site.NewAccounts(), dsn
	if a.threads > 0 {
		b.Serve = append([]string{"/usr/bin/env", fmt.Sprintf("GOMAXPROCS=%d", a.threads)}, b.Serve...)
	}
	var err error
	if a.network != nil {
		if its, d.trip, err = site.Within(ctx, a.network, dsn); err != nil {
			return nil, err
		}
		b.Serve, accounts = a.network.Command(b.Serve), site.NewAccountsThrough(a.network.Dial)
	}
	if d.worker, err = b.Worker(ctx, its, "--shape", "classic"); err != nil {
		return nil, err
	}
	atEnd(func() error { d.worker.Stop(); return nil })
	atEnd(func() error { accounts.Close(); return nil })
	if d.posters, err = accounts.LogIn(ctx, d.worker.URL, a.users); err != nil {
		return nil, errors.Join(err, site.CheckAlive(d.worker))
	}
	return d, d.posters.Warm(ctx)
}

// beforeTheEnd of the load a diagnosis is over: its process begins later than the load, and what it watches without one
// is an idle machine.
func beforeTheEnd(length time.Duration) time.Duration { return max(time.Second, length*4/5) }

// diagnosed is what 'plimsoll diagnose' says of the server, in a process of its own as a person has it: it knows
// nothing of the experiment, and the load is that of others.
func (d *desk) diagnosed(ctx context.Context, length time.Duration) (*diagnose.Diagnosis, error) {
	cmd := exec.CommandContext(ctx, d.bench.Serve[0], "diagnose", "--json", "--duration",
		beforeTheEnd(length).String())
	cmd.Env = append(os.Environ(), "PLIMSOLL_DSN="+d.dsn)
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		return nil, errors.Join(ctx.Err(), fmt.Errorf("plimsoll diagnose: %w: %s", err,
			human.LastLines(complaints.String(), 1)))
	}
	found := &diagnose.Diagnosis{}
	if err := json.Unmarshal(out, found); err != nil {
		return nil, fmt.Errorf("read what plimsoll diagnose says: %w", err)
	}
	return found, nil
}

// watched has the users work, and diagnoses meanwhile.
func (d *desk) watched(ctx context.Context, length, think time.Duration, seed int,
	diagnosed func(context.Context, time.Duration) (*diagnose.Diagnosis, error)) (times []time.Duration,
	found *diagnose.Diagnosis, err error) {
	err = site.AllAtOnce(2, func(who int) (err error) {
		if who == 0 {
			times, err = d.posters.PlayThinking(ctx, length, think, uint64(seed))
		} else {
			found, err = diagnosed(ctx, length)
		}
		return err
	})
	return times, found, err
}

// busyOf is how busy the machine was, in percent, as the diagnosis saw it; unknown without it.
func busyOf(f trial.Figures, d *diagnose.Diagnosis) {
	if d.Host != nil && d.Host.Busy != nil {
		f[busyCores] = percentOf(d.Host.Busy)
	}
}

// refuseNoNetwork of its own.
func refuseNoNetwork(claim string) func(site.Bench) error {
	return func(site.Bench) error {
		if why := delay.Impossible(); why != "" {
			return problem.New(problem.Environment, fmt.Errorf("%s cannot be had here, because %s", claim, why),
				"run it as root on a kernel with network namespaces and tun devices")
		}
		return nil
	}
}

// namesNetwork says whether the diagnosis names the network, and not the program alone.
func namesNetwork(d *diagnose.Diagnosis) bool {
	for _, f := range d.Findings {
		if f.Name == networkGaps && f.Title != diagnose.ProgramGaps {
			return true
		}
	}
	return false
}

// contradicts says whether the diagnosis found this pair of measurements to disagree.
func contradicts(d *diagnose.Diagnosis, pair string) bool {
	for _, c := range d.Contradictions {
		if c.Name == pair && c.Verdict == diagnose.Contradicts {
			return true
		}
	}
	return false
}
