package costs

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/erp"
	"plimsoll/erp/fill"
	"plimsoll/erp/operations"
	"plimsoll/lab/cluster/clustertest"
	"plimsoll/platform/database"
	"plimsoll/platform/server"
	"plimsoll/platform/shape"
)

// The test binary is the worker process too, told by its first argument.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "worker" {
		if err := serve(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	clustertest.Main(m)
}

func serve(args []string) error {
	flags := flag.NewFlagSet("worker", flag.ContinueOnError)
	name, connections := flags.String("shape", "", ""), flags.Int("connections", 0, "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	s, err := shape.New(shape.Name(*name), shape.Tweaks{})
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	db, err := database.Open(ctx, os.Getenv("PLIMSOLL_DSN"), s.Options(database.Options{Connections: *connections}))
	if err != nil {
		return err
	}
	defer db.Close()
	worker, err := erp.NewServer(server.Config{Database: db, Shape: s})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("{\"listening\":\"http://%s\"}\n", listener.Addr())
	return worker.Serve(ctx, listener)
}

func setup(t *testing.T) (Options, *pgx.Conn) {
	t.Helper()
	dsn := clustertest.Database(t).Secret()
	db, err := database.Open(t.Context(), dsn, database.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	// The sides share the work lists of warehouses: when one runs dry between two sides, the second one sells instead of shipping. This base has more to be
	// shipped and received than is done here.
	if _, err := fill.Run(t.Context(), db, fill.Options{Items: 100, Counterparties: 50, Documents: 2000}); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	o := Options{Serve: []string{os.Args[0], "worker"}, Rounds: 2, Seed: 1}
	for _, name := range []shape.Name{shape.Classic, shape.Lean} {
		o.Sides = append(o.Sides, Side{Server: "test", DSN: dsn, Shape: string(name), Flags: []string{"--shape=" + string(name)}})
	}
	return o, conn
}

func TestProfile(t *testing.T) {
	o, conn := setup(t)
	p, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("HasEveryKeyOperationOnEverySide", func(t *testing.T) {
		if len(p.Operations) != len(operations.All()) || p.Rounds != 2 || p.Partial {
			t.Errorf("%+v", p)
		}
		for _, op := range p.Operations {
			for i, f := range op.Sides {
				if f.Shape != o.Sides[i].Shape || f.Count != 2 || f.Statements < 1 || f.LatencyMS <= 0 || f.WALBytes == nil || f.ServerMS == nil || f.WorkerMS == nil || *f.WorkerMS <= 0 {
					t.Errorf("%s: %+v", op.ID, f)
				}
			}
		}
	})
	t.Run("TellsTheShapesApart", func(t *testing.T) {
		for _, op := range p.Operations {
			if op.ID != operations.GoodsSalePost {
				continue
			}
			classic, lean := op.Sides[0], op.Sides[1]
			if classic.RoundTrips != classic.Statements || classic.TempTables < 12 || classic.EmptyShare == nil || *classic.WALBytes == 0 {
				t.Errorf("classic %+v", classic)
			}
			if lean.RoundTrips > 3 || lean.TempTables != 0 || lean.EmptyShare != nil || lean.Statements > classic.Statements/5 {
				t.Errorf("lean %+v", lean)
			}
		}
	})
	t.Run("OnTheSameDocuments", func(t *testing.T) {
		var written, odd int
		err := conn.QueryRow(t.Context(), `SELECT count(*), count(*) FILTER (WHERE n % 2 <> 0) FROM (
			SELECT count(*) AS n FROM (SELECT d.id, string_agg(l.item || ' ' || l.quantity, ',' ORDER BY l.line) AS held
				FROM plimsoll_operation o JOIN doc_goods_sale d ON d.id = o.document JOIN doc_goods_sale_lines l ON l.document = d.id GROUP BY d.id, o.key) each
			GROUP BY held) alike`).Scan(&written, &odd)
		if err != nil || written == 0 || odd != 0 {
			t.Errorf("%d different sales, %d of them not of both sides; %v", written, odd, err)
		}
	})
}

func TestProfileStoppedByHandKeepsTheRoundsMade(t *testing.T) {
	o, _ := setup(t)
	o.Rounds = 1000
	ctx, stop := context.WithCancel(t.Context())
	rounds := 0
	o.Progress = func(float64, time.Duration, string) {
		if rounds++; rounds == warmRounds+1 {
			stop()
		}
	}
	p, err := Run(ctx, o)
	if err != nil || !p.Partial || p.Rounds != 1 || p.Operations[0].Sides[1].Count != 1 {
		t.Errorf("%+v, %v", p, err)
	}
}
