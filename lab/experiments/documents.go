package experiments

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"plimsoll/erp"
	"plimsoll/erp/client"
	"plimsoll/erp/operations"
	"plimsoll/lab/claims"
	"plimsoll/platform/database"
	"plimsoll/platform/server"
	"plimsoll/platform/shape"
)

// documents is what a tweak of the classic shape does for users who post documents: the ERP's own operations instead of bare query batches.
type documents struct {
	sides   sides
	made    []series
	partial bool
}

// documentWarmings is how often each operation is carried out by each user before it is measured.
const documentWarmings = 3

// warmSeed is none of a turn's: from the same chance would come the same idempotency keys.
const warmSeed = 1 << 32

// onDocuments measures the classic shape against itself with each of the tweaks.
func (b Bench) onDocuments(ctx context.Context, dsn string, turn time.Duration, rounds int, tweaks ...shape.Tweaks) (d documents, err error) {
	d.sides = sides{turn: turn, rounds: rounds}
	var offices []*office
	defer func() {
		for _, o := range offices {
			o.close()
		}
	}()
	for _, t := range append([]shape.Tweaks{{}}, tweaks...) {
		s, err := shape.New(shape.Classic, t)
		if err != nil {
			return d, err
		}
		o, err := open(ctx, dsn, s)
		if err != nil {
			return d, fmt.Errorf("%s: %w", s, err)
		}
		offices = append(offices, o)
		d.sides.names = append(d.sides.names, s.String())
	}
	for _, o := range offices {
		if err := o.warm(ctx); err != nil {
			return d, err
		}
	}
	d.sides.run = func(ctx context.Context, side, turn int) (figures, error) {
		times, err := offices[side].play(ctx, d.sides.turn, uint64(turn))
		if err != nil || len(times) == 0 {
			return nil, err
		}
		return figures{"p99": quantile(times, 0.99), "median": quantile(times, 0.5), "documents": float64(len(times)) / d.sides.turn.Seconds()}, nil
	}
	d.made, d.partial, err = d.sides.measure(ctx, b)
	return d, err
}

// into adds what was measured to a finding; the verdict is not touched.
func (d documents) into(f *claims.Finding, where string) {
	for i := 1; i < len(d.sides.names); i++ {
		f.Measured += fmt.Sprintf("; posted documents%s, %s: documents/s %s, median %s, p99 %s", where, d.sides.names[i],
			against(d.made[0], d.made[i], "documents"), against(d.made[0], d.made[i], "median"), against(d.made[0], d.made[i], "p99"))
	}
	for _, figure := range d.sides.listed(d.made, map[string]string{"p99": "ms", "median": "ms", "documents": "1/s"}) {
		figure.Name = "posted documents" + where + ", " + figure.Name
		f.Figures = append(f.Figures, figure)
	}
	f.Partial = f.Partial || d.partial
	const name = "posted documents"
	if !slices.ContainsFunc(f.Conditions, func(c claims.Condition) bool { return c.Name == name }) {
		f.Conditions = append(f.Conditions, claims.Condition{Name: name, Text: fmt.Sprintf(
			"%d users who post, back to back, each key operation that writes documents as often as its weight says, over HTTP on a worker in this process; the classic shape with one tweak against without; told beside the verdict, which is on the bare batch", clients)})
	}
}

// office is a worker of one shape in this process, and the users who post there.
type office struct {
	db       *database.Database
	stop     func()
	client   *client.Client
	carrier  *http.Transport
	sessions []*client.Session
	writing  []operations.Operation
}

func open(ctx context.Context, dsn string, s shape.Shape) (o *office, err error) {
	o = &office{stop: func() {}, carrier: &http.Transport{DisableCompression: true}}
	defer func() {
		if err != nil {
			o.close()
		}
	}()
	for _, op := range operations.All() {
		if strings.HasSuffix(op.ID, ".post") || strings.HasSuffix(op.ID, ".change") {
			o.writing = append(o.writing, op)
		}
	}
	if o.db, err = database.Open(ctx, dsn, s.Options(database.Options{Connections: clients})); err != nil {
		return o, err
	}
	base, err := o.serve(s)
	if err != nil {
		return o, err
	}
	o.client = client.New(client.Options{Transport: o.carrier, RefusedShare: -1})
	for n := range clients {
		session, err := o.client.Login(ctx, base, client.UserCode(1+n))
		if err != nil {
			return o, err
		}
		o.sessions = append(o.sessions, session)
	}
	return o, nil
}

