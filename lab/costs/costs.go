// Package costs owns the profile of the key operations by shape of the ERP: the same operations, on the same documents, are carried out
// in each shape one after another and in turns, alone on the server, and what each took is counted.
//
// A side is a worker of one shape on one server, with a single connection, and one user of its own who does what the users of the others do:
//
//	warm-up ─▶ round: for each operation, in an order that turns: side 1, side 2, … ─▶ … ─▶ medians and means
package costs

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"plimsoll/erp/operations"
	"plimsoll/lab/ratio"
)

// Defaults of Options.
const (
	RoundsDefault = 30
	// warmRounds make the caches and temp tables that a worker has in service.
	warmRounds = 3
)

// Options of a profile.
type Options struct {
	Serve  []string // command of one worker (lab/run)
	Sides  []Side
	Rounds int
	Seed   uint64
	// Progress may be nil.
	Progress func(share float64, left time.Duration, note string)
}

// Side is a shape on a server.
type Side struct {
	Server string   // a name for it: vanilla, plimsoll
	DSN    string   // of the ERP's database on it
	Shape  string   // as the table names it
	Flags  []string // for the worker
}

// Profile is what was counted.
type Profile struct {
	Schema     string      `json:"schema"`
	Rounds     int         `json:"rounds"` // that were made
	Partial    bool        `json:"partial"`
	Operations []Operation `json:"operations"`
}

// Schema names the form of the JSON.
const Schema = "plimsoll.profile/1"

// Operation is one key operation on all sides, in their order.
type Operation struct {
	ID    string    `json:"id"`
	Title string    `json:"title"`
	Sides []Figures `json:"sides"`
}

// Figures of one operation on one side. Counts are means, times and bytes medians, processor times means; what could not be read is null.
type Figures struct {
	Server string `json:"server"`
	Shape  string `json:"shape"`
	Count  int    `json:"count"`
	// Refused of them by a control, which costs less than what is done.
	Refused int `json:"refused"`

	Statements float64  `json:"statements"`
	RoundTrips float64  `json:"round_trips"`
	TempTables float64  `json:"temp_tables"`
	Truncates  float64  `json:"truncates"`
	EmptyShare *float64 `json:"empty_share"`
	Rows       float64  `json:"rows"`
	WALBytes   *float64 `json:"wal_bytes"`
	LatencyMS  float64  `json:"latency_ms_p50"`
	LatencyP95 float64  `json:"latency_ms_p95"`
	ServerMS   *float64 `json:"server_cpu_ms"` // of the one backend
	WorkerMS   *float64 `json:"worker_cpu_ms"`
}

// Run makes the profile. When ctx ends after a round was made, the profile is Partial and the error nil.
func Run(ctx context.Context, o Options) (p *Profile, err error) {
	if o.Rounds < 1 {
		o.Rounds = RoundsDefault
	}
	seats, leave, err := sit(ctx, o)
	if err != nil {
		return nil, err
	}
	defer leave()
	all := operations.All()
	made := make([][]series, len(all)) // by operation and side
	for i := range made {
		made[i] = make([]series, len(seats))
	}
	p = &Profile{Schema: Schema}
	began := time.Now()
	for round := range warmRounds + o.Rounds {
		for i, op := range all {
			for _, side := range ratio.Rotation(len(seats), 1, o.Seed+uint64(round)) {
				took, err := seats[side].play(ctx, op.ID, o.random(uint64(round*len(all)+i)), o.random(^uint64(round*len(all)+i)))
				if ctx.Err() != nil {
					p.Partial = true
					return p.finish(ctx, all, made, seats)
				}
				if err != nil {
					return nil, fmt.Errorf("%s on %s: %w", op.ID, seats[side].name(), err)
				}
				if round >= warmRounds {
					made[i][side] = append(made[i][side], took)
				}
			}
		}
		if round >= warmRounds {
			p.Rounds++
		}
		o.progress(round+1, began)
	}
	return p.finish(ctx, all, made, seats)
}

func (o Options) random(n uint64) *rand.Rand { return rand.New(rand.NewPCG(o.Seed, n)) }

func (o Options) progress(done int, began time.Time) {
	if o.Progress == nil {
		return
	}
	all := warmRounds + o.Rounds
	note := fmt.Sprintf("round %d of %d", max(0, done-warmRounds), o.Rounds)
	o.Progress(float64(done)/float64(all), time.Since(began)/time.Duration(done)*time.Duration(all-done), note)
}

func (p *Profile) finish(ctx context.Context, all []operations.Operation, made [][]series, seats []*seat) (*Profile, error) {
	if p.Rounds == 0 {
		return nil, ctx.Err()
	}
	for i, op := range all {
		o := Operation{ID: op.ID, Title: op.Title}
		for side, s := range seats {
			f := made[i][side].figures()
			f.Server, f.Shape = s.side.Server, s.side.Shape
			o.Sides = append(o.Sides, f)
		}
		p.Operations = append(p.Operations, o)
	}
	return p, nil
}
