package experiments

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/erp"
	"plimsoll/erp/fill"
	"plimsoll/lab/claims"
	"plimsoll/lab/cluster/clustertest"
	"plimsoll/platform/database"
	"plimsoll/platform/problem"
)

// inProportion is a base that has a hundredth of everything.
func inProportion() *filledBase {
	f := &filledBase{scale: 0.01, took: time.Minute, bytes: 1 << 30}
	hundredth := func(what string, reported int) proportion {
		return proportion{what, int64(reported+50) / 100, int64(reported)}
	}
	for _, d := range erp.Metadata().Documents {
		if n := fill.Reported()[d.Name]; n > 0 {
			f.documents = append(f.documents, hundredth(d.Name, n))
		}
	}
	f.contracts = hundredth("contracts", c02ClaimedContracts)
	f.movements, f.entries = hundredth("cost movements", c02ClaimedMovements), hundredth("entries", c02ClaimedEntries)
	f.byItem = hundredth("entries by item", c02ClaimedEntries)
	return f
}

func TestC02_Judge(t *testing.T) {
	of := func(name string, times float64) func(*filledBase) {
		return func(f *filledBase) {
			for i := range f.documents {
				if p := &f.documents[i]; p.what == name {
					p.found = int64(float64(p.found) * times)
				}
			}
		}
	}
	nothing := func(*filledBase) {}
	for name, c := range map[string]struct {
		change              func(*filledBase)
		asWritten, balanced bool
		want                claims.Verdict
		why                 string
	}{
		"AllWell":         {nothing, true, true, claims.Confirmed, ""},
		"WithinRounding":  {of(erp.GoodsSale, 1.004), true, true, claims.Confirmed, ""},
		"FewerInvoices":   {of(erp.InvoiceIssued, 0.8), true, true, claims.Inconclusive, erp.InvoiceIssued},
		"NoInvoices":      {of(erp.InvoiceIssued, 0), true, true, claims.Refuted, "fewer types"},
		"ManyFewer":       {of(erp.InvoiceReceived, 0.7), true, true, claims.Inconclusive, "documents are only"},
		"FewerSales":      {of(erp.GoodsSale, 0.9), true, true, claims.Inconclusive, erp.GoodsSale},
		"MoreSales":       {of(erp.GoodsSale, 1.1), true, true, claims.Inconclusive, erp.GoodsSale},
		"FewerContracts":  {func(f *filledBase) { f.contracts.found /= 2 }, true, true, claims.Inconclusive, "contracts"},
		"FewerMovements":  {func(f *filledBase) { f.movements.found /= 2 }, true, true, claims.Inconclusive, "cost movements are only 50 %"},
		"MoreMovements":   {func(f *filledBase) { f.movements.found *= 2 }, true, true, claims.Confirmed, ""},
		"FewerEntries":    {func(f *filledBase) { f.entries.found /= 4 }, true, true, claims.Inconclusive, "entries are only 25 % of the report's (100 %, were goods kept by item"},
		"OtherThanFilled": {nothing, false, true, claims.Refuted, "not what was written"},
		"WrongBooks":      {nothing, true, false, claims.Refuted, "books"},
	} {
		f := inProportion()
		c.change(f)
		if got, why := (LargeBase{}).judge(f, c.asWritten, c.balanced); got != c.want || !strings.Contains(why, c.why) {
			t.Errorf("%s: %s (%s), want %s (%s)", name, got, why, c.want, c.why)
		}
	}
}

func TestC02_ExtrapolatesWhatGrows(t *testing.T) {
	small, large := &filledBase{scale: 0.1, bytes: 20}, &filledBase{scale: 0.2, bytes: 30}
	if got := at(1, small, large, (*filledBase).size); got < 109.999 || got > 110.001 { // 10, and 100 for each whole scale
		t.Errorf("%g", got)
	}
}

func TestC02_ScaleIsWhatWasAskedForOrWhatTheDiskTakes(t *testing.T) {
	e := LargeBase{}
	if got := e.scale(Bench{Documents: claimedDocuments() / 20}); got < 0.0499 || got > 0.0501 {
		t.Errorf("%g", got)
	}
	if got := e.scale(Bench{Full: true}); got <= 0 || got > 1 {
		t.Errorf("%g", got)
	}
	if _, err := e.Run(t.Context(), Bench{Documents: 5000}); problem.ClassOf(err) != problem.Usage || !strings.Contains(problem.HintOf(err), "--documents") {
		t.Error(err)
	}
}

// A base of its own is filled, counted, checked and audited; what is damaged is seen.
func TestC02_SeesWhatTheBaseHolds(t *testing.T) {
	f, err := fillBase(t.Context(), clustertest.Start(t), c02ScaleMin, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := f.drop(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	look := func() (claims.Verdict, string) {
		checked, err := f.check(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		books, err := f.audit(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		return (LargeBase{}).judge(f, checked.Clean(), books.Clean())
	}
	if f.types() != 17 || f.bytes == 0 || f.took == 0 || len(f.apart()) > 0 || f.byItem.found <= f.entries.found || !f.contracts.holds(f.scale) {
		t.Errorf("%+v", f)
	}
	if verdict, why := look(); verdict == claims.Refuted {
		t.Error(why)
	}
	err = f.open(t.Context(), func(db *database.Database) error {
		return db.Borrow(t.Context(), func(conn *pgx.Conn) error {
			return execute(t.Context(), conn, "UPDATE gl_general SET amount = amount + 1 WHERE ctid = (SELECT min(ctid) FROM gl_general)")
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	if verdict, why := look(); verdict != claims.Refuted || !strings.Contains(why, "not what was written") {
		t.Errorf("%s, %s", verdict, why)
	}
}
