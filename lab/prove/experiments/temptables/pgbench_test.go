package temptables

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"plimsoll/lab/prove/experiments/site"
)

const pgbenchReport = `pgbench (18.6)
transaction type: /tmp/x.sql
number of clients: 2
number of transactions actually processed: 1234
number of failed transactions: 0 (0.000%)
latency average = 1.620 ms
initial connection time = 2.1 ms
tps = 1234.567890 (without initial connection time)
statement latencies in milliseconds and failures:
         0.612           0 CREATE TEMP TABLE work (id int);
         0.100           0 INSERT INTO work
         0.010           0 COMMIT;
`

func TestReadPlayed(t *testing.T) {
	p, err := readPlayed(pgbenchReport)
	want := played{1234.56789, 1234, []command{{"CREATE TEMP TABLE work (id int);", 0.612}, {"INSERT INTO work", 0.1},
		{"COMMIT;", 0.01}}}
	if diff := cmp.Diff(want, p, cmp.AllowUnexported(played{}, command{})); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if p.latencyOf("COMMIT") != 0.01 || p.latencyOf("DROP") != 0 {
		t.Errorf("COMMIT took %v, want 0.01, and DROP %v, want 0", p.latencyOf("COMMIT"), p.latencyOf("DROP"))
	}
	for what, report := range map[string]string{
		"Empty":  "",
		"None":   "number of transactions actually processed: 0\n",
		"Failed": strings.Replace(pgbenchReport, "failed transactions: 0", "failed transactions: 3", 1),
	} {
		if p, err := readPlayed(report); err == nil {
			t.Errorf("%s: %+v", what, p)
		}
	}
}

func TestPlay_AsksPgbenchForWhatWasAskedFor(t *testing.T) {
	for what, c := range map[string]struct {
		play play
		want string
	}{
		"ATime": {play{clients: 1, lasts: 3 * time.Second},
			"--no-vacuum --report-per-command --file=x --client=1 --jobs=1 --time=3"},
		"ARate": {play{clients: 1, lasts: time.Millisecond, rate: 50},
			"--no-vacuum --report-per-command --file=x --client=1 --jobs=1 --time=1 --rate=50"},
		"ACount": {play{clients: 1, transactions: 7},
			"--no-vacuum --report-per-command --file=x --client=1 --jobs=1 --transactions=7"},
	} {
		if got := strings.Join(c.play.arguments("x"), " "); got != c.want {
			t.Errorf("%s: %s", what, got)
		}
	}
}

func TestVariants(t *testing.T) {
	if got := site.Stock.Options(); got != "" {
		t.Errorf("stock is asked for %q", got)
	}
	if got := site.Ours.Options(); strings.Contains(got, "=off") || strings.Count(got,
		"=on") != len(site.TempSettings) {
		t.Error(got)
	}
	if got := site.Without(site.SkipLocks).Options(); !strings.Contains(got, "-c temp_skip_locks=off") ||
		strings.Count(got, "=on") != len(site.TempSettings)-1 {
		t.Error(got)
	}
	if got := site.Only(site.SkipLocks).Options(); !strings.Contains(got, "-c temp_skip_locks=on") ||
		strings.Count(got, "=on") != 1 {
		t.Error(got)
	}
}
