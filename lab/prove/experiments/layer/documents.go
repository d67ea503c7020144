package layer

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/erp"
	"plimsoll/erp/client"
	"plimsoll/erp/operations"
	"plimsoll/ground/postgres"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
	"plimsoll/platform/data/database"
	"plimsoll/platform/worker/server"
	"plimsoll/platform/worker/shape"
)

// documentWarmings is how often each user carries out each operation before it is measured. Tests need one.
var documentWarmings = 3

const (
	// warmSeed differs from the seeds of all turns: the same random numbers would give the same idempotency keys.
	warmSeed = 1 << 32
	// workerSeed is the bit from which a worker's number stands in its seeds.
	workerSeed = 40
)

// postedTitle begins the names of the figures of posted documents.
const postedTitle = "posted documents"

// documentRate is documents per second.
const documentRate = "documents"

// withoutThinking describes the load of users without think time, on operations of one kind.
func withoutThinking(kind string) string {
	return fmt.Sprintf("%d users without think time, over HTTP on a worker in this process; each key operation that "+
		"%s occurs in proportion to its weight", site.Clients, kind)
}

// postedDocuments measures tweaks of the classic shape for users who post documents, in turns like the batch of
// queries, but with the ERP's own operations.
func postedDocuments(server *site.Address, bare trial.Part, tweaks ...shape.Tweaks) trial.Part {
	p := trial.Part{Name: postedTitle, Title: postedTitle, Unjudged: true, Rounds: bare.Rounds, Turn: bare.Turn,
		Series: []trial.Series{{Name: site.P99Time, Unit: "ms"}, {Name: site.MedianTime, Unit: "ms"},
			{Name: documentRate, Unit: "1/s"}}}
	if bare.Name != "" {
		p.Name += ", " + bare.Name
	}
	// All sides work on one base. The users of all share what they know of it: else one side would change a document
	// that the other is about to invoice as it was.
	one := sync.OnceValue(newAccounts)
	for i, tweak := range append([]shape.Tweaks{{}}, tweaks...) {
		s, err := shape.New(shape.Classic, tweak)
		if err != nil {
			panic(err) // a mistake in the declaration
		}
		p.Sides = append(p.Sides, postingSide(s, server, one, p.Turn))
		if i == 0 {
			continue
		}
		against := func(series string) trial.Ratio {
			return trial.Ratio{Of: trial.At(s.String(), series).In(p.Name),
				To: trial.At(p.Sides[0].Name, series).In(p.Name)}
		}
		p.Measured = append(p.Measured, trial.Say("%s, %s: documents/s %s, median %s, p99 %s", trial.Title(p.Name), s,
			against(documentRate), against(site.MedianTime), against(site.P99Time)))
	}
	return p
}

// postingSide has users post documents on a worker of one shape.
func postingSide(s shape.Shape, server *site.Address, from func() *accounts, turn time.Duration) trial.Side {
	return trial.Side{Name: s.String(), Open: func(ctx context.Context, r *trial.Record) (trial.Turn, error) {
		w, err := openPosting(ctx, server.DSN, s, from())
		if err != nil {
			return nil, err
		}
		r.Close(w.close)
		if err := w.warm(ctx); err != nil {
			return nil, err
		}
		return w.turn(turn, documentRate), nil
	}}
}

// turn has every user work for so long; its figures are the rate, under this name, and the times.
func (w *postingWorker) turn(length time.Duration, rate string) trial.Turn {
	return func(ctx context.Context, n int) (trial.Figures, error) {
		times, err := w.play(ctx, length, uint64(n))
		if err != nil || len(times) == 0 {
			return nil, err
		}
		return trial.Figures{rate: float64(len(times)) / length.Seconds(), site.MedianTime: site.Percentile(times, 0.5),
			site.P99Time: site.Percentile(times, 0.99)}, nil
	}
}

// accounts of the users of all workers on one base.
type accounts struct {
	client    *client.Client
	transport *http.Transport
	workers   uint64 // that they have been given
}

func newAccounts() *accounts {
	transport := &http.Transport{DisableCompression: true}
	return &accounts{client: client.New(client.Options{Transport: transport, RefusedShare: -1}), transport: transport}
}

