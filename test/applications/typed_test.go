package applications

import (
	"encoding/xml"
	"regexp"
	"strings"
	"testing"
	"time"

	"plimsoll/cmd/plimsoll/cli"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/test/files"
	"plimsoll/web/browsertest"
)

// Of the gates here: a healthy application answers in less, however busy the machine, and a slow one takes longer.
const (
	limit = "10s"
	slow  = "12"
	// visitorThinks while the visit is recorded, as the users do that are made of it.
	visitorThinks = 3 * time.Second
)

// What the documents tell to type, with what is a person's own in it.

func forTheWeb(t *testing.T) []string {
	t.Helper()
	lines := commands(t, "README.md", "--from-har visit.har")
	if len(lines) != 4 {
		t.Fatalf("README has other lines for a web application: %q", lines)
	}
	return lines
}

func forADatabase(t *testing.T) []string {
	t.Helper()
	lines := commands(t, "README.md", "pgbench -i")
	if len(lines) != 3 {
		t.Fatalf("README has other lines for a database: %q", lines)
	}
	return []string{own(t, lines[0], "mydb", `"$PGDATABASE"`), own(t, lines[1], "postgres://…/mydb", `"$DSN"`),
		own(t, lines[2], "postgres://…/mydb", `"$DSN"`)}
}

func gateForTheWeb(t *testing.T, operation string) string {
	t.Helper()
	return own(t, commands(t, "README.md", "--junit gate.xml")[0], "order: p95 > 300ms", operation+": p95 > "+limit)
}

func gateForADatabase(t *testing.T, operation string) string {
	t.Helper()
	return own(t, commands(t, "docs/ci.md", "--markdown summary.md")[0], "shop.toml", "docs/examples/pgbench.toml",
		"checkout: p95 > 300ms", operation+": p95 > "+limit)
}

// archive of a run, as a CI server makes it and a person opens it.
func archive(t *testing.T) (kept, opened string) {
	t.Helper()
	for _, line := range commands(t, "docs/ci.md", "after_script:") {
		if command, is := strings.CutPrefix(line, "- plimsoll export "); is {
			kept = "plimsoll export " + command
		}
	}
	opened = "plimsoll report run.tar.zst"
	if kept == "" || !strings.Contains(document(t, "docs/ci.md"), "`"+opened+"`") {
		t.Fatalf("docs/ci.md makes no archive, or does not say %q", opened)
	}
	return kept, opened
}

// In seconds: the documents have what the tests below type in minutes.
func TestDocumentsHaveWhatIsTyped(t *testing.T) {
	kept, opened := archive(t)
	for _, line := range append(append(forTheWeb(t), forADatabase(t)...), gateForTheWeb(t, "a"),
		gateForADatabase(t, "b"), kept, opened) {
		if strings.Contains(line, "…") || !strings.Contains(line, "plimsoll ") && !strings.Contains(line, "pgbench ") {
			t.Errorf("nobody can type %q", line)
		}
		t.Log(line)
	}
}

// slowed is an application that somebody has spoilt: its database waits with each row that is written into a table.
func slowed(t *testing.T, dsn, table string) {
	t.Helper()
	clustertest.Exec(t, dsn, "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep("+slow+
		"); RETURN NEW; END'")
	clustertest.Exec(t, dsn, "CREATE TRIGGER slow BEFORE INSERT OR UPDATE ON "+table+
		" FOR EACH ROW EXECUTE FUNCTION slow()")
}

// From nothing to a gate in CI on one's own application, as README tells a person who has one: a visit, a scenario, a
// score, the gate.
func TestDjangoAdmin_FromNothingToAGate(t *testing.T) {
	takesMinutes(t)
	a := Django(t)
	fromVisitToGate(t, atDesk(t, a.DSN), inTheAdmin(t, a, visitorThinks), "item_add.post", func() {
		slowed(t, a.DSN, "office_item")
	})
}

func TestDjangoShop_FromNothingToAGate(t *testing.T) {
	takesMinutes(t)
	a := Django(t)
	fromVisitToGate(t, atDesk(t, a.DSN), inTheShop(t, a, visitorThinks), "orders.post", func() {
		slowed(t, a.DSN, "office_order")
	})
}

