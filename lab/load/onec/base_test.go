package onec

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"plimsoll/ground/postgres"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/problem"
	"plimsoll/lab/load/tally"
	"plimsoll/test/patience"
)

var smallSizes = Sizes{Documents: 240, Items: 40, Partners: 12, Warehouses: 8}

// outfits that the test's server has.
func outfits(t *testing.T) (all []Outfit) {
	t.Helper()
	server, err := Probe(patience.Context(t), clustertest.Database(t).Secret())
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range Outfits {
		if _, err := o.On(server); err == nil {
			all = append(all, o)
		}
	}
	t.Logf("the server has the outfits %q", all)
	return all
}

// filled is a small base, and a connection string with the outfit's settings.
func filled(t *testing.T, o Outfit) string {
	t.Helper()
	ctx := patience.Context(t)
	dsn := clustertest.Copy(t, "1c "+o.Database(), func(dsn string) error {
		_, err := Fill(ctx, dsn, FillOptions{Sizes: smallSizes, Plain: o == Plain})
		return err
	}).Secret()
	server, err := Probe(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	return postgres.WithOptions(dsn, o.Options(server))
}

func mustBeClean(t *testing.T, dsn string) {
	t.Helper()
	report, err := Audit(patience.Context(t), dsn, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range report.Checks {
		if c.Violations > 0 {
			t.Errorf("%s: %d violations: %s", c.Name, c.Violations, strings.Join(c.Examples, "; "))
		}
	}
}

func TestFill_IsCleanAndHasWhatItSays(t *testing.T) {
	for _, o := range outfits(t) {
		if o == Memory {
			continue // its base is that of the extensions
		}
		t.Run(string(o), func(t *testing.T) {
			dsn := filled(t, o)
			mustBeClean(t, dsn)
			base, err := Look(patience.Context(t), dsn)
			if err != nil || base.Sizes != smallSizes || base.MChar != (o != Plain) {
				t.Errorf("%+v, %v", base, err)
			}
			for what, sql := range map[string]string{
				"documents": "SELECT (SELECT count(*) FROM _Document34) + (SELECT count(*) FROM _Document50)",
				"lines":     "SELECT (SELECT count(*) FROM _Document34_VT42) + (SELECT count(*) FROM _Document50_VT51)",
				"records":   "SELECT count(*) FROM _AccumRg70",
			} {
				lines := 0
				for n := range smallSizes.Documents {
					lines += 1 + n%linesMost
				}
				want := fmt.Sprint(lines)
				if what == "documents" {
					want = fmt.Sprint(smallSizes.Documents)
				}
				if got := clustertest.Value(t, dsn, sql); got != want {
					t.Errorf("%s %s, want %s", got, what, want)
				}
			}
			if n := clustertest.Value(t, dsn, "SELECT count(*) FROM pg_indexes WHERE indexname = "+
				"'_accrga392_bydims_ntrrrrrn'"); n != "1" {
				t.Errorf("%s indexes of the analytics", n)
			}
		})
	}
}

// A fill that is stopped after any portion goes on with the next one.
func TestFill_GoesOnAfterAStop(t *testing.T) {
	dsn := clustertest.Database(t).Secret()
	o := FillOptions{Sizes: smallSizes, Plain: true}
	stops := 0
	for {
		ctx, stop := context.WithCancel(patience.Context(t))
		made := 0
		o.Progress = func(Progress) {
			if made++; made == 9 {
				stop()
			}
		}
		_, err := Fill(ctx, dsn, o)
		stop()
		if err == nil {
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if _, err := Look(patience.Context(t), dsn); err == nil {
			t.Fatal("a base that is not complete is taken for one")
		}
		stops++
	}
	if stops < 3 {
		t.Errorf("it was stopped %d times only", stops)
	}
	mustBeClean(t, dsn)
	if _, err := Fill(patience.Context(t), dsn, FillOptions{Sizes: smallSizes, Plain: true}); !errors.Is(err,
		ErrNotEmpty) {
		t.Errorf("filled again: %v", err)
	}
}

func TestFill_RefusesTheTablesOfOthers(t *testing.T) {
	dsn := clustertest.Database(t).Secret()
	clustertest.Exec(t, dsn, "CREATE TABLE customers (id int)")
	_, err := Fill(patience.Context(t), dsn, FillOptions{Sizes: smallSizes, Plain: true})
	if problem.ClassOf(err) != problem.Usage {
		t.Error(err)
	}
	if _, err := Look(patience.Context(t), dsn); !errors.Is(err, ErrNoBase) {
		t.Error(err)
	}
}

// Each damage is found by the check that is about it.
func TestAudit_FindsWhatIsWrong(t *testing.T) {
	first := func(table string) string { return " WHERE ctid = (SELECT min(ctid) FROM " + table + ")" }
	for check, damage := range map[string]string{
		"_AccumRgT78":          "UPDATE _AccumRgT78 SET _Fld74 = _Fld74 + 1" + first("_AccumRgT78"),
		"_AccRgAT089":          "DELETE FROM _AccRgAT089" + first("_AccRgAT089"),
		"_AccRgAT190":          "UPDATE _AccRgAT190 SET _TurnoverCt82 = 0 WHERE _TurnoverCt82 <> 0",
		"_AccRgAT392":          "UPDATE _AccRgAT392 SET _Value2_RRRef = ''" + first("_AccRgAT392"),
		"_AccumRg70":           "DELETE FROM _Document50" + first("_Document50"),
		"_AccRg80":             "UPDATE _AccRg80 SET _Period = _Period + interval '1 second' WHERE _LineNo = 1",
		"_Document34":          "DELETE FROM _AccumRg70" + first("_AccumRg70 WHERE _RecordKind = 1"),
		"_Document50":          "UPDATE _Document50_VT51 SET _Fld45 = _Fld45 + 1",
		"_AccRgED88":           "DELETE FROM _AccRgED88" + first("_AccRgED88"),
		"ledger and documents": "UPDATE _Document34 SET _Fld39 = 0",
		"_InfoRgSL66":          "DELETE FROM _InfoRgSL66" + first("_InfoRgSL66"),
	} {
		t.Run(check, func(t *testing.T) {
			dsn := filled(t, Plain)
			clustertest.Exec(t, dsn, damage)
			report, err := Audit(patience.Context(t), dsn, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range report.Checks {
				if c.Name == check && c.Violations > 0 && len(c.Examples) > 0 {
					return
				}
			}
			t.Errorf("not found: %+v", report)
		})
	}
}

// Users work at the same time, on new and on the same documents; afterwards all totals are right.
func TestPlay_LeavesTheTotalsRight(t *testing.T) {
	for _, o := range outfits(t) {
		for _, sessions := range []int{3, 0} {
			t.Run(fmt.Sprintf("%s/%d sessions", o, sessions), func(t *testing.T) {
				dsn := filled(t, o)
				play(t, dsn, sessions)
				mustBeClean(t, dsn)
				const changed = "SELECT count(*) > 0 FROM _AccumRgT78 WHERE _Splitter > 0"
				if clustertest.Value(t, dsn, changed) != "t" {
					t.Error("no total was changed")
				}
			})
		}
	}
}

func play(t *testing.T, dsn string, sessions int) {
	t.Helper()
	ctx := patience.Context(t)
	var ids []string
	for _, op := range Operations() {
		ids = append(ids, op.ID)
	}
	const users = 6
	p, err := Open(ctx, Options{DSN: dsn, Operations: ids, Users: users, Sessions: sessions})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var all sync.WaitGroup
	for user := range users {
		all.Add(1)
		go func() {
			defer all.Done()
			if err := p.LogIn(ctx, user); err != nil {
				t.Error(err)
				return
			}
			rng := rand.New(rand.NewPCG(1, uint64(user)))
			for round := range 4 {
				for n := range ids {
					if outcome, err := p.Play(ctx, user, (n+round)%len(ids), rng); outcome != tally.OK {
						t.Errorf("user %d, %s: %s, %v", user, ids[(n+round)%len(ids)], outcome, err)
						return
					}
				}
			}
		}()
	}
	all.Wait()
}

// The pool's temp tables are empty between operations, stay few, and are those of one session.
func TestSession_KeepsItsTempTables(t *testing.T) {
	for _, o := range outfits(t) {
		t.Run(string(o), func(t *testing.T) {
			dsn, ctx := filled(t, o), patience.Context(t)
			p, err := Open(ctx, Options{DSN: dsn, Users: 1, Sessions: 1,
				Operations: []string{"sale.write", "sales.batch", "stock.moment"}})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			rng := rand.New(rand.NewPCG(7, 7))
			made := 0
			for round := range 3 {
				for n := range 3 {
					if outcome, err := p.Play(ctx, 0, n, rng); outcome != tally.OK {
						t.Fatal(outcome, err)
					}
				}
				s, err := p.sessions.Take(ctx, 0)
				if err != nil {
					t.Fatal(err)
				}
				if round > 0 && s.made != made {
					t.Errorf("%d temp tables after round %d, %d before", s.made, round, made)
				}
				made = s.made
				for _, names := range s.free {
					for _, name := range names {
						rows, err := s.rows(ctx, "SELECT count(*) FROM "+name)
						if err != nil || rows[0][0] != "0" {
							t.Errorf("%s holds %v, %v", name, rows, err)
						}
					}
				}
				p.sessions.Give(0, s)
			}
			if made == 0 {
				t.Error("no temp table was made")
			}
		})
	}
}

// What queries answer is what a plain query over the records says.
func TestQueries_AnswerRight(t *testing.T) {
	dsn, ctx := filled(t, Plain), patience.Context(t)
	server, err := connectForTest(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer server.close(ctx)
	o := &operation{session: server, ctx: ctx}
	all := stockBalance.due(stock.name, "", totalPeriods())
	rows := o.run("SELECT sum(_Fld74) FROM (%s) d WHERE _Period = %s", all, moment(present))
	want := o.run("SELECT sum(CASE WHEN _RecordKind = 0 THEN _Fld74 ELSE -_Fld74 END) FROM %s", stock.name)
	if o.err != nil || rows[0][0] != want[0][0] {
		t.Errorf("%v, want %v, %v", rows, want, o.err)
	}
	debit := o.run("SELECT sum(_TurnoverDt82) - sum(_TurnoverCt82) FROM %s", ledgerTotals[0].name)
	if o.err != nil || strings.Trim(debit[0][0], "0.") != "" {
		t.Errorf("debit less credit is %v, %v", debit, o.err)
	}
}

func connectForTest(ctx context.Context, dsn string) (*session, error) {
	p, err := Open(ctx, Options{DSN: dsn, Users: 1})
	if err != nil {
		return nil, err
	}
	return p.connect(ctx, 0)
}
