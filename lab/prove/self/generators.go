package self

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"time"

	"plimsoll/ground/host/cpu"
	"plimsoll/ground/host/memory"
	"plimsoll/ground/host/process"
	"plimsoll/ground/human"
	"plimsoll/lab/prove/peers"
)

// Trial is a load as one generator carried it. All but its own report is seen from outside: requests are counted by the
// server, processor time and memory by the kernel.
type Trial struct {
	Load      string `json:"load"`
	Generator string `json:"generator"`
	// Requests that the server received; Due is how many there should have been, where the load says so.
	Requests int64 `json:"requests"`
	Due      int64 `json:"due,omitempty"`
	// Within the window in which costs are measured: requests a second, the generator's processor time for each of
	// them, and the most private memory that it had.
	PerS        *float64 `json:"requests_per_s,omitempty"`
	ProcessorUS *float64 `json:"processor_us_per_request,omitempty"`
	MemoryMB    *float64 `json:"memory_mb,omitempty"`
	// Report is the generator's own; of Truth what follows from what was planted.
	Report *peers.Report `json:"report,omitempty"`
	// Missing says why there are no figures.
	Missing string `json:"missing,omitempty"`
}

// Truth stands among the generators of a load whose latencies are known.
const Truth = "who was due waited"

// generatorLoad is a load that all generators carry.
type generatorLoad struct {
	name, behaviour string
	users           int
	think           time.Duration
	rate            float64 // requests a second; 0: users set the pace
	lasts           time.Duration
}

// The loads: what a user costs, what a request costs, and what is reported of a server that stands still.
var generatorLoads = []generatorLoad{
	{"1,000 users who think 5 s", "plain", 1000, 5 * time.Second, 0, costsLast + 5*time.Second},
	{"10,000 users who think 10 s", "plain", 10_000, 10 * time.Second, 0, costsLast + 10*time.Second},
	{"50 users who do not think", "plain", 50, 0, 0, costsLast},
	{"100 a second by 10 users, no answer for 5 of 14 s", "stall", 10, 0, 100, stallLasts},
	{"100 a second by 400 users, no answer for 5 of 14 s", "stall", 400, 0, 100, stallLasts},
}

const (
	// Costs are measured within the window. It begins when every user has called once and compilers are warm.
	costWarm   = 4 * time.Second
	costWindow = 6 * time.Second
	costsLast  = costWarm + costWindow + 10*time.Second
	// usersMost is how long it may take until all users have called, beyond the time to think.
	usersMost = time.Minute
	// generatorStart is how long the slowest takes to start and to report.
	generatorStart = 4 * time.Second
)

// generatorsTake is how long all trials take.
func generatorsTake() (sum time.Duration) {
	for _, load := range generatorLoads {
		for _, tool := range slices.Concat([]peers.Tool{{Thinks: true}}, peers.All) {
			if load.carriedBy(tool) {
				sum += load.lasts + generatorStart
			}
		}
	}
	return sum
}

func (l generatorLoad) carriedBy(tool peers.Tool) bool { return tool.Thinks || l.think == 0 }

// truth of a server that stands still while requests arrive evenly. One that is due in the standstill waits for the
// rest of it, so that a wait longer than w has the share (stood-w)/lasts. Otherwise an answer takes the service.
func (l generatorLoad) truth() peers.Report {
	stood, lasts, service := human.MS(stallTo-stallFrom), human.MS(l.lasts), human.MS(stallService)
	wait := func(p float64) float64 { return service + max(0, stood-(1-p)*lasts) }
	return peers.Report{Answers: l.due(), Mean: service + stood*stood/2/lasts, P50: wait(0.5), P95: wait(0.95),
		P99: wait(0.99), Max: wait(1)}
}

func (l generatorLoad) due() int64 { return int64(math.Round(l.rate * l.lasts.Seconds())) }

// compareGenerators lets each of them carry the same loads, one after the other. Only ours is judged, by what must be
// exact.
func compareGenerators(ctx context.Context, s *stage) (out outcome, err error) {
	tools := slices.Concat([]peers.Tool{s.ours()}, peers.All)
	programs, missing, err := peerPrograms(ctx, tools)
	if err != nil {
		return out, err
	}
	for _, load := range generatorLoads {
		if load.rate > 0 {
			truth := load.truth()
			out.trials = append(out.trials, Trial{Load: load.name, Generator: Truth, Requests: load.due(),
				Due: load.due(), Report: &truth})
		}
		for _, tool := range tools {
			if !load.carriedBy(tool) {
				continue
			}
			t := Trial{Load: load.name, Generator: tool.Label(), Due: load.due()}
			if why := missing[tool.Name]; why != nil {
				t.Missing = notInstalled(why)
			} else if err := t.carry(ctx, s, tool, programs[tool.Name], load); err != nil {
				return out, err
			}
			out.trials = append(out.trials, t)
			if tool.Name == ourName {
				out.figures = append(out.figures, t.judged(load)...)
			}
		}
	}
	return out, nil
}