// fromVisitToGate types README's lines for a web application. The operation is one of those that become slow.
func fromVisitToGate(t *testing.T, d *desk, r *browsertest.Recording, operation string, spoil func()) {
	t.Helper()
	files.Write(t, d.folder, "visit.har", string(r.HAR(t)))
	lines := forTheWeb(t)
	said := d.types(t, lines[0], cli.ExitOK)
	scenario := d.read(t, "shop.toml")
	if !strings.Contains(said, "not written: ") || strings.Contains(scenario, "secret & more") {
		t.Errorf("it does not say that the password is not written, or writes it:\n%s\n%s", said, scenario)
	}
	files.Write(t, d.folder, "shop.toml", own(t, scenario, `"NOT WRITTEN"`, `"`+DjangoPassword("alice")+`"`))
	if said := d.types(t, lines[1], cli.ExitOK); !strings.Contains(said, operation) {
		t.Errorf("the check does not list %s:\n%s", operation, said)
	}
	d.types(t, lines[2], cli.ExitOK)
	d.types(t, lines[3], cli.ExitOK, cli.ExitThreshold) // which is also that the time given was not enough
	d.gates(t, gateForTheWeb(t, operation), operation+": p95 > "+limit, "gate.xml", "gate.md", spoil)
}

// gates types a gate twice: on the healthy application it passes, on the spoilt one it fails, and says so in the list,
// for the CI server and for a pull request.
func (d *desk) gates(t *testing.T, command, condition, junit, markdown string, spoil func()) {
	t.Helper()
	d.types(t, command, cli.ExitOK)
	if gates := gatesIn(t, d.read(t, junit)); gates.Tests != 2 || gates.Failures+gates.Errors > 0 {
		t.Errorf("JUnit of the healthy one: %+v", gates)
	}
	if text := d.read(t, markdown); !strings.Contains(text, "### plimsoll run: passed") {
		t.Errorf("Markdown of the healthy one:\n%s", text)
	}
	spoil()
	// On a busy machine the spoilt one lets too few operations through to decide the other gate: an error, no failure.
	said := d.types(t, command, cli.ExitThreshold)
	failed := regexp.MustCompile(`1 of 2 gates failed(, 1 cannot be decided)?: ` + regexp.QuoteMeta(condition))
	if !failed.MatchString(said) {
		t.Errorf("the list lacks what failed:\n%s", said)
	}
	gates := gatesIn(t, d.read(t, junit))
	if gates.Tests != 2 || gates.Failures != 1 || (gates.Errors > 0) != strings.Contains(said, "1 cannot be decided") {
		t.Errorf("JUnit of the slow one: %+v", gates)
	}
	for _, c := range gates.Cases {
		if (c.Name == condition) != (c.Failure != nil) {
			t.Errorf("JUnit of the slow one: %+v", c)
		}
	}
	if text := d.read(t, markdown); !strings.Contains(text, "**not passed**") || !strings.Contains(text, "**failed**") {
		t.Errorf("Markdown of the slow one:\n%s", text)
	}
}

// gateSuite is what a CI server reads of the gates.
type gateSuite struct {
	Name     string `xml:"name,attr"`
	Tests    int    `xml:"tests,attr"`
	Failures int    `xml:"failures,attr"`
	Errors   int    `xml:"errors,attr"`
	Cases    []struct {
		Name    string  `xml:"name,attr"`
		Failure *string `xml:"failure"`
	} `xml:"testcase"`
}

func gatesIn(t *testing.T, text string) gateSuite {
	t.Helper()
	var all struct {
		Suites []gateSuite `xml:"testsuite"`
	}
	if err := xml.Unmarshal([]byte(text), &all); err != nil {
		t.Fatal(err)
	}
	for _, suite := range all.Suites {
		if suite.Name == "gates" {
			return suite
		}
	}
	t.Fatalf("no gates in\n%s", text)
	return gateSuite{}
}

// The same on pgbench's database: README's lines for a database, the gate and the archive of docs/ci.md.
func TestPgbench_FromNothingToAGate(t *testing.T) {
	takesMinutes(t)
	dsn := clustertest.Database(t).Secret()
	d := atDesk(t, dsn)
	d.pgbench(t)
	lines := forADatabase(t)
	d.types(t, lines[0], cli.ExitOK)
	d.types(t, lines[1], cli.ExitOK)
	d.types(t, lines[2], cli.ExitOK, cli.ExitThreshold)
	d.gates(t, gateForADatabase(t, "transfer"), "transfer: p95 > "+limit, "gates.xml", "summary.md", func() {
		slowed(t, dsn, "pgbench_accounts")
	})
	kept, opened := archive(t)
	d.types(t, kept, cli.ExitOK)
	if said := d.types(t, opened, cli.ExitOK); !strings.Contains(said, "transfer") {
		t.Errorf("the archive's report lacks the operation:\n%s", said)
	}
}
