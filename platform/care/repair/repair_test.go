package repair_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/ground/problem"
	"plimsoll/platform/books/document"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/care/audit"
	"plimsoll/platform/care/repair"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/database/databasetest"
	"plimsoll/platform/model/schema"
	"plimsoll/platform/platformtest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

func shop(t *testing.T) *platformtest.Shop { return platformtest.Open(t, posting.Lean) }

func receipt(t *testing.T, s *platformtest.Shop, day int) *document.Document {
	return s.Post(t, s.Document(platformtest.Receipt, platformtest.Day(day), s.Line(0, 5000, 1000)))
}

// issue at a cost of layers. Its estimate, which cannot be derived from it, is nothing.
func issue(t *testing.T, s *platformtest.Shop, day int, quantity amount.Quantity) *document.Document {
	s.Exec(t, "DELETE FROM inf_last_costs")
	return s.Post(t, s.Document(platformtest.Issue, platformtest.Day(day), s.Line(0, quantity, 0)))
}

// tryRepair runs a repair. Where there are issues, its audit does not derive documents: see issue.
func tryRepair(t *testing.T, s *platformtest.Shop, o repair.Options) (repair.Report, error) {
	look := func(ctx context.Context, o audit.Options) (audit.Report, error) {
		o.Books = s.Books
		issues := s.Count(t, "SELECT count(*) FROM doc_issue") > 0
		report, err := audit.Run(ctx, s.Database, s.App, audit.Invariants(s.App), o)
		report.Checks = slices.DeleteFunc(report.Checks, func(c audit.Check) bool {
			derived := issues && strings.HasSuffix(c.Invariant, ".derived")
			if derived {
				report.Violations -= c.Violations
			}
			return derived
		})
		return report, err
	}
	return repair.New(s.Database, s.App, platformtest.Rules(s.App), look).Run(t.Context(), o)
}

func runRepair(t *testing.T, s *platformtest.Shop, o repair.Options) repair.Report {
	t.Helper()
	report, err := tryRepair(t, s, o)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// wantRepaired fails the test unless the books are clean and, where it is given, what they were.
func wantRepaired(t *testing.T, s *platformtest.Shop, r repair.Report, before map[string]string) {
	t.Helper()
	if r.Open() != 0 || r.Done == 0 {
		t.Errorf("%d violations after %d steps: %+v", r.Open(), r.Done, r.Steps)
	}
	if before != nil {
		same(t, s, before)
	}
}

func step(r repair.Report, class repair.Class, done bool) *repair.Step {
	i := slices.IndexFunc(r.Steps, func(s repair.Step) bool { return s.Class == class && s.Done == done })
	if i < 0 {
		return nil
	}
	return &r.Steps[i]
}

// rows of all tables, without the versions of documents; of turnovers that are split, the sums.
func rows(t *testing.T, s *platformtest.Shop) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, table := range schema.Tables(s.App) {
		if strings.HasPrefix(table.Name, "plimsoll_") {
			continue
		}
		from := "SELECT (to_jsonb(t) - 'version')::text AS r FROM " + table.Name + " t"
		if strings.HasPrefix(table.Name, "gl_") && table.Name != "gl_general" {
			from = "SELECT (k || jsonb_build_object('debit', sum(debit), 'credit', sum(credit)))::text AS r FROM " +
				"(SELECT to_jsonb(t) - 'debit' - 'credit' - 'split' AS k, debit, credit FROM " + table.Name +
				" t) x GROUP BY k"
		}
		all[table.Name] = s.Value(t, "SELECT coalesce(string_agg(r, E'\\n' ORDER BY r), '') FROM ("+from+") r")
	}
	return all
}

func same(t *testing.T, s *platformtest.Shop, before map[string]string) {
	t.Helper()
	for table, now := range rows(t, s) {
		if now != before[table] {
			t.Errorf("%s was\n%s\nand is\n%s", table, before[table], now)
		}
	}
}

// lose what a document has recorded.
func lose(t *testing.T, s *platformtest.Shop, d *document.Document) {
	for _, table := range []string{"acc_stock", "acc_batches", "acc_sales", "gl_general", "inf_last_costs"} {
		s.Exec(t, "DELETE FROM "+table+" WHERE recorder = $1", d.ID)
	}
}

