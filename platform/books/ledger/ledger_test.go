package ledger_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"plimsoll/platform/books/ledger"
	"plimsoll/platform/books/register"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/database/databasetest"
	"plimsoll/platform/data/id"
	"plimsoll/platform/model/metadata"
	"plimsoll/platform/model/schema"
	"plimsoll/platform/model/schema/schematest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

var app = &metadata.Application{Name: "test", Version: 1, Accounting: []metadata.Accounting{{
	Name: "general", Splits: 3, Accounts: []metadata.Account{{Code: "41"}, {Code: "60"}, {Code: "90"}},
}}}

var moments = []time.Time{
	time.Date(2024, 12, 31, 23, 59, 59, 999999000, time.UTC), time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC),
	time.Date(2025, 1, 31, 23, 59, 59, 999999000, time.UTC), time.Date(2025, 2, 1, 0, 0, 0, 0, time.UTC),
	time.Date(2025, 2, 2, 0, 0, 0, 0, time.UTC),
}

type turnover struct{ debit, credit amount.Money }

func TestTurnoverBeforeAnyMomentEqualsTheModel(t *testing.T) {
	db := schematest.Open(t)
	if err := schema.Migrate(t.Context(), db.Database, app); err != nil {
		t.Fatal(err)
	}
	l := ledger.New(app.Ledger("general"))
	rapid.Check(t, func(rt *rapid.T) {
		db.Exec(t, "TRUNCATE gl_general, gl_general_totals, gl_general_accounts")
		organisation := id.New()
		from := rapid.SampledFrom(moments).Draw(rt, "from")
		at := rapid.SampledFrom(moments).Draw(rt, "asked")
		if at.Before(from) {
			from, at = at, from
		}
		model := turnovers{}
		for range rapid.IntRange(1, 8).Draw(rt, "record sets") {
			by := register.Recorder{ID: id.New(), Type: "test", Organisation: organisation,
				Period: rapid.SampledFrom(moments).Draw(rt, "period")}
			if rapid.IntRange(0, 4).Draw(rt, "foreign") == 0 {
				by.Organisation = id.New()
			}
			was, e := by.Period, draw(rt)
			change(t, rt, db, write(t, rt, l, by, was, &ledger.Entries{}, e))
			if rapid.Bool().Draw(rt, "replaced") {
				var held *ledger.Entries
				by.Period, e = rapid.SampledFrom(moments).Draw(rt, "other period"), draw(rt)
				change(t, rt, db, func(w *database.Work) error { held = l.Read(w, by.ID); return nil })
				change(t, rt, db, write(t, rt, l, by, was, held, e))
			}
			for i, sum := range e.Amount {
				if by.Organisation == organisation && by.Period.Before(at) {
					model.add(e.Debit[i], sum, 0)
					model.add(e.Credit[i], 0, sum)
				}
				if by.Organisation == organisation && by.Period.Before(from) {
					model.open(e.Debit[i], sum, 0)
					model.open(e.Credit[i], 0, sum)
				}
			}
		}
		if got, want := read(t, db, organisation, from, at), render(model); got != want {
			rt.Fatalf("before %s and %s:\n%s\nwant:\n%s", from, at, got, want)
		}
		change(t, rt, db, func(w *database.Work) error { l.Recalculate(w, nil); return nil })
		// As if all were posted since, by a connection with another split.
		db.Exec(t, "UPDATE gl_general_totals SET split = 1")
		change(t, rt, db, func(w *database.Work) error { l.RecalculateAccounts(w, nil); return nil })
		var mismatched map[id.ID][]ledger.Account
		change(t, rt, db, func(w *database.Work) error { mismatched = l.Mismatched(w); return nil })
		if len(mismatched) > 0 {
			rt.Fatalf("recalculated, but %v differ", mismatched)
		}
		if got, want := read(t, db, organisation, from, at), render(model); got != want {
			rt.Fatalf("before %s and %s:\n%s\nwant:\n%s", from, at, got, want)
		}
	})
}

// draw makes up to four entries.
func draw(t *rapid.T) *ledger.Entries {
	e := &ledger.Entries{Ledger: "general"}
	for range rapid.IntRange(0, 4).Draw(t, "entries") {
		pair := rapid.Permutation([]string{"41", "60", "90"}).Draw(t, "accounts")
		e.Add(drawAccount(t, pair[0]), drawAccount(t, pair[1]), amount.Money(rapid.Int64Range(0, 1e15).Draw(t, "sum")))
	}
	return e
}

