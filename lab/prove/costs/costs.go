// Package costs measures the profile of the key operations by shape of the ERP: the same operations on the same
// documents are carried out in each shape in turns, alone on the server, and the cost of each is counted.
//
// A side is a worker of one shape on one server, with a single connection and one user, who does what the users of the
// other sides do:
//
//	warm-up ─▶ round: for each operation, in an order that turns: side 1, side 2, … ─▶ … ─▶ medians and means
package costs

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"plimsoll/erp/operations"
	"plimsoll/lab/session"
	"plimsoll/lab/stats"
)

// Defaults of Options.
const (
	RoundsDefault = 30
	// warmRounds fill the caches and temp tables that a worker in service would have.
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
	Server string   // its name: vanilla, plimsoll
	DSN    string   // of the ERP's database on it
	Shape  string   // its name in the table
	Flags  []string // for the worker
}

// Profile holds the counts.
type Profile struct {
	Schema     string      `json:"schema"`
	Rounds     int         `json:"rounds"` // rounds completed
	Partial    bool        `json:"partial"`
	Operations []Operation `json:"operations"`
}

// Schema is the version of the JSON.
const Schema = "plimsoll.profile/1"

// Operation is one key operation on all sides, in order.
type Operation struct {
	ID    string    `json:"id"`
	Title string    `json:"title"`
	Sides []Figures `json:"sides"`
}

// Figures of one operation on one side. Counts are means, times and bytes medians, processor times means. What could
// not be read is null.
type Figures struct {
	Server string `json:"server"`
	Shape  string `json:"shape"`
	Count  int    `json:"count"`
	// Refused counts those that a control refused, which cost less than others.
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
	ServerMS   *float64 `json:"server_cpu_ms"` // of the single backend
	WorkerMS   *float64 `json:"worker_cpu_ms"`
}

// Run measures the profile. If ctx ends after at least one round, the profile is Partial and the error nil.
func Run(ctx context.Context, o Options) (p *Profile, err error) {
	if o.Rounds < 1 {
		o.Rounds = RoundsDefault
	}
	sides, closeAll, err := openSides(ctx, o)
	if err != nil {
		return nil, err
	}
	defer closeAll()
	all := operations.All()
	m := &measuring{Options: o, Profile: &Profile{Schema: Schema}, all: all, sides: sides,
		made: make([][]series, len(all))}
	for i := range m.made {
		m.made[i] = make([]series, len(sides))
	}
	began := time.Now()
	stopped, err := session.Session[int]{
		Next:  func() (int, bool) { return m.rounds, m.rounds < warmRounds+o.Rounds },
		Make:  m.round,
		Ended: func(int) { o.progress(m.rounds, began) },
	}.All(ctx)
	if err != nil {
		return nil, err
	}
	m.Partial = stopped != ""
	return m.finish(ctx)
}

// measuring is a profile under way.
type measuring struct {
	Options
	*Profile
	all    []operations.Operation
	sides  []*openSide
	made   [][]series // by operation and side
	rounds int        // those to warm up included
}

// round carries out each operation on each side.
func (m *measuring) round(ctx context.Context, round int) error {
	for i, op := range m.all {
		for _, side := range stats.Rotation(len(m.sides), 1, m.Seed+uint64(round)) {
			took, err := m.sides[side].play(ctx, op.ID, m.random(uint64(round*len(m.all)+i)),
				m.random(^uint64(round*len(m.all)+i)))
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case err != nil:
				return fmt.Errorf("%s on %s: %w", op.ID, m.sides[side].name(), err)
			case round >= warmRounds:
				m.made[i][side] = append(m.made[i][side], took)
			}
		}
	}
	if m.rounds++; round >= warmRounds {
		m.Profile.Rounds++
	}
	return nil
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

func (m *measuring) finish(ctx context.Context) (*Profile, error) {
	if m.Profile.Rounds == 0 {
		return nil, ctx.Err()
	}
	for i, op := range m.all {
		o := Operation{ID: op.ID, Title: op.Title}
		for side, s := range m.sides {
			f := m.made[i][side].figures()
			f.Server, f.Shape = s.side.Server, s.side.Shape
			o.Sides = append(o.Sides, f)
		}
		m.Operations = append(m.Operations, o)
	}
	return m.Profile, nil
}
