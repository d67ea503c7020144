package compare

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"plimsoll/ground/problem"
	"plimsoll/lab/prove/compare/verdict"
	"plimsoll/lab/recorded/replay"
	"plimsoll/lab/recorded/sample"
	"plimsoll/lab/recorded/sample/sampletest"
	"plimsoll/lab/system"
)

// slowInsert makes one operation of the recorded load two seconds slower: more than a busy machine does.
const slowInsert = `CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS
	$$ BEGIN PERFORM pg_sleep(2); RETURN NULL; END $$;
	CREATE TRIGGER slow AFTER INSERT ON _Document34 EXECUTE FUNCTION slow()`

func replaying(t *testing.T, change func([]byte) []byte, sql string) Options {
	t.Helper()
	r := sampletest.Record(t, sampletest.Options{Users: 4, Each: 10})
	o := Options{Metric: "apdex", Pairs: verdict.RunsMin, Seed: 3, Margin: MarginDefault,
		Store: OpenStore(t.TempDir()), Replay: &replay.Options{Paths: []string{r.Folder(t, change)}, Speed: 1,
			Database: sampletest.Database, State: t.TempDir(), Target: 300 * time.Millisecond}}
	q := Request{Options: o}
	for _, sql := range []string{"", sql} {
		side, err := q.side(SideSpec{DSN: sampletest.Base(t), Reset: system.ResetCopy, SQL: sql})
		if err != nil {
			t.Fatal(err)
		}
		side.Run.DSN = side.DSN
		o.Sides = append(o.Sides, side)
	}
	return o
}

// Each run plays the log on a new copy, and the operation that is slower there is the one that is worse.
func TestCompare_OfAReplay(t *testing.T) {
	c := compared(t, replaying(t, nil, slowInsert))
	var latency Table
	for _, table := range c.Findings[0].Tables {
		if table.Name == "latency_ms_p50" {
			latency = table
		}
	}
	slow := sample.NameOf("sale.write")
	for _, row := range latency.Rows {
		switch is := row.Variant > row.Base+1000; {
		case row.Operation == slow && !is:
			t.Errorf("%q: %+v, want it a second slower at least", row.Operation, row.Row)
		case row.Operation != slow && is:
			t.Errorf("%q is slower, too: %+v", row.Operation, row.Row)
		}
	}
	if !c.Complete || c.Plan.Replay == nil || len(latency.Rows) < 3 {
		t.Errorf("%+v: %d rows", c.Plan, len(latency.Rows))
	}
	for _, r := range c.Runs {
		if same := r.Figures[""][asInTheLog]; same < replay.FaithfulFrom {
			t.Errorf("round %d of %s is %v as in the log", r.Round, r.Side, same)
		}
	}
	var text bytes.Buffer
	if err := c.Text(&text); err != nil || !strings.Contains(text.String(), "replay of ") {
		t.Errorf("%v\n%s", err, &text)
	}
}

// A replay that is not faithful says nothing about the log's load.
func TestCompare_AnUnfaithfulReplayEndsIt(t *testing.T) {
	o := replaying(t, func(log []byte) []byte {
		return bytes.ReplaceAll(log, []byte("RowsAffected=1,"), []byte("RowsAffected=2,"))
	}, "")
	_, err := Compare(t.Context(), o)
	if problem.ClassOf(err) != problem.Threshold || !strings.Contains(err.Error(), "as in the log, which is below") {
		t.Error(err)
	}
}
