package layer

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/erp"
	"plimsoll/ground/postgres"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
	"plimsoll/platform/data/database"
	"plimsoll/platform/worker/server"
	"plimsoll/platform/worker/shape"
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
	one := sync.OnceValue(site.NewAccounts)
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
func postingSide(s shape.Shape, server *site.Address, from func() *site.Accounts, turn time.Duration) trial.Side {
	return trial.Side{Name: s.String(), Open: func(ctx context.Context, r *trial.Record) (trial.Turn, error) {
		w, err := openPosting(ctx, server.DSN, s, from())
		if err != nil {
			return nil, err
		}
		r.Close(w.close)
		if err := w.Warm(ctx); err != nil {
			return nil, err
		}
		return w.turn(turn, documentRate), nil
	}}
}

// turn has every user work for so long; its figures are the rate, under this name, and the times.
func (w *postingWorker) turn(length time.Duration, rate string) trial.Turn {
	return func(ctx context.Context, n int) (trial.Figures, error) {
		times, err := w.Play(ctx, length, uint64(n))
		if err != nil || len(times) == 0 {
			return nil, err
		}
		return trial.Figures{rate: float64(len(times)) / length.Seconds(), site.MedianTime: site.Percentile(times, 0.5),
			site.P99Time: site.Percentile(times, 0.99)}, nil
	}
}

// postingWorker is a worker of one shape in this process, with sessions of the users.
type postingWorker struct {
	*site.Posters
	db       *database.Database
	stop     func()
	accounts *site.Accounts
}

func openPosting(ctx context.Context, dsn string, s shape.Shape, books *site.Accounts) (w *postingWorker, err error) {
	w = &postingWorker{stop: func() {}, accounts: books}
	defer func() {
		if err != nil {
			w.close()
		}
	}()
	if w.db, err = database.Open(ctx, dsn, s.Options(database.Options{Connections: site.Clients})); err != nil {
		return w, err
	}
	base, err := w.serve(s)
	if err != nil {
		return w, err
	}
	w.Posters, err = books.LogIn(ctx, base, site.Clients)
	return w, err
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
	w.accounts.Close()
	w.stop()
	if w.db != nil {
		w.db.Close()
	}
}

// copiedBase is the database of a turn.
const copiedBase = "turn_copy"

// postOnCopy posts documents on a fresh copy of a base.
func postOnCopy(ctx context.Context, c *cluster.Cluster, base string, turn time.Duration, n int) (f trial.Figures,
	err error) {
	w, err := openOnCopy(ctx, c, base)
	if err != nil {
		return nil, err
	}
	defer w.close()
	return w.turn(turn, documentRate)(ctx, n)
}

// openOnCopy is a worker on a fresh copy of a base, warmed up.
func openOnCopy(ctx context.Context, c *cluster.Cluster, base string) (w *postingWorker, err error) {
	if err := postgres.With(ctx, c.DSN("").Secret(), func(conn *pgx.Conn) error {
		return postgres.CopyDatabase(ctx, conn, base, copiedBase)
	}); err != nil {
		return nil, fmt.Errorf("copy the base: %w", err)
	}
	if w, err = openPosting(ctx, c.DSN(copiedBase).Secret(), classic, site.NewAccounts()); err != nil {
		return nil, err
	}
	if err := w.Warm(ctx); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}