// loseDocument itself.
func loseDocument(t *testing.T, s *platformtest.Shop, d *document.Document) {
	s.Exec(t, "DELETE FROM doc_receipt_lines WHERE document = $1", d.ID)
	s.Exec(t, "DELETE FROM doc_receipt WHERE id = $1", d.ID)
}

const movedByNobody = "DO $$ DECLARE one acc_stock; BEGIN SELECT * INTO one FROM acc_stock LIMIT 1; " +
	"one.recorder = gen_random_uuid(); INSERT INTO acc_stock SELECT one.*; END $$"

func TestReverse_WhatNobodyPosted(t *testing.T) {
	s := shop(t)
	receipt(t, s, 1)
	before := rows(t, s)
	s.Exec(t, movedByNobody)
	r := runRepair(t, s, repair.Options{})
	wantRepaired(t, s, r, before)
	if one := step(r, repair.Reverse, true); one == nil || one.Risk != repair.Low {
		t.Errorf("steps %+v, want a reversal of low risk", r.Steps)
	}
}

// Operations are forgotten after a week: what an older document has recorded must not be taken for nobody's.
func TestReverse_NotOfALostDocument(t *testing.T) {
	s := shop(t)
	d := receipt(t, s, 1)
	receipt(t, s, 2)
	loseDocument(t, s, d)
	s.Exec(t, "DELETE FROM plimsoll_operation")
	before := rows(t, s)
	r := runRepair(t, s, repair.Options{TrustDocuments: true})
	if one := step(r, repair.Restore, false); one == nil || one.Document != d.ID || r.Done != 0 {
		t.Errorf("steps %+v, want the document left to a backup", r.Steps)
	}
	same(t, s, before)
}

// A row that names another type is its document's all the same.
func TestRecorderTypeThatWasChanged(t *testing.T) {
	for _, kind := range []string{platformtest.Issue, "nonsense"} {
		s := shop(t)
		d := receipt(t, s, 1)
		before := rows(t, s)
		s.Exec(t, "DELETE FROM plimsoll_operation")
		s.Exec(t, "UPDATE acc_stock SET recorder_type = $1 WHERE recorder = $2", kind, d.ID)
		r := runRepair(t, s, repair.Options{})
		wantRepaired(t, s, r, before)
		if step(r, repair.Reverse, true) != nil {
			t.Errorf("%s: %+v", kind, r.Steps)
		}
	}
}

// stray is a movement in a register in which receipts record nothing.
func stray(t *testing.T, s *platformtest.Shop, d *document.Document) {
	s.Exec(t, "INSERT INTO acc_sales (recorder, line, recorder_type, organisation, period, expense, goods, rate, "+
		"amount) VALUES ($1, 1, 'receipt', $2, $3, false, $4, 20, 5)", d.ID, d.Organisation, d.Date, s.Goods[0])
}

func TestReverse_BesideARepostOfTheSameDocument(t *testing.T) {
	s := shop(t)
	d := receipt(t, s, 1)
	before := rows(t, s)
	stray(t, s, d)
	s.Exec(t, "UPDATE acc_stock SET quantity = quantity + 1 WHERE recorder = $1", d.ID)
	r := runRepair(t, s, repair.Options{})
	wantRepaired(t, s, r, before)
	if step(r, repair.Reverse, true) == nil || step(r, repair.Repost, true) == nil {
		t.Errorf("steps %+v, want a reversal and a reposting", r.Steps)
	}
}

// A document that stays wrong keeps the totals that show it, whatever else about it was repaired.
func TestTotalsUnderAWrongDocumentStay(t *testing.T) {
	s := shop(t)
	d := receipt(t, s, 1)
	stray(t, s, d)
	s.Exec(t, "UPDATE doc_receipt_lines SET quantity = quantity + 1")
	s.Exec(t, "UPDATE acc_stock_totals SET quantity = quantity + 1 WHERE period = 'infinity'")
	before := rows(t, s)
	r := runRepair(t, s, repair.Options{})
	if step(r, repair.Reverse, true) == nil || step(r, repair.Restore, false) == nil || r.Open() == 0 {
		t.Errorf("steps %+v, want a reversal, and the document left to a backup", r.Steps)
	}
	if after := rows(t, s); after["acc_stock_totals"] != before["acc_stock_totals"] {
		t.Errorf("totals are\n%s", after["acc_stock_totals"])
	}
}