// postingWorker is a worker of one shape in this process, with sessions of the users.
type postingWorker struct {
	db       *database.Database
	stop     func()
	accounts *accounts
	seed     uint64 // differs between workers, since the same random numbers give the same idempotency keys
	sessions []*client.Session
	writing  []operations.Operation
}

func openPosting(ctx context.Context, dsn string, s shape.Shape, books *accounts) (w *postingWorker, err error) {
	books.workers++
	w = &postingWorker{stop: func() {}, accounts: books, seed: books.workers << workerSeed}
	defer func() {
		if err != nil {
			w.close()
		}
	}()
	for _, op := range operations.All() {
		if strings.HasSuffix(op.ID, ".post") || strings.HasSuffix(op.ID, ".change") {
			w.writing = append(w.writing, op)
		}
	}
	if w.db, err = database.Open(ctx, dsn, s.Options(database.Options{Connections: site.Clients})); err != nil {
		return w, err
	}
	base, err := w.serve(s)
	if err != nil {
		return w, err
	}
	for n := range site.Clients {
		session, err := books.client.Login(ctx, base, client.UserCode(1+n))
		if err != nil {
			return w, err
		}
		w.sessions = append(w.sessions, session)
	}
	return w, nil
}

func (w *postingWorker) serve(s shape.Shape) (base string, err error) {
	erpServer, err := erp.NewServer(server.Config{Database: w.db, Shape: s,
		Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
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
		_ = erpServer.Serve(serving, listener) // its clients notice when it stops serving
	}()
	w.stop = func() { stop(); ended.Wait() }
	return "http://" + listener.Addr().String(), nil
}

func (w *postingWorker) close() {
	w.accounts.transport.CloseIdleConnections()
	w.stop()
	if w.db != nil {
		w.db.Close()
	}
}

func (w *postingWorker) warm(ctx context.Context) error {
	return site.AllAtOnce(len(w.sessions), func(n int) error {
		for round := range documentWarmings {
			for i, op := range w.writing {
				rng := rand.New(rand.NewPCG(w.seed+warmSeed+uint64(round), uint64(i)))
				if err := w.do(ctx, n, op, rng); err != nil {
					return fmt.Errorf("warm up: %w", err)
				}
			}
		}
		return nil
	})
}

func (w *postingWorker) do(ctx context.Context, user int, op operations.Operation, rng *rand.Rand) error {
	outcome, err := w.accounts.client.Do(ctx, w.sessions[user], op.ID, rng)
	if outcome > client.Refused {
		return fmt.Errorf("%s: %w", op.ID, err)
	}
	return nil
}

// play has every user post without pause for some time. It returns the latencies, sorted.
func (w *postingWorker) play(ctx context.Context, d time.Duration, seed uint64) ([]time.Duration, error) {
	return site.BackToBack(ctx, len(w.sessions), d, func(n int) func() error {
		rng := rand.New(rand.NewPCG(w.seed+seed, uint64(n)))
		return func() error { return w.do(ctx, n, w.pick(rng), rng) }
	})
}

// pick chooses an operation by weight.
func (w *postingWorker) pick(rng *rand.Rand) operations.Operation {
	sum := 0.0
	for _, op := range w.writing {
		sum += op.Weight
	}
	at := rng.Float64() * sum
	for _, op := range w.writing {
		if at -= op.Weight; at < 0 {
			return op
		}
	}
	return w.writing[len(w.writing)-1]
}

// copiedBase is the database of a turn.
const copiedBase = "turn_copy"

// postOnCopy posts documents on a fresh copy of a base.
func postOnCopy(ctx context.Context, c *cluster.Cluster, base string, turn time.Duration, n int) (f trial.Figures,
	err error) {
	if err := postgres.With(ctx, c.DSN("").Secret(), func(conn *pgx.Conn) error {
		return postgres.CopyDatabase(ctx, conn, base, copiedBase)
	}); err != nil {
		return nil, fmt.Errorf("copy the base: %w", err)
	}
	w, err := openPosting(ctx, c.DSN(copiedBase).Secret(), classic, newAccounts())
	if err != nil {
		return nil, err
	}
	defer w.close()
	if err := w.warm(ctx); err != nil {
		return nil, err
	}
	return w.turn(turn, documentRate)(ctx, n)
}
