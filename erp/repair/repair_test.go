package repair_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"plimsoll/erp/audit/damage"
	"plimsoll/erp/audit/damagetest"
	"plimsoll/erp/erptest"
	erprepair "plimsoll/erp/repair"
	"plimsoll/platform/care/repair"
	"plimsoll/platform/data/database/databasetest"
	"plimsoll/test/thorough"
)

func TestMain(m *testing.M) {
	if dsn := os.Getenv(killedVariable); dsn != "" {
		killed(dsn)
	}
	databasetest.Main(m)
}

// few damages of each class of repair, for books of few documents.
var few = []string{
	"TotalOfACustomerOrder", "CostOfAGoodsSale", "AmountOfStock", "MovementTooMany", "OrganisationOfAnother",
	"EntryThatIsGone", "SidesOfAnEntry", "BasisOfARequest", "NumberBeyondTheCounter", "BoundaryOfNothing",
	"TotalOfAnAccount", "TotalOfAMonth", "QuantityOfACell", "HeaderThatIsGone", "ReferenceOfABankReceipt",
	"TotalThatIsSplit", "SplitThatIsInvented", "BoundaryOf2000", "NumberOfAGap", "OperationThatIsGone",
	"CurrencyOfAContract",
}

const fewRounds = 2

// tried are all damages, or few of them.
func tried(t *testing.T, mended bool) (*erptest.Company, map[string]damage.Damage) {
	rounds, damages := fewRounds, map[string]damage.Damage{}
	for name, d := range damage.All {
		if damage.BackupOnly(name) != mended && (thorough.Asked() || slices.Contains(few, name)) {
			damages[name] = d
		}
	}
	if thorough.Asked() {
		rounds = damagetest.Rounds
	}
	return damagetest.Company(t, rounds), damages
}

func run(t *testing.T, c *erptest.Company, o repair.Options) repair.Report {
	t.Helper()
	report, err := erprepair.Run(t.Context(), c.Database, o)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// Damages of which the books themselves know better are mended: every row is what it was, whatever else is damaged.
// Neither a dry run nor a second one changes anything, and one that was killed goes on where it was.
func TestWhatIsMendedIsWhatItWas(t *testing.T) {
	c, damages := tried(t, true)
	before := rows(t, c)
	subjects := damagetest.Inflict(t, c, damages)
	damaged := rows(t, c)
	plan := run(t, c, repair.Options{DryRun: true})
	differ(t, "a dry run", damaged, rows(t, c))
	for name, subject := range subjects {
		if !slices.ContainsFunc(plan.Steps, func(s repair.Step) bool { return about(s, subject, damages[name]) }) {
			t.Errorf("nobody plans to mend %s of %s: %s", name, subject, outcomeOf(plan, subject))
		}
	}
	journal := kill(t, c)
	done := run(t, c, repair.Options{})
	noted(t, c, journal, stepsUntilKilled+done.Done)
	if *done.ViolationsAfter != 0 || done.ViolationsBefore == 0 || done.Done == 0 {
		t.Errorf("%d violations before, %d after %d steps", done.ViolationsBefore, *done.ViolationsAfter, done.Done)
	}
	for _, s := range done.Steps {
		if s.Class == repair.Restore || s.Skipped != "" && s.Skipped != "already in order" {
			t.Errorf("%s %s: %s %s", s.Class, s.Object, s.Why, s.Skipped)
		}
	}
	if !strings.Contains(done.Untouched, "nothing changed except what the steps wrote") {
		t.Errorf("proof: %q", done.Untouched)
	}
	mended := rows(t, c)
	differ(t, "the repair", before, mended)
	if again := run(t, c, repair.Options{}); again.ViolationsBefore != 0 || len(again.Steps) != 0 {
		t.Errorf("a second repair finds %d violations: %+v", again.ViolationsBefore, again.Steps)
	}
	differ(t, "a second repair", mended, rows(t, c))
}

// Where the document itself or a catalog is damaged, a repair says so and leaves everything as it is.
func TestWhatOnlyABackupHasIsNamedAndLeft(t *testing.T) {
	c, damages := tried(t, false)
	subjects := damagetest.Inflict(t, c, damages)
	// a total, so that there is something to do
	c.Exec(t, "UPDATE gl_general_accounts SET debit = debit + 1 WHERE account = '60'")
	refused(t, c)
	c.Exec(t, "UPDATE gl_general_accounts SET debit = debit - 1 WHERE account = '60'")
	before := rows(t, c)
	done := run(t, c, repair.Options{})
	for name, subject := range subjects {
		i := slices.IndexFunc(done.Steps, func(s repair.Step) bool { return strings.Contains(s.Object, subject) })
		if i < 0 || done.Steps[i].Done || done.Steps[i].Skipped == "" {
			t.Errorf("%s of %s: %s", name, subject, outcomeOf(done, subject))
		}
	}
	differ(t, "the repair", before, rows(t, c))
	for _, s := range done.Steps {
		if s.Done && s.Class != repair.Renumber { // a header of another organisation has a number there
			t.Errorf("%s %s is done: %s", s.Class, s.Object, s.Why)
		}
	}
	if done.Open() == 0 {
		t.Error("no violations are left")
	}
}

// about says whether a step mends the damage; what belongs to no document is named by its register or counter.
func about(s repair.Step, subject string, d damage.Damage) bool {
	switch {
	case s.Class == repair.Restore:
		return false
	case d.Of != "":
		return strings.Contains(s.Object, subject)
	}
	text := s.Object
	for _, c := range s.Changes {
		text += " " + c.Field
	}
	return strings.Contains(text, strings.TrimSpace(subject))
}

// outcomeOf is what a report says about a subject.
func outcomeOf(r repair.Report, subject string) string {
	var steps []string
	for _, s := range r.Steps {
		if strings.Contains(s.Object, subject) {
			steps = append(steps, string(s.Class)+" "+string(s.Risk)+" "+s.Why+" "+s.Skipped)
		}
	}
	return strings.Join(steps, "; ")
}

// rows of all tables but those that the platform keeps for itself, without the versions of documents. Of turnovers that
// are split, the sums.
func rows(t *testing.T, c *erptest.Company) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, table := range erptest.Books() {
		if strings.HasPrefix(table, "plimsoll_") && table != "plimsoll_operation" {
			continue
		}
		from := "SELECT (to_jsonb(t) - 'version')::text AS r FROM " + table + " t"
		if strings.HasPrefix(table, "gl_") && table != "gl_general" {
			from = "SELECT (k || jsonb_build_object('debit', sum(debit), 'credit', sum(credit)))::text AS r FROM " +
				"(SELECT to_jsonb(t) - 'debit' - 'credit' - 'split' AS k, debit, credit FROM " + table +
				" t) x GROUP BY k HAVING sum(debit) <> 0 OR sum(credit) <> 0"
		}
		text := c.Value(t, "SELECT coalesce(string_agg(r, E'\\n' ORDER BY r), '') FROM ("+from+") r")
		all[table] = strings.Split(text, "\n")
	}
	return all
}

func differ(t *testing.T, what string, before, after map[string][]string) {
	t.Helper()
	for _, table := range slices.Sorted(maps.Keys(before)) {
		for _, row := range before[table] {
			if !slices.Contains(after[table], row) {
				t.Errorf("%s takes from %s: %s", what, table, row)
			}
		}
		for _, row := range after[table] {
			if !slices.Contains(before[table], row) {
				t.Errorf("%s adds to %s: %s", what, table, row)
			}
		}
	}
}
