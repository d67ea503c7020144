package run

import (
	"math"
	"testing"
	"time"

	"plimsoll/lab/diagnose"
	"plimsoll/lab/load/tally"
	"plimsoll/lab/run/result"
)

// answered are so many operations of a length, with a target.
func answered(n int, took, target time.Duration) *tally.Operation {
	o := &tally.Operation{Latency: tally.NewTimes(), Errors: map[string]int64{}}
	for range n {
		o.Latency.Record(took)
		o.Apdex.Time(took, target)
	}
	return o
}

func priced(name string, price float64) diagnose.Finding {
	return diagnose.Finding{Name: name, Title: name, Level: diagnose.Problem, Price: &price,
		Gain: &diagnose.Range{Low: price, High: price}}
}

// planted: sales of 1.5 T spend half of their time in locks; looks are quick and spend a tenth in the database.
func planted(known bool) *ledgers {
	const second = time.Second
	counts := &tally.Tally{Operations: []*tally.Operation{answered(100, 3*second/2, second),
		answered(100, second/2, second)}}
	found := &diagnose.Diagnosis{Ledger: diagnose.Ledger{Samples: 100, TotalS: 100},
		Findings: []diagnose.Finding{priced("lock-contention", 0.75), {Name: "one-core-filled", Level: diagnose.Note}}}
	if known {
		found.Operations = []diagnose.Operation{
			{ID: "sale", Ledger: diagnose.Ledger{TotalS: 90, Lines: []diagnose.Line{
				{Class: "lock", Name: "locks", S: 75}, {Class: "cpu", Name: "on a processor", S: 15}}},
				Findings: []diagnose.Finding{priced("lock-contention", 75.0/90)}},
			{ID: "look", Ledger: diagnose.Ledger{TotalS: 5, Lines: []diagnose.Line{{Class: "cpu", S: 5}}}},
		}
	} else {
		found.Ledger.Lines = []diagnose.Line{{Class: "lock", S: 75}, {Class: "cpu", S: 25}}
	}
	counts.Operations[0].GeneratorWait.Sum = 30 * second
	return newLedgers([]result.Operation{{ID: "sale", TargetMS: 1000, Priority: 1}, {ID: "look", TargetMS: 1000,
		Priority: 1}}, counts, found)
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 0.003 {
		t.Errorf("%s is %.4f, want %.4f", what, got, want)
	}
}

func shareOf(lines []result.LedgerLine, class string) float64 {
	for _, line := range lines {
		if line.Class == class {
			return line.Share
		}
	}
	return 0
}

func TestLedger_OfAnOperationAddsUpToItsTime(t *testing.T) {
	l := planted(true)
	sale := l.linesOf(0)
	near(t, "locks", shareOf(sale, "lock"), 0.5)
	near(t, "processor", shareOf(sale, "cpu"), 0.1)
	near(t, "generator", shareOf(sale, result.OfGenerator), 0.2)
	near(t, "remainder", shareOf(sale, result.Outside), 0.2)
	if last := sale[len(sale)-1]; last.Class != result.Outside {
		t.Errorf("the remainder stands before %s", last.Class)
	}
	for _, lines := range [][]result.LedgerLine{sale, l.linesOf(1), l.sum(), planted(false).sum()} {
		sum := 0.0
		for _, line := range lines {
			sum += line.Share
		}
		near(t, "the sum", sum, 1)
	}
	near(t, "locks of all", shareOf(l.sum(), "lock"), 75.0/200)
	if lines := planted(false).linesOf(0); lines != nil {
		t.Errorf("nobody knows whom sessions served: %+v", lines)
	}
}

func TestLedger_PricesACauseInTimeAndApdexPoints(t *testing.T) {
	causes := planted(true).causes()
	c := causes[0]
	if len(causes) != 2 || c.Name != "lock-contention" || c.Price == nil || c.ApdexGain == nil {
		t.Fatalf("want two causes, the first with price and gain, got %+v", causes)
	}
	near(t, "price", *c.Price, 75.0/200)
	// Sales of 1.5 s become 0.75 s, and score 1 instead of 0.5; looks score 1 in any case.
	near(t, "gain", c.ApdexGain.Low, 0.25)
	near(t, "gain", c.ApdexGain.High, 0.25)
	if len(c.Operations) != 1 || c.Operations[0].ID != "sale" {
		t.Errorf("it costs %+v", c.Operations)
	}
	if note := causes[1]; note.Price != nil || note.ApdexGain != nil {
		t.Errorf("a price that nobody knows: %+v", note)
	}
	t.Run("WithTheIntervalOfItsSamples", func(t *testing.T) {
		l := planted(true)
		l.database[0].Findings[0].Gain = &diagnose.Range{Low: 50.0 / 90, High: 80.0 / 90}
		i := l.causes()[0].PriceInterval
		near(t, "lower end", i.Low, 50.0/200)
		near(t, "upper end", *i.High, 80.0/200)
	})
	t.Run("WithoutATimelineAllLoseTheSame", func(t *testing.T) {
		c := planted(false).causes()[0]
		near(t, "price", *c.Price, 75.0/200)
		if len(c.Operations) != 0 || c.ApdexGain.Low <= 0 {
			t.Errorf("want a gain of no particular operation, got %+v", c)
		}
	})
}

func TestLedger_OfMoreSamplesThanTimeStillAddsUp(t *testing.T) {
	l := planted(true)
	l.times[0] = 60 // half of what was sampled
	sum := 0.0
	for _, line := range l.linesOf(0) {
		sum += line.Share
	}
	near(t, "the sum", sum, 1)
}
