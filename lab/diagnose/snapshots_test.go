package diagnose

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plimsoll/ground/problem"
	"plimsoll/ground/problem/problemtest"
)

// kept writes a snapshot of an MS SQL Server after so many transactions, each of which waited 5 ms for the log, of them
// 1 ms for a processor, and ran for 2 ms.
func keptSnapshot(t *testing.T, dir string, minute, transactions int) string {
	t.Helper()
	path := filepath.Join(dir, fmt.Sprintf("%d.json", minute))
	text := fmt.Sprintf(`{"plimsoll":"mssql-snapshot-1","at":"2026-11-28T10:%02d:00Z","version":"15.0","started":"x",
"cpus":8,"cpu_ms":%d,"transactions":%d,"waits":[{"type":"WRITELOG","tasks":1,"ms":%d,"signal_ms":%d}],
"files":[{"base":"erp","kind":"LOG","reads":0,"read_ms":0,"writes":%d,"write_ms":%d}],"spinlocks":null,
"queries":[{"hash":"0x1","text":"(@P1 nvarchar(4),@P2 int)UPDATE a\nSET b = 'secret'",
"calls":%d,"ms":%d,"cpu_ms":%d,"pages":%d}]}`, minute,
		2*transactions, transactions, 5*transactions, transactions, transactions, 4*transactions, transactions,
		6*transactions, 3*transactions, 7*transactions)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestSnapshots_StandInTheSameLedger(t *testing.T) {
	dir := t.TempDir()
	both := keptSnapshot(t, dir, 0, 1000) + "," + keptSnapshot(t, dir, 10, 61_000)
	other, notes, err := snapshotsOf(both)
	if err != nil {
		t.Fatal(err)
	}
	shares := 0.0
	for _, line := range other.Ledger.Lines {
		shares += line.Share
	}
	if math.Abs(shares-1) > 1e-9 {
		t.Errorf("the ledger's shares add up to %v", shares)
	}
	this := ledgerOf(0.7, map[string]float64{OnCPU: 1})
	this.Compare(both, other)
	got := map[string]string{}
	for _, d := range this.Against.Differences {
		got[d.Class] = fmt.Sprintf("%.2f %.2f", d.OtherMS, d.ThisMS)
	}
	want := map[string]string{"log": "4.00 0.00", OnCPU: "2.00 7.00", forCPU: "1.00 0.00"}
	for class, ms := range want {
		if got[class] != ms {
			t.Errorf("%s: %s ms of a transaction there and here, expected %s", class, got[class], ms)
		}
	}
	wanted := []string{"WRITELOG, 100 % of the waits: a commit waits until the log is flushed",
		"query: 360.0 s in 60,000 calls of 6.0 ms, 50 % of it on processors, 7 pages each: UPDATE a SET b = ?",
		"files of erp (log): 0 reads, none each; 60000 writes, 4.0 ms each"}
	if diff := cmp.Diff(wanted, notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
	this.Against.Notes = notes
	var shown, page strings.Builder
	if err := this.againstText(&shown); err != nil || !strings.Contains(shown.String(), "\n  there  "+wanted[0]+"\n") {
		t.Errorf("%v\n%s", err, &shown)
	}
	if err := this.HTML(&page); err != nil || !strings.Contains(page.String(), "<li>"+wanted[0]+"</li>") {
		t.Errorf("%v, the page lacks the notes", err)
	}
}

// The example shows a wait of each kind.
func TestSnapshots_TheExampleIsOne(t *testing.T) {
	const dir = "../../docs/examples/mssql-"
	d, notes, err := snapshotsOf(dir + "before.json," + dir + "after.json")
	if err != nil {
		t.Fatal(err)
	}
	if n, all := len(d.Ledger.Lines), strings.Join(notes, "\n"); n < 8 || strings.Count(all, "query: ") != 3 ||
		strings.Count(all, "files of ") != 3 || strings.Contains(all, "Bolt") ||
		!slices.ContainsFunc(d.Ledger.Lines, func(l Line) bool { return l.Name == onlyThere }) {
		t.Errorf("%d classes\n%s", n, all)
	}
}

func TestSnapshots_MistakesAreNamed(t *testing.T) {
	dir := t.TempDir()
	first, second := keptSnapshot(t, dir, 0, 1000), keptSnapshot(t, dir, 10, 2000)
	_, _, err := snapshotsOf(first)
	problemtest.Want(t, err, problem.Usage, "only what has happened since a start", "before.json,after.json")
	_, _, err = snapshotsOf(second + "," + first)
	problemtest.Want(t, err, problem.Usage, "not later than the first", "mssql-snapshot.sql")
	_, _, err = snapshotsOf(first + "," + filepath.Join(dir, "none.json"))
	problemtest.Want(t, err, problem.Usage, "none.json")
	for _, other := range []string{"fast.json", "postgres://a,b@h/d", "host=a,b dbname=c"} {
		if d, _, err := snapshotsOf(other); d != nil || err != nil {
			t.Errorf("%s is taken for snapshots: %v", other, err)
		}
	}
}