// Nothing but totals knows that a document was posted whose flag was cleared.
func TestReverse_OfADocumentThatWasPosted(t *testing.T) {
	s := shop(t)
	d := receipt(t, s, 1)
	s.Exec(t, "UPDATE doc_receipt SET posted = false")
	before := rows(t, s)
	r := runRepair(t, s, repair.Options{})
	if one := step(r, repair.Reverse, false); one == nil || one.Risk != repair.High || r.Done != 0 {
		t.Errorf("steps %+v, want a reversal of high risk that is not done", r.Steps)
	}
	same(t, s, before)

	s.Exec(t, "UPDATE doc_receipt SET posted = true")
	if err := s.Unpost(d); err != nil {
		t.Fatal(err)
	}
	before = rows(t, s)
	s.Exec(t, "INSERT INTO acc_stock (recorder, line, recorder_type, organisation, period, expense, shelf, goods, "+
		"quantity, amount) VALUES ($1, 1, 'receipt', $2, $3, false, $4, $5, 5, 5)", d.ID, d.Organisation, d.Date,
		s.Shelf, s.Goods[0])
	wantRepaired(t, s, runRepair(t, s, repair.Options{}), before)
}

// A client repeats an acknowledged operation that is gone, and it is done once.
func TestResubmit(t *testing.T) {
	s := shop(t)
	key := platformtest.Key()
	post := func() posting.Result {
		t.Helper()
		done, err := s.Books.Create(t.Context(), s.Document(platformtest.Receipt, platformtest.Day(1),
			s.Line(0, 5000, 1000)), key)
		if err != nil {
			t.Fatal(err)
		}
		return done
	}
	gone := post()
	for _, table := range []string{"doc_receipt", "doc_receipt_lines", "acc_stock", "acc_batches", "gl_general",
		"inf_last_costs"} {
		s.Exec(t, "DELETE FROM "+table)
	}
	noted := func() int {
		return s.Count(t, "SELECT count(*) FROM plimsoll_operation WHERE document = $1", gone.ID)
	}
	r := runRepair(t, s, repair.Options{})
	if one := step(r, repair.Resubmit, true); one == nil || one.Document != gone.ID || r.Open() != 1 || noted() != 1 {
		t.Errorf("%d violations, %d notes of the operation: %+v", r.Open(), noted(), r.Steps)
	}
	r = runRepair(t, s, repair.Options{})
	if one := step(r, repair.Resubmit, false); one == nil || r.Open() != 1 || noted() != 1 {
		t.Errorf("%d violations, %d notes of the operation: %+v", r.Open(), noted(), r.Steps)
	}
	if again := post(); again.Replayed {
		t.Error("the key is not free")
	}
	if again := post(); !again.Replayed {
		t.Error("it is done twice")
	}
	s.Clean(t)
}

// Who gives a lost operation up says so.
func TestResubmit_Forgotten(t *testing.T) {
	for _, freed := range []bool{false, true} {
		s := shop(t)
		d := receipt(t, s, 1)
		loseDocument(t, s, d)
		lose(t, s, d)
		s.Exec(t, "DELETE FROM acc_stock_totals; DELETE FROM acc_batches_totals; DELETE FROM gl_general_totals; "+
			"DELETE FROM gl_general_accounts; DELETE FROM acc_sales_totals")
		if freed {
			runRepair(t, s, repair.Options{})
		}
		wantRepaired(t, s, runRepair(t, s, repair.Options{ForgetLost: true}), nil)
		if n := s.Count(t, "SELECT count(*) FROM plimsoll_operation"); n != 0 {
			t.Errorf("freed %v: %d notes", freed, n)
		}
	}
}

func TestRepost_OfWhatRecordedNothing(t *testing.T) {
	s := shop(t)
	d := receipt(t, s, 1)
	before := rows(t, s)
	lose(t, s, d)
	wantRepaired(t, s, runRepair(t, s, repair.Options{}), before)
}

