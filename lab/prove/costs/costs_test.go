package costs

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/erp/client"
	"plimsoll/erp/fill"
	"plimsoll/erp/fill/filltest"
	"plimsoll/erp/operations"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/problem"
	"plimsoll/lab/run/worker/workertest"
	"plimsoll/platform/worker/shape"
)

func TestMain(m *testing.M) {
	workertest.Become()
	clustertest.Main(m)
}

// setup makes a base, and the options of a profile of it.
func setup(t *testing.T, sizes fill.Options) (Options, *pgx.Conn) {
	t.Helper()
	sizes.Items, sizes.Counterparties = 100, 50
	dsn := filltest.Copy(t, fmt.Sprintf("of_%d_in_%d", sizes.Documents, sizes.Warehouses), sizes)
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	o := Options{Serve: workertest.Command(), Rounds: 2, Seed: 1}
	for _, name := range []shape.Name{shape.Classic, shape.Lean} {
		o.Sides = append(o.Sides, Side{Server: "test", DSN: dsn, Shape: string(name),
			Flags: []string{"--shape=" + string(name), "--durability=server"}})
	}
	return o, conn
}

func TestProfile(t *testing.T) {
	// more to be received than is done here
	o, conn := setup(t, fill.Options{Documents: 2000})
	p, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("HasEveryKeyOperationOnEverySide", func(t *testing.T) {
		if len(p.Operations) != len(operations.All()) || p.Rounds != 2 || p.Partial {
			t.Errorf("profile %+v, want all operations, complete, in two rounds", p)
		}
		for _, op := range p.Operations {
			for i, f := range op.Sides {
				if f.Shape != o.Sides[i].Shape || f.Count != 2 || f.Statements < 1 || f.LatencyMS <= 0 ||
					f.WALBytes == nil || f.ServerMS == nil || f.WorkerMS == nil || *f.WorkerMS <= 0 {
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
			if classic.RoundTrips != classic.Statements || classic.TempTables < 12 || classic.EmptyShare == nil ||
				*classic.WALBytes == 0 {
				t.Errorf("classic %+v", classic)
			}
			if lean.RoundTrips > 3 || lean.TempTables != 0 || lean.EmptyShare != nil ||
				lean.Statements > classic.Statements/5 {
				t.Errorf("lean %+v", lean)
			}
		}
	})
	// On some days the base has nothing that waits to be shipped. Then a side sells one item to have something, and the
	// other side finds what is left of it: such a sale is nobody's operation.
	t.Run("OnTheSameDocuments", func(t *testing.T) {
		var written, odd int
		err := conn.QueryRow(t.Context(), `SELECT count(*), count(*) FILTER (WHERE n % 2 <> 0) FROM (
			SELECT count(*) AS n FROM (SELECT d.id, string_agg(l.item || ' ' || l.quantity, ',' ORDER BY l.line) AS held
				FROM plimsoll_operation o JOIN doc_goods_sale d ON d.id = o.document
				JOIN doc_goods_sale_lines l ON l.document = d.id GROUP BY d.id, o.key HAVING count(*) > 1) each
			GROUP BY held) alike`).Scan(&written, &odd)
		if err != nil || written == 0 || odd != 0 {
			t.Errorf("%d different sales, %d of them not of both sides; %v", written, odd, err)
		}
	})
}

func TestProfileStoppedByHandKeepsTheRoundsMade(t *testing.T) {
	o, _ := setup(t, fill.Options{Documents: 20})
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

// posted are the operations that make a document of a type, one each time.
var posted = map[string]string{
	operations.WarehouseReceiptOrderPost: "warehouse_receipt_order",
	operations.WarehouseIssueOrderPost:   "warehouse_issue_order",
	operations.InvoiceIssuedPost:         "invoice_issued", operations.InvoiceReceivedPost: "invoice_received",
	operations.PaymentRequestPost: "payment_request", operations.BankPaymentPost: "bank_payment",
	operations.AssetCommissioningPost: "asset_commissioning",
}

func TestProfileOfABaseWithNothingLeftToActOn(t *testing.T) {
	o, conn := setup(t, fill.Options{Documents: 20})
	o.Rounds = 3
	p, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range p.Operations {
		kind, counted := posted[op.ID]
		if !counted {
			continue
		}
		for _, f := range op.Sides {
			if f.Refused > 0 {
				t.Errorf("%s on %s: %d of %d refused", op.ID, f.Shape, f.Refused, f.Count)
			}
		}
		var made int
		err := conn.QueryRow(t.Context(), "SELECT count(DISTINCT document) FROM plimsoll_operation WHERE "+
			"document_type = $1", kind).Scan(&made)
		if least := (warmRounds + o.Rounds) * len(o.Sides); err != nil || made < least {
			t.Errorf("%s made %d documents of its type, want %d; %v", op.ID, made, least, err)
		}
	}
}

func TestProfileOfABaseWithoutCells(t *testing.T) {
	o, _ := setup(t, fill.Options{Documents: 20, Organisations: 1, Warehouses: 1})
	if _, err := Run(t.Context(), o); problem.ClassOf(err) != problem.Environment ||
		!errors.Is(err, client.ErrNoCells) || problem.HintOf(err) == "" {
		t.Errorf("%v, hint %q", err, problem.HintOf(err))
	}
}