// judged are the figures of ours: it accounts for each request that the server received, and who was due while the
// server stood still has waited for it.
func (t Trial) judged(load generatorLoad) []Figure {
	if t.Report == nil {
		return []Figure{states(load.name, "a report", t.Missing, false)}
	}
	all := []Figure{equal(load.name+", requests", t.Requests, t.Report.Answers+t.Report.Failed)}
	if load.rate > 0 {
		truth := load.truth()
		all = append(all, t.waited(load, "p95", truth.P95, t.Report.P95),
			t.waited(load, "p99", truth.P99, t.Report.P99))
	}
	return all
}

// waited so long at least. A quantile lies between two arrivals, and the clocks of server and generator begin apart.
func (t Trial) waited(load generatorLoad, name string, truth, reported float64) Figure {
	least := truth - 5*1000/load.rate
	return states(load.name+", "+name, fmt.Sprintf("at least %s ms", short(least)), short(reported)+" ms",
		reported >= least)
}

// carry the load on a server of its own, whose ports no earlier one has used up.
func (t *Trial) carry(ctx context.Context, s *stage, tool peers.Tool, program string, load generatorLoad) error {
	server, err := s.plant(ctx, load.behaviour, "")
	if err != nil {
		return err
	}
	defer server.Stop()
	job := peers.Job{Folder: filepath.Join(s.dir, fmt.Sprintf("generator-%s-%d-%g", tool.Name, load.users, load.rate)),
		Base: server.URL, Users: load.users, Think: load.think, Rate: load.rate, Lasting: load.lasts}
	report, err := t.observe(ctx, server, tool, program, job)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		t.Missing = err.Error()
		return nil
	}
	t.Report = &report
	err = server.settle(ctx)
	t.Requests = server.served()
	return err
}

// observe a generator from its start to its report.
func (t *Trial) observe(ctx context.Context, server *server, tool peers.Tool, program string, job peers.Job) (
	r peers.Report, err error) {
	child, err := startPeer(tool, program, job)
	if err != nil {
		return r, err
	}
	defer endPeer(child)
	if job.Rate == 0 {
		if err := t.watch(ctx, child, server, job); err != nil {
			return r, withComplaint(err, job)
		}
	}
	return awaitPeer(ctx, child, tool, job)
}

// watch what a generator costs once all its users are active.
func (t *Trial) watch(ctx context.Context, child *process.Child, server *server, job peers.Job) error {
	for began := time.Now(); server.served() < int64(job.Users); {
		if most := job.Think + usersMost; time.Since(began) > most {
			return fmt.Errorf("only %d requests of %d users came within %s", server.served(), job.Users, most)
		}
		if err := errors.Join(running(ctx, child, lookEvery), server.askCounts(ctx)); err != nil {
			return err
		}
	}
	if err := running(ctx, child, costWarm); err != nil {
		return err
	}
	from, err := momentOf(ctx, child, server)
	if err != nil {
		return err
	}
	var memoryMost int64
	for time.Since(from.at) < costWindow {
		if err := running(ctx, child, lookEvery); err != nil {
			return err
		}
		private, err := memory.Tree(child.ID())
		if err != nil {
			return err
		}
		memoryMost = max(memoryMost, private)
	}
	to, err := momentOf(ctx, child, server)
	if err != nil {
		return err
	}
	requests := float64(to.requests - from.requests)
	perS, mb := requests/to.at.Sub(from.at).Seconds(), float64(memoryMost)/1e6
	each := (to.used - from.used).Seconds() * 1e6 / max(1, requests)
	t.PerS, t.ProcessorUS, t.MemoryMB = &perS, &each, &mb
	return nil
}

const lookEvery = 100 * time.Millisecond

// running waits while the generator runs. One that has ended is an error.
func running(ctx context.Context, child *process.Child, d time.Duration) error {
	over := time.NewTimer(d)
	defer over.Stop()
	select {
	case <-child.Exited():
		return fmt.Errorf("it stopped too early: %w", cmp.Or(child.Err(), errors.New("exit status 0")))
	case <-ctx.Done():
		return ctx.Err()
	case <-over.C:
		return nil
	}
}

// moment of a trial.
type moment struct {
	at       time.Time
	used     time.Duration // processor time of the generator
	requests int64
}

func momentOf(ctx context.Context, child *process.Child, server *server) (m moment, err error) {
	if m.used, err = cpu.Process(child.ID().PID); err != nil {
		return m, err
	}
	m.at = time.Now()
	err = server.askCounts(ctx)
	m.requests = server.served()
	return m, err
}