func (o *office) serve(s shape.Shape) (base string, err error) {
	worker, err := erp.NewServer(server.Config{Database: o.db, Shape: s, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		return "", err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	serving, stop := context.WithCancel(context.Background())
	var ended sync.WaitGroup
	ended.Add(1)
	go func() {
		defer ended.Done()
		_ = worker.Serve(serving, listener) // that it does not serve any more, its users are told
	}()
	o.stop = func() { stop(); ended.Wait() }
	return "http://" + listener.Addr().String(), nil
}

func (o *office) close() {
	o.carrier.CloseIdleConnections()
	o.stop()
	if o.db != nil {
		o.db.Close()
	}
}

func (o *office) warm(ctx context.Context) error {
	return allAtOnce(len(o.sessions), func(n int) error {
		for round := range documentWarmings {
			for i, op := range o.writing {
				if err := o.do(ctx, n, op, rand.New(rand.NewPCG(warmSeed+uint64(round), uint64(i)))); err != nil {
					return fmt.Errorf("warm up: %w", err)
				}
			}
		}
		return nil
	})
}

func (o *office) do(ctx context.Context, user int, op operations.Operation, rng *rand.Rand) error {
	outcome, err := o.client.Do(ctx, o.sessions[user], op.ID, rng)
	if outcome > client.Refused {
		return fmt.Errorf("%s: %w", op.ID, err)
	}
	return nil
}

// play has every user post back to back for some time; the answer is what each document took, sorted.
func (o *office) play(ctx context.Context, d time.Duration, seed uint64) (all []time.Duration, err error) {
	var mutex sync.Mutex
	end := time.Now().Add(d)
	err = allAtOnce(len(o.sessions), func(n int) error {
		rng := rand.New(rand.NewPCG(seed, uint64(n)))
		var mine []time.Duration
		for began := time.Now(); began.Before(end) && ctx.Err() == nil; began = time.Now() {
			if err := o.do(ctx, n, o.pick(rng), rng); err != nil {
				return err
			}
			mine = append(mine, time.Since(began))
		}
		mutex.Lock()
		defer mutex.Unlock()
		all = append(all, mine...)
		return nil
	})
	slices.Sort(all)
	return all, err
}

// pick an operation by its weight.
func (o *office) pick(rng *rand.Rand) operations.Operation {
	sum := 0.0
	for _, op := range o.writing {
		sum += op.Weight
	}
	at := rng.Float64() * sum
	for _, op := range o.writing {
		if at -= op.Weight; at < 0 {
			return op
		}
	}
	return o.writing[len(o.writing)-1]
}

// then makes the second part of an experiment: its progress follows that of the first, which took so much of the whole.
func (b Bench) then(first float64) (part1, part2 Bench) {
	part1, part2 = b, b
	part1.Step = func(share float64, left time.Duration, note string) { b.step(share*first, left, note) }
	part2.Step = func(share float64, left time.Duration, note string) {
		b.step(first+share*(1-first), left, "posted documents: "+note)
	}
	return part1, part2
}

// andDocuments adds to a finding of the bare batch what tweaks do for posted documents; a finding that is partial already stays as it is.
func (b Bench) andDocuments(ctx context.Context, f claims.Finding, dsn, where string, turn time.Duration, rounds int, tweaks ...shape.Tweaks) (claims.Finding, error) {
	if f.Partial {
		return f, nil
	}
	d, err := b.onDocuments(ctx, dsn, turn, rounds, tweaks...)
	if ctx.Err() != nil && !d.partial {
		f.Partial = true // the first part is whole
		return f, nil
	}
	if err != nil {
		return f, err
	}
	d.into(&f, where)
	return f, nil
}
