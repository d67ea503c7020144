package bench_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/engine/bench"
)

func TestWorkload_IsTheFileThatTheCommandPlays(t *testing.T) {
	paths, err := filepath.Glob("workloads/*.sql")
	if err != nil || len(paths) < 8 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".sql")
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := bench.Workload(name); err != nil || got != string(want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for _, name := range []string{bench.Cycle, bench.CycleTransaction, bench.NoAnalyze, bench.NoIndex, bench.NoTable,
		bench.Storm} {
		if _, err := bench.Workload(name); err != nil {
			t.Error(err)
		}
	}
	if _, err := bench.Workload("nonsense"); err == nil || !strings.Contains(err.Error(), "nonsense") {
		t.Error(err)
	}
}

// A cycle and the same in one transaction do the same work, or their ratio would speak of something else.
func TestCycleTransaction_IsTheCycleBetweenBeginAndCommit(t *testing.T) {
	statements := func(name string) string {
		all, err := bench.Statements(name)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(all, "\n")
	}
	cycle, whole := statements(bench.Cycle), statements(bench.CycleTransaction)
	if whole != "BEGIN;\n"+cycle+"\nCOMMIT;" {
		t.Errorf("%s\nis not\n%s", whole, cycle)
	}
}

func TestLiveTables_AsksForSoMany(t *testing.T) {
	sql, err := bench.LiveTables(1234)
	if err != nil || !strings.Contains(sql, "1 .. 1234 LOOP") || strings.Contains(sql, ":live") {
		t.Errorf("%q, %v", sql, err)
	}
}

func TestWideTable_HasSoManyColumnsAndRows(t *testing.T) {
	sql, err := bench.WideTable(321, 4567)
	if err != nil || strings.Count(sql, "wide_321") < 3 || !strings.Contains(sql, "generate_series(1, 321)") ||
		!strings.Contains(sql, "generate_series(1, 4567)") || strings.Contains(sql, ":columns") {
		t.Errorf("%q, %v", sql, err)
	}
}

func TestLike_ReadsTheTableThatIsMade(t *testing.T) {
	table, err := bench.LikeTable(321, 4567, 89)
	if err != nil || strings.Count(table, "like_321") < 4 || !strings.Contains(table, "generate_series(1, 4567)") ||
		!strings.Contains(table, "r % 89 = 0") || strings.Contains(table, ":length") {
		t.Errorf("%q, %v", table, err)
	}
	query, err := bench.Like(321)
	if err != nil || !strings.Contains(query, "FROM like_321 WHERE") {
		t.Errorf("%q, %v", query, err)
	}
}

// Both reports make the permanent table if it is not there: which one came first must not matter.
func TestReports_ReadTheSameTable(t *testing.T) {
	creation := func(name string) string {
		all, err := bench.Statements(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, statement := range all {
			if strings.Contains(statement, "EXISTS entries") {
				return statement
			}
		}
		t.Fatalf("%s makes no entries", name)
		return ""
	}
	if report, temp := creation("report"), creation("report-temp"); report != temp {
		t.Errorf("%s\nis not\n%s", report, temp)
	}
}
