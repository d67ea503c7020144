package scale

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"plimsoll/erp/fill"
	"plimsoll/ground/postgres"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/problem"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/experiments/sitetest"
	"plimsoll/platform/data/database"
)

func TestC02_ExtrapolatesWhatGrows(t *testing.T) {
	// 10, and 100 for each whole scale
	if got := atScale(1, 0.1, 20, 0.2, 30); got < 109.999 || got > 110.001 {
		t.Errorf("extrapolated to %g, want 110", got)
	}
}

func TestC02_ScaleIsWhatWasAskedForOrWhatTheDiskTakes(t *testing.T) {
	e := Experiments()[1]
	if got := c02ScaleOf(site.Bench{Documents: fill.ReportedTotal() / 20}); got < 0.0499 || got > 0.0501 {
		t.Errorf("scale %g, want 0.05", got)
	}
	if got := c02ScaleOf(site.Bench{Full: true}); got < c02Scale || got > c02Full {
		t.Errorf("full scale %g, want %g to %g", got, c02Scale, c02Full)
	}
	if got := c02ScaleOf(site.Bench{}); got != c02Scale {
		t.Errorf("usual scale %g, want %g", got, c02Scale)
	}
	if _, err := e.Run(t.Context(), site.Bench{Documents: 5000}); problem.ClassOf(err) != problem.Usage ||
		!strings.Contains(problem.HintOf(err), "--documents") {
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
		if err := f.Drop(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	asWritten := func() bool {
		checked, err := f.check(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return checked.Clean()
	}
	figures := f.figures()
	p := sitetest.Plant{}
	for name, figure := range figures {
		p[baseSide{c02ScaleMin}.name()+": "+name] = []float64{figure}
	}
	e := Experiments()[1]
	verdict := sitetest.Answered(t, site.Bench{Documents: int(c02ScaleMin*float64(fill.ReportedTotal())) + 1}, e, p, 0)
	if strings.Contains(verdict.Measured, "(0.0 %)") || verdict.Verdict == claims.Refuted ||
		!strings.Contains(verdict.Measured, "not in proportion: none") {
		t.Errorf("%s, %s", verdict.Verdict, verdict.Measured)
	}
	for _, c := range f.catalogs {
		if !c.holds(f.Scale) {
			t.Errorf("%s: %d of %d at scale %g", c.what, c.found, c.reported, f.Scale)
		}
	}
	if f.bytes == 0 || f.Took == 0 || f.byItem.found <= f.entries.found || len(f.catalogs) < 10 {
		t.Errorf("base %+v lacks size, time or proportions", f)
	}
	books, err := f.audit(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if !asWritten() || !books.Clean() {
		t.Errorf("as written %v, balanced %v", asWritten(), books.Clean())
	}
	err = f.Open(t.Context(), func(db *database.Database) error {
		return db.Borrow(t.Context(), func(conn *pgx.Conn) error {
			return postgres.ExecuteOn(t.Context(), conn, "UPDATE gl_general SET amount = amount + 1 WHERE ctid = "+
				"(SELECT min(ctid) FROM gl_general)")
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	if asWritten() {
		t.Error("a changed row is not seen")
	}
}
