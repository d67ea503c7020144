package scale

import (
	"context"
	"testing"
	"time"

	"pgregory.net/rapid"

	"plimsoll/erp/operations"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/lab/load/apdex"
	"plimsoll/lab/load/tally"
	"plimsoll/lab/run/result"
)

const from, to = 5 * time.Second, 65 * time.Second

// someOperations draws operations around every limit that counts.
func someOperations(t *rapid.T) []tally.Sample {
	all := operations.All()
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) tally.Sample {
		k := rapid.IntRange(0, len(all)-1).Draw(t, "operation")
		due := rapid.OneOf(
			rapid.SampledFrom([]time.Duration{0, from - 1, from, to - 1, to}),
			rapid.Custom(func(t *rapid.T) time.Duration {
				return time.Duration(rapid.Int64Range(0, int64(70*time.Second)).Draw(t, "due"))
			}),
		).Draw(t, "due")
		target := all[k].Target
		took := rapid.SampledFrom([]time.Duration{0, 1, target - 1, target, target + 1, 4*target - 1, 4 * target,
			4*target + 1, 10 * target}).Draw(t, "took")
		outcome := rapid.SampledFrom([]tally.Outcome{tally.OK, tally.OK, tally.Refused, tally.Overload,
			tally.Failed}).Draw(t, "outcome")
		return tally.Sample{Operation: k, Due: due, Sent: due, Done: due + took, Outcome: outcome}
	}), 0, 200).Draw(t, "operations")
}

// counted is the same operations as the product counts them.
func counted(samples []tally.Sample) *result.Result {
	all := operations.All()
	var targets []time.Duration
	var priorities []int
	for _, op := range all {
		targets, priorities = append(targets, op.Target), append(priorities, op.Priority)
	}
	count := tally.New(targets, priorities, from, to)
	for _, s := range samples {
		count.Count(s)
	}
	if _, err := count.Tick(0, 0, 0); err != nil {
		panic(err) // of an encoder that writes to memory
	}
	r := &result.Result{}
	for k, op := range all {
		o := result.Operation{ID: op.ID, Counts: count.Operations[k].Apdex}
		if score, ok := o.Counts.Score(); ok {
			o.Apdex = &score
		}
		r.Operations, r.Ops = append(r.Operations, o), r.Ops+o.Counts.N()
	}
	if score, _, ok := count.Apdex(); ok {
		r.Apdex = &score
	}
	return r
}

func TestRecount_AgreesWithTheCountingWhateverHappened(t *testing.T) {
	dsn := clustertest.Database(t).Secret()
	rapid.Check(t, func(t *rapid.T) {
		samples := someOperations(t)
		var rows []raw
		for _, s := range samples {
			rows = append(rows, rawOf(operations.All()[s.Operation].ID, s))
		}
		counts, err := recount(context.Background(), dsn, rows, from, to)
		if err != nil {
			t.Fatal(err)
		}
		if found := differences(counted(samples), counts); len(found) > 0 {
			t.Errorf("the recount differs: %q", found)
		}
	})
}

func TestRecount_FindsWhatWasCountedWrongly(t *testing.T) {
	dsn := clustertest.Database(t).Secret()
	op := operations.All()[0]
	sample := tally.Sample{Due: from, Done: from + op.Target/2, Outcome: tally.OK}
	counts, err := recount(context.Background(), dsn, []raw{rawOf(op.ID, sample), rawOf(op.ID, sample)}, from, to)
	if err != nil {
		t.Fatal(err)
	}
	score := 0.75
	for name, cook := range map[string]func(*result.Result){
		"Zone":    func(r *result.Result) { r.Operations[0].Counts = apdex.Counts{Satisfied: 1, Tolerating: 1} },
		"Total":   func(r *result.Result) { r.Ops++ },
		"Overall": func(r *result.Result) { r.Apdex = &score },
		"Score":   func(r *result.Result) { r.Operations[0].Apdex = &score },
	} {
		r := counted([]tally.Sample{sample, sample})
		if found := differences(r, counts); len(found) != 0 {
			t.Fatalf("the recount differs before it is tampered with: %q", found)
		}
		cook(r)
		if len(differences(r, counts)) == 0 {
			t.Errorf("%s: not found", name)
		}
	}
}