// Layers have the costs: it is posted as its author would now.
func TestRepost_AtTheCostsOfLayers(t *testing.T) {
	s := shop(t)
	receipt(t, s, 1)
	d := issue(t, s, 2, 2000)
	before := rows(t, s)
	lose(t, s, d)
	wantRepaired(t, s, runRepair(t, s, repair.Options{}), before)
}

// What rules refuse now is named, and the rest is repaired.
func TestRepost_Refused(t *testing.T) {
	s := shop(t)
	receipt(t, s, 1)
	d := issue(t, s, 2, 5000)
	lose(t, s, d)
	s.Exec(t, "DELETE FROM plimsoll_number WHERE kind = 'receipt'")
	r := runRepair(t, s, repair.Options{})
	if one := step(r, repair.Repost, false); one == nil || !strings.Contains(one.Skipped, "its rules refuse it now") {
		t.Errorf("steps %+v, want a reposting that the rules refuse", r.Steps)
	}
	if step(r, repair.Renumber, true) == nil || r.Open() == 0 {
		t.Errorf("%d violations: %+v", r.Open(), r.Steps)
	}
}

// Costs that were taken in another order wait for a restoration.
func TestBoundaryBehindAWrongOrderOfCosts(t *testing.T) {
	s := shop(t)
	receipt(t, s, 1)
	second := receipt(t, s, 2)
	d := issue(t, s, 3, 2000)
	s.Exec(t, "UPDATE acc_batches SET receipt = $1 WHERE recorder = $2", second.ID, d.ID)
	wantRepaired(t, s, runRepair(t, s, repair.Options{}), nil)
	if n := s.Count(t, "SELECT count(*) FROM acc_batches_boundary WHERE moment = $1", d.Date); n != 1 {
		t.Errorf("%d boundaries at the issue", n)
	}
	if again := runRepair(t, s, repair.Options{}); len(again.Steps) != 0 {
		t.Errorf("steps of a second repair: %+v, want none", again.Steps)
	}
}

// Others post while a repair runs. What they write is not lost, and what was damaged is repaired.
func TestOnlineBesideLoad(t *testing.T) {
	s := shop(t)
	d := receipt(t, s, 1)
	ended, stop := make(chan error), make(chan struct{})
	begun := make(chan struct{})
	posted := 0
	go func() {
		for {
			at := platformtest.Day(3).Add(time.Duration(posted) * time.Second)
			_, err := s.Books.Create(context.Background(), s.Document(platformtest.Receipt, at, s.Line(0, 1000, 100)),
				platformtest.Key())
			if posted++; posted == 1 {
				close(begun)
			}
			select {
			case <-stop:
				ended <- err
				return
			default:
			}
			if err != nil {
				<-stop
				ended <- err
				return
			}
		}
	}()
	<-begun
	s.Exec(t, "UPDATE acc_stock SET amount = amount + 1 WHERE recorder = $1", d.ID)
	s.Exec(t, "UPDATE acc_stock_totals SET quantity = quantity + 1 WHERE period = 'infinity'")
	s.Exec(t, "UPDATE gl_general_totals SET debit = debit + 1 WHERE period = 'infinity' AND account = '60'")
	r, err := tryRepair(t, s, repair.Options{Online: true})
	close(stop)
	if err := errors.Join(err, <-ended); err != nil {
		t.Fatal(err)
	}
	if step(r, repair.Repost, true) == nil || !strings.Contains(r.Untouched, "not proven") {
		t.Errorf("%q %+v", r.Untouched, r.Steps)
	}
	s.Clean(t)
	if n := s.Count(t, "SELECT count(*) FROM doc_receipt"); n != posted+1 {
		t.Errorf("%d receipts of %d", n, posted+1)
	}
}

