package keep

import (
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"plimsoll/lab/load/tally"
	"plimsoll/lab/run"
	"plimsoll/lab/run/result"
	"plimsoll/lab/run/store"
	"plimsoll/lab/view/samples"
	"plimsoll/test/thorough"
)

// load of random operations on a machine that stands still now and then.
type randomLoad struct {
	ramp, steady time.Duration
	targets      []time.Duration
	all          []heard
}

// heard is an operation and the second in which the run heard of its end.
type heard struct {
	tally.Sample
	second int
}

func newRandomLoad(random *rand.Rand) *randomLoad {
	l := &randomLoad{ramp: time.Duration(random.IntN(3)) * time.Second / 2,
		steady: time.Duration(1+random.IntN(40)) * time.Second}
	for range 1 + random.IntN(3) {
		l.targets = append(l.targets, time.Duration(1+random.IntN(2000))*time.Millisecond)
	}
	scale := make([]float64, len(l.targets)) // milliseconds
	spread := make([]float64, len(l.targets))
	failing := make([]float64, len(l.targets))
	for i := range scale {
		scale[i] = []float64{0.05, 2, 20, 300, 1000}[random.IntN(5)]
		spread[i] = []float64{0, 0.01, 0.1, 1, 5}[random.IntN(5)]
		failing[i] = []float64{0, 0, 0.02, 0.5, 1}[random.IntN(5)]
	}
	ms := func(x float64) time.Duration { return time.Duration(x * float64(time.Millisecond)) }
	end := l.ramp + l.steady
	rate := []float64{1, 10, 100}[random.IntN(3)]
	late := []float64{0.1, 5, 50}[random.IntN(3)]
	still := stillnesses(random, end)
	for at := time.Duration(0); at < end; at += ms(1000 * random.ExpFloat64() / rate) {
		op := random.IntN(len(scale))
		s := tally.Sample{Operation: op, Planned: op, Due: at}
		s.Sent = still.after(s.Due + ms(late*random.ExpFloat64()/10))
		s.Done = still.after(s.Sent + ms(scale[op]*(1+spread[op]*random.ExpFloat64())))
		s.Waited = time.Duration(random.Float64() * float64(s.Done-s.Sent))
		if random.Float64() < failing[op] {
			s.Outcome, s.Err = tally.Failed, errors.New("broken")
		} else if random.IntN(20) == 0 {
			s.Outcome = tally.Refused
		}
		l.all = append(l.all, heard{s, still.second(s.Done, ms(late*random.ExpFloat64()))})
	}
	slices.SortStableFunc(l.all, func(a, b heard) int { return cmp.Compare(a.second, b.second) })
	return l
}

// standing is when the machine stood still.
type standing [][2]time.Duration

func stillnesses(random *rand.Rand, end time.Duration) (all standing) {
	if random.IntN(2) == 0 {
		return nil
	}
	for at := time.Duration(0); at < end; {
		at += time.Duration(random.ExpFloat64() * 4 * float64(time.Second))
		to := at + time.Duration(random.Float64()*2*float64(time.Second))
		all = append(all, [2]time.Duration{at, to})
		at = to
	}
	return all
}

// after is when something ends that would have ended at a moment.
func (s standing) after(at time.Duration) time.Duration {
	for _, one := range s {
		if at >= one[0] && at < one[1] {
			return one[1] + (at-one[0])%time.Millisecond
		}
	}
	return at
}

// second in which something is counted that ended at a moment and was heard of so much later: that in which it ended if
// it is heard of behind a standstill, as nothing was counted meanwhile.
func (s standing) second(done, later time.Duration) int {
	at := done + later
	for _, one := range s {
		if at >= one[0] && at < one[1]+2*time.Millisecond {
			at = max(one[0], done)
			break
		}
	}
	return int(at / time.Second)
}

// counted is the load as a run counts, sums up and prints it.
func (l *randomLoad) counted(t testing.TB, ids []string) samples.Printed {
	t.Helper()
	begun := &result.Result{Schema: result.Schema, ID: "20260102-030405-10u", Users: 10}
	begun.Conditions.Load.RampS, begun.Conditions.Load.DurationS = l.ramp.Seconds(), l.steady.Seconds()
	priorities := make([]int, len(ids))
	for i, id := range ids {
		priorities[i] = i + 1
		begun.Operations = append(begun.Operations, result.Operation{ID: id, Priority: i + 1,
			TargetMS: float64(l.targets[i]) / 1e6})
	}
	runs := store.Open(t.TempDir())
	path := runs.JournalPath(begun.ID)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	lines := json.NewEncoder(z)
	write := func(line any) error {
		text, err := json.Marshal(line)
		return errors.Join(err, lines.Encode(map[string]any{
			"crc32c": crc32.Checksum(text, crc32.MakeTable(crc32.Castagnoli)), "of": json.RawMessage(text)}))
	}
	errs := write(map[string]any{"run": begun})
	counts := tally.New(l.targets, priorities, l.ramp, l.ramp+l.steady)
	second := 0
	put := func(page tally.Page, err error) { errs = errors.Join(errs, err, write(page)) }
	for _, h := range l.all {
		for ; second < h.second; second++ {
			put(counts.Tick(10, 1, 0))
		}
		counts.Count(h.Sample)
	}
	for ; second < int((l.ramp+l.steady)/time.Second); second++ {
		put(counts.Tick(10, 1, 0))
	}
	put(counts.Close(10, 1, 0))
	if err := errors.Join(errs, z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	r, err := run.Recover(runs, begun.ID)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := json.Marshal(r)
	var printed samples.Printed
	if err := errors.Join(err, json.Unmarshal(tree, &printed)); err != nil {
		t.Fatal(err)
	}
	return printed
}

// kept is the load as its samples tell it.
func (l *randomLoad) kept(t testing.TB, ids []string) *samples.Figures {
	t.Helper()
	path := filepath.Join(t.TempDir(), "samples.parquet")
	head := headOf(ids, l.targets...)
	f, err := Create(path, head)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range l.all {
		f.Add(ids[h.Operation], h.Sample)
	}
	if err := f.End("x", l.ramp, l.ramp+l.steady); err != nil {
		t.Fatal(err)
	}
	got, err := samples.Recompute(path)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// Whatever the load and however late the run heard of an operation's end, its samples make the figures that it prints.
// None takes a third of a short run: most seconds would be empty, and a percentile's interval from so few is chance.
func TestAgainst_FindsNothingWhereTheRunIsRight(t *testing.T) {
	seeds := []uint64{1578} // of one who waited the run hears in the second behind that of the standstill's end
	for seed := range uint64(thorough.Or(400, 40)) {
		seeds = append(seeds, seed)
	}
	for _, seed := range seeds {
		l := newRandomLoad(rand.New(rand.NewPCG(seed, 1)))
		ids := []string{"post", "list", "look"}[:len(l.targets)]
		if diff := l.kept(t, ids).Against(l.counted(t, ids)); len(diff) > 0 {
			t.Errorf("seed %d: %v after %v, %d operations: %+v", seed, l.steady, l.ramp, len(l.all), diff)
		}
	}
}
