package repair_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"plimsoll/erp/erptest"
	erprepair "plimsoll/erp/repair"
	"plimsoll/ground/problem"
	"plimsoll/platform/care/repair"
	"plimsoll/platform/data/database"
)

// killedVariable has the database of a repair that the test binary begins and does not end.
const killedVariable = "PLIMSOLL_TEST_REPAIR_KILLED"

// stepsUntilKilled of a repair.
const stepsUntilKilled = 3

// killed repairs, and kills its own process in the middle.
func killed(dsn string) {
	db, err := database.Open(context.Background(), dsn, database.Options{Application: "plimsoll repair"})
	if err == nil {
		progress := func(done, _ int, _ repair.Step) {
			if done == stepsUntilKilled {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			}
		}
		_, err = erprepair.Run(context.Background(), db, repair.Options{Online: true, Progress: progress})
	}
	fmt.Println("not killed:", err)
	os.Exit(1)
}

// kill a repair after some steps. The journal gets a line of each, but for the end of the last one.
func kill(t *testing.T, c *erptest.Company) (journal string) {
	t.Helper()
	command := exec.Command(os.Args[0], "-test.run=^$")
	command.Env = append(os.Environ(), killedVariable+"="+c.DSN)
	output, err := command.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("%v %s", err, output)
	}
	if n := c.Count(t, "SELECT count(*) FROM plimsoll_repair"); n != stepsUntilKilled {
		t.Fatalf("%d steps before the kill", n)
	}
	journal = filepath.Join(t.TempDir(), "journal")
	if n, err := repair.Journal(t.Context(), c.Database, journal); err != nil || n != stepsUntilKilled {
		t.Fatalf("%d lines of the killed repair, %v", n, err)
	}
	text, _ := os.ReadFile(journal)
	if err := os.WriteFile(journal, text[:len(text)-5], 0o644); err != nil {
		t.Fatal(err)
	}
	erptest.Alone(t, c.Database)
	return journal
}

// noted fails the test unless the journal has each step once.
func noted(t *testing.T, c *erptest.Company, journal string, steps int) {
	t.Helper()
	if _, err := repair.Journal(t.Context(), c.Database, journal); err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(journal)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	for i, line := range lines {
		var e repair.Entry
		if err := json.Unmarshal([]byte(line), &e); err != nil || e.Step != int64(i+1) || len(e.Proof["before"]) == 0 {
			t.Errorf("line %d: %v %s", i+1, err, line)
		}
	}
	if len(lines) != steps {
		t.Errorf("%d lines of %d steps", len(lines), steps)
	}
}

// refused: others who use the database, and damaged pages and indexes, stop a repair before it changes anything.
func refused(t *testing.T, c *erptest.Company) {
	t.Helper()
	before := rows(t, c)
	other, err := pgx.Connect(t.Context(), c.DSN+"&application_name=other")
	if err != nil {
		t.Fatal(err)
	}
	_, err = erprepair.Run(t.Context(), c.Database, repair.Options{})
	if problem.ClassOf(err) != problem.Environment || !strings.Contains(err.Error(), "other") {
		t.Errorf("with another session: %v", err)
	}
	_ = other.Close(t.Context())
	// an index that does not have what its table has
	c.Exec(t, "CREATE INDEX lacking ON cat_items (code) WHERE code <> 'I0'")
	c.Exec(t, "UPDATE pg_index SET indpred = NULL WHERE indexrelid = 'lacking'::regclass")
	_, err = erprepair.Run(t.Context(), c.Database, repair.Options{Online: true})
	if !errors.Is(err, repair.ErrPhysical) || problem.ClassOf(err) != problem.Threshold {
		t.Errorf("with an index that lacks a row: %v", err)
	}
	differ(t, "a refused repair", before, rows(t, c))
	if n := c.Count(t, "SELECT count(*) FROM plimsoll_repair"); n != 0 {
		t.Errorf("%d steps were done", n)
	}
	c.Exec(t, "DROP INDEX lacking")
	erptest.Alone(t, c.Database)
}