// A page whose rows are older than the table says is damaged.
func TestRefused_DamagedTable(t *testing.T) {
	s := shop(t)
	receipt(t, s, 1)
	s.Exec(t, "UPDATE gl_general_accounts SET debit = debit + 1")
	before, extensions := rows(t, s), s.Count(t, "SELECT count(*) FROM pg_extension")
	s.Exec(t, "UPDATE pg_class SET relfrozenxid = pg_current_xact_id()::xid WHERE oid = 'cat_goods'::regclass")
	_, err := tryRepair(t, s, repair.Options{})
	if !errors.Is(err, repair.ErrPhysical) || problem.ClassOf(err) != problem.Threshold ||
		!strings.Contains(err.Error(), "cat_goods") {
		t.Errorf("%v, want physical damage of cat_goods", err)
	}
	same(t, s, before)
	if n := s.Count(t, "SELECT count(*) FROM pg_extension"); n != extensions {
		t.Error("amcheck stays")
	}
}

// A backup comes before the first step, and only if there is one; without it nothing is repaired.
func TestBackup(t *testing.T) {
	s := shop(t)
	receipt(t, s, 1)
	backups, missing := 0, errors.New("the disk is full")
	o := repair.Options{Backup: func(context.Context) error { backups++; return missing }}
	if r, err := tryRepair(t, s, o); err != nil || backups > 0 || r.Done > 0 {
		t.Errorf("clean books: %d backups, %d steps, %v", backups, r.Done, err)
	}
	clean := rows(t, s)
	s.Exec(t, "UPDATE gl_general_accounts SET debit = debit + 1")
	before := rows(t, s)
	if _, err := tryRepair(t, s, repair.Options{DryRun: true, Backup: o.Backup}); err != nil || backups > 0 {
		t.Errorf("a dry run: %d backups, %v", backups, err)
	}
	if _, err := tryRepair(t, s, o); !errors.Is(err, missing) || backups != 1 {
		t.Errorf("a failed backup: %d, %v", backups, err)
	}
	same(t, s, before)
	o.Backup = func(context.Context) error {
		same(t, s, before) // it has what the repair is to change
		return nil
	}
	wantRepaired(t, s, runRepair(t, s, o), clean)
}

// A key whose totals are wrong in several periods is summed once.
func TestRebuild_OfTotalsOfSeveralPeriods(t *testing.T) {
	s := shop(t)
	receipt(t, s, 1)
	before := rows(t, s)
	s.Exec(t, "UPDATE acc_stock_totals SET quantity = quantity + 1")
	wantRepaired(t, s, runRepair(t, s, repair.Options{}), before)
}

// However many totals are wrong, the journal can note it.
func TestRebuild_OfManyTotals(t *testing.T) {
	s := shop(t)
	receipt(t, s, 1)
	s.Exec(t, "INSERT INTO acc_stock_totals (organisation, shelf, goods, period, quantity, amount) SELECT $1, $2, "+
		"gen_random_uuid(), 'infinity', 1, 1 FROM generate_series(1, 1100)", s.Organisation, s.Shelf)
	wantRepaired(t, s, runRepair(t, s, repair.Options{}), nil)
	if n := s.Count(t, "SELECT max(jsonb_array_length(changes)) FROM plimsoll_repair"); n != 1001 {
		t.Errorf("%d changes are noted", n)
	}
}

// A file that is no journal, or one of steps that a restored database does not have, is left as it is.
func TestJournalOfSomethingElse(t *testing.T) {
	s := shop(t)
	receipt(t, s, 1)
	s.Exec(t, "UPDATE gl_general_accounts SET debit = debit + 1")
	wantRepaired(t, s, runRepair(t, s, repair.Options{}), nil)
	path := filepath.Join(t.TempDir(), "journal")
	refused := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := repair.Journal(t.Context(), s.Database, path); problem.ClassOf(err) != problem.Usage {
			t.Errorf("%.40q: %v", text, err)
		}
		if now, _ := os.ReadFile(path); string(now) != text {
			t.Errorf("%q became %q", text, now)
		}
	}
	refused(`{"settings": "without a line's end"}`)
	refused("a text\n")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if n, err := repair.Journal(t.Context(), s.Database, path); err != nil || n != 1 {
		t.Fatalf("%d lines, %v", n, err)
	}
	text, _ := os.ReadFile(path)
	s.Exec(t, "DELETE FROM plimsoll_repair")
	refused(string(text))
}
