package ledger_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"plimsoll/platform/amount"
	"plimsoll/platform/database"
	"plimsoll/platform/database/databasetest"
	"plimsoll/platform/id"
	"plimsoll/platform/ledger"
	"plimsoll/platform/metadata"
	"plimsoll/platform/register"
	"plimsoll/platform/schema"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

var app = &metadata.Application{Name: "test", Version: 1, Accounting: []metadata.Accounting{{
	Name: "general", Splits: 3, Accounts: []metadata.Account{{Code: "41"}, {Code: "60"}, {Code: "90"}},
}}}

var moments = []time.Time{
	time.Date(2024, 12, 31, 23, 59, 59, 999999000, time.UTC), time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC),
	time.Date(2025, 1, 31, 23, 59, 59, 999999000, time.UTC), time.Date(2025, 2, 1, 0, 0, 0, 0, time.UTC), time.Date(2025, 2, 2, 0, 0, 0, 0, time.UTC),
}

type turnover struct{ debit, credit amount.Money }

func TestTurnoverBeforeAnyMomentEqualsTheModel(t *testing.T) {
	db := databasetest.Open(t)
	if err := schema.Migrate(t.Context(), db.Database, app); err != nil {
		t.Fatal(err)
	}
	l := ledger.New(app.Ledger("general"))
	rapid.Check(t, func(rt *rapid.T) {
		db.Exec(t, "TRUNCATE gl_general, gl_general_totals")
		organisation, at := id.New(), rapid.SampledFrom(moments).Draw(rt, "asked")
		model := map[string]turnover{}
		for range rapid.IntRange(1, 8).Draw(rt, "record sets") {
			by := register.Recorder{ID: id.New(), Type: "test", Organisation: organisation, Period: rapid.SampledFrom(moments).Draw(rt, "period")}
			if rapid.IntRange(0, 4).Draw(rt, "foreign") == 0 {
				by.Organisation = id.New()
			}
			was, e := by.Period, draw(rt)
			change(t, rt, db, func(w *database.Work) { l.Write(w, by, e) })
			if rapid.Bool().Draw(rt, "replaced") {
				var held *ledger.Entries
				by.Period, e = rapid.SampledFrom(moments).Draw(rt, "other period"), draw(rt)
				change(t, rt, db, func(w *database.Work) { held = l.Read(w, by.ID) })
				change(t, rt, db, func(w *database.Work) { l.Replace(w, by, was, held, e) })
			}
			for i, sum := range e.Amount {
				if by.Organisation == organisation && by.Period.Before(at) {
					d, c := model[e.Debit[i]], model[e.Credit[i]]
					d.debit, c.credit = d.debit+sum, c.credit+sum
					model[e.Debit[i]], model[e.Credit[i]] = d, c
				}
			}
		}
		if got, want := read(t, db, organisation, at), render(model); got != want {
			rt.Fatalf("before %s:\n%s\nwant:\n%s", at, got, want)
		}
		change(t, rt, db, func(w *database.Work) { l.Recalculate(w, nil) })
		if got, want := read(t, db, organisation, at), render(model); got != want {
			rt.Fatalf("before %s:\n%s\nwant:\n%s", at, got, want)
		}
	})
}

// draw makes up to four entries.
func draw(t *rapid.T) *ledger.Entries {
	e := &ledger.Entries{Ledger: "general"}
	for range rapid.IntRange(0, 4).Draw(t, "entries") {
		pair := rapid.Permutation([]string{"41", "60", "90"}).Draw(t, "accounts")
		e.Add(pair[0], pair[1], amount.Money(rapid.Int64Range(0, 1e15).Draw(t, "sum")))
	}
	return e
}

func change(t *testing.T, rt *rapid.T, db *databasetest.Test, do func(*database.Work)) {
	if err := db.Run(t.Context(), func(w *database.Work) error { do(w); return nil }); err != nil {
		rt.Fatal(err)
	}
}

func read(t *testing.T, db *databasetest.Test, organisation id.ID, at time.Time) string {
	found := map[string]turnover{}
	err := db.Read(t.Context(), func(w *database.Work) error {
		w.Queue("turnover", "SELECT account, debit, credit FROM "+ledger.TurnoverSQL(app.Ledger("general"), "$2")+" t", organisation, at).Rows(func(r pgx.Rows) error {
			var account string
			var sum turnover
			err := r.Scan(&account, &sum.debit, &sum.credit)
			found[account] = sum
			return err
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return render(found)
}

func render(turnovers map[string]turnover) string {
	var lines []string
	for account, sum := range turnovers {
		if sum == (turnover{}) {
			continue
		}
		lines = append(lines, fmt.Sprintf("%s debit %s credit %s", account, sum.debit, sum.credit))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
