package site

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"plimsoll/erp/fill"
	"plimsoll/ground/host/dirs"
	"plimsoll/ground/host/machine"
	"plimsoll/ground/human"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/lab/load"
	"plimsoll/lab/prove/trial"
	"plimsoll/lab/run"
	"plimsoll/lab/run/store"
	"plimsoll/lab/system"
)

// Bench is the environment of an experiment. Zero sizes and durations leave the choice to the experiment.
type Bench struct {
	Clusters *cluster.Store
	Cluster  string   // for experiments on one cluster; made if missing
	Engine   string   // for new clusters
	Serve    []string // command of one application-server worker (lab/run)
	Agent    []string // command of one agent that makes a part of a load (lab/run/agents)
	Store    *store.Store
	Software string

	// DisturbedLimit of runs (lab/run); 0 turns the check off.
	DisturbedLimit float64

	Duration    time.Duration // of one turn
	Repetitions int           // turns of each side
	Users       int
	Documents   int  // in the base of experiments that make one of their own
	Threads     int  // that restore in parallel
	Full        bool // sizes of the report

	Disks []string // folders on other disks than that of the data

	// Say receives permanent lines, Step the progress (0..1). Both may be nil.
	Say  func(format string, args ...any)
	Step func(share float64, left time.Duration, note string)
}

func (b Bench) say(format string, args ...any) {
	if b.Say != nil {
		b.Say(format, args...)
	}
}

func (b Bench) step(share float64, left time.Duration, note string) {
	if b.Step != nil {
		b.Step(share, left, note)
	}
}

// Turn is the measured time of one turn.
func (b Bench) Turn(d time.Duration) time.Duration {
	if b.Duration != 0 {
		return b.Duration
	}
	return d
}

// Rounds is the number of turns of each side.
func (b Bench) Rounds(n int) int {
	if b.Repetitions != 0 {
		return b.Repetitions
	}
	return n
}

// Load fills in what all runs of an experiment share.
func (b Bench) Load(ctx context.Context, r *system.Rig, title string) (run.Options, error) {
	dsn := r.DSN().Secret()
	base, err := system.Look(ctx, dsn)
	return run.Options{
		Load: load.Default(), DSN: dsn, Serve: b.Serve, ServeEnv: []string{"PLIMSOLL_DSN=" + dsn},
		Title: title, Software: b.Software, DisturbedLimit: b.DisturbedLimit, Store: b.Store, Scale: base.String(),
		Profile: r.Profile(),
	}, err
}

// copiedShare of the free disk is what a base may take that is copied, and whose log comes on top.
const copiedShare = 0.25

// BaseScale of a base of the experiment's own, of which it makes copies: that of --documents, that of --full, or the
// usual one.
func (b Bench) BaseScale(usual, full float64) float64 { return b.ScaleWithin(copiedShare, usual, full) }

// ScaleWithin is the scale of --documents, or with --full what fits into a share of the free disk, or the usual one.
func (b Bench) ScaleWithin(share, usual, full float64) float64 {
	switch {
	case b.Documents != 0:
		return float64(b.Documents) / float64(fill.ReportedTotal())
	case b.Full:
		return fitting(share, usual, full)
	}
	return usual
}

// Machine reads this one's facts, with the disk on which bases lie.
func Machine() (machine.Facts, error) { return machine.Read(disk()) }

// DiskRoom says whether the disk on which bases lie has room for so many bytes.
func DiskRoom(bytes int64) error { return cluster.Room(disk(), bytes) }

// disk is that of the state folder, which may not be there yet.
func disk() (dir string) {
	dir = dirs.State()
	for parent := filepath.Dir(dir); parent != dir; dir, parent = parent, filepath.Dir(parent) {
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			break
		}
	}
	return dir
}

// fitting is as much of the full scale as a share of the free disk has room for, and no less than the usual one.
func fitting(share, usual, full float64) float64 {
	facts, err := Machine()
	if err != nil {
		return usual
	}
	return max(usual, min(full, fill.ScaleOf(int64(float64(facts.DiskFreeBytes)*share))))
}

// TurnsOf is the criterion that turns are long enough for a verdict.
func TurnsOf(turn, least time.Duration) trial.Criterion {
	return trial.Criterion{Of: trial.Given{As: "turns of at least " + human.Duration(least), Holds: turn >= least,
		Else: "turns are shorter"}, Confirm: trial.Measured()}
}