// write in one of the manners in which there is to be the same afterwards.
func write(t *testing.T, rt *rapid.T, l *ledger.Ledger, by register.Recorder, was time.Time, before,
	after *ledger.Entries) func(*database.Work) error {
	switch rapid.SampledFrom([]string{"at once", "by row", "gathered"}).Draw(rt, "manner") {
	case "by row":
		return func(w *database.Work) error { return l.ReplaceByRow(t.Context(), w, by, after) }
	case "gathered":
		return func(w *database.Work) error {
			x := l.Rewriter()
			x.Replace(by, was, before, after)
			x.Write(w)
			x.WriteTotals(w)
			return nil
		}
	}
	return func(w *database.Work) error { l.Replace(w, by, was, before, after); return nil }
}

func change(t *testing.T, rt *rapid.T, db *databasetest.Test, do func(*database.Work) error) {
	if err := db.Run(t.Context(), do); err != nil {
		rt.Fatal(err)
	}
}

// drawAccount gives account 41 one analytic, 60 three, and 90 none.
func drawAccount(t *rapid.T, code string) ledger.Account {
	var analytics []id.ID
	for range map[string]int{"41": 1, "60": 3}[code] {
		analytics = append(analytics, rapid.SampledFrom(elements).Draw(t, "analytic"))
	}
	return ledger.At(code, analytics...)
}

var elements = []id.ID{id.New(), id.New()}

// turnovers of an account as a whole, and with each element that one of its analytics is.
type turnovers map[string]turnover

func (t turnovers) add(a ledger.Account, debit, credit amount.Money) {
	for _, key := range keys(a) {
		t[key] = turnover{t[key].debit + debit, t[key].credit + credit}
	}
}

func keys(a ledger.Account) []string {
	all := []string{a.Code}
	for _, element := range elements {
		if slices.Contains(a.Analytics[:], element) {
			all = append(all, accountWith(a.Code, element))
		}
	}
	return all
}

func accountWith(code string, element id.ID) string { return code + " with " + element.String() }

// open is what was before the first of two moments.
func (t turnovers) open(a ledger.Account, debit, credit amount.Money) {
	for _, key := range keys(a) {
		key = opened(key)
		t[key] = turnover{t[key].debit + debit, t[key].credit + credit}
	}
}

func opened(key string) string { return key + " opened" }

func read(t *testing.T, db *databasetest.Test, organisation id.ID, from, at time.Time) string {
	found, alone := turnovers{}, turnovers{}
	meta := app.Ledger("general")
	one := func(w *database.Work, key, code string, element ...any) {
		args := append([]any{organisation, code, from, at}, element...)
		w.Queue("turnover of one", ledger.AccountSQL(meta, len(element) > 0), args...).Rows(func(r pgx.Rows) error {
			var before, sum turnover
			err := r.Scan(&before.debit, &before.credit, &sum.debit, &sum.credit)
			alone[key], alone[opened(key)] = sum, before
			return err
		})
	}
	err := db.Read(t.Context(), func(w *database.Work) error {
		w.Queue("turnover", ledger.BetweenSQL(meta, "$2", "$3"), organisation, from, at).Rows(func(r pgx.Rows) error {
			var account string
			var before, sum turnover
			err := r.Scan(&account, &before.debit, &before.credit, &sum.debit, &sum.credit)
			found[account], found[opened(account)] = sum, before
			return err
		})
		for _, code := range []string{"41", "60", "90"} {
			one(w, code, code)
			for _, element := range elements {
				one(w, accountWith(code, element), code, element)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for key, sum := range alone {
		if whole, both := found[key]; both && whole != sum {
			t.Errorf("%s is %v among all and %v by itself", key, whole, sum)
		}
		found[key] = sum
	}
	return render(found)
}

func render(all turnovers) string {
	var lines []string
	for account, sum := range all {
		if sum == (turnover{}) {
			continue
		}
		lines = append(lines, fmt.Sprintf("%s debit %s credit %s", account, sum.debit, sum.credit))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
