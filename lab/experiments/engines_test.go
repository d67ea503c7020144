package experiments

import (
	"strings"
	"testing"
	"time"

	"plimsoll/lab/claims"
	"plimsoll/lab/cluster"
	"plimsoll/lab/cluster/clustertest"
	"plimsoll/lab/ratio"
	"plimsoll/lab/server"
)

func TestC06_Judge(t *testing.T) {
	turns := func(messages, idle float64) series {
		return series{"messages": {messages, messages, messages}, "idle": {idle, idle, idle}}
	}
	for name, c := range map[string]struct {
		stock, ours series
		partial     bool
		want        claims.Verdict
		why         string
	}{
		"Silent":     {turns(200, 10), turns(0, 0), false, claims.Confirmed, ""},
		"Sends":      {turns(200, 10), turns(1, 0), false, claims.Refuted, "sends"},
		"SomeTurns":  {turns(200, 10), series{"messages": {0, 1, 0}, "idle": {0, 0, 0}}, false, claims.Inconclusive, "some turns"},
		"NotCounted": {turns(0, 10), turns(0, 0), false, claims.Inconclusive, "nothing was counted"},
		"SameCPU":    {turns(200, 10), turns(0, 10), false, claims.Inconclusive, "idle"},
		"Stopped":    {turns(200, 10), turns(0, 0), true, claims.Inconclusive, "too few"},
		"Nothing":    {series{}, series{}, false, claims.Inconclusive, "too few"},
	} {
		if got, why := (LocalInvalidation{}).judge(c.stock, c.ours, c.partial); got != c.want || !strings.Contains(why, c.why) {
			t.Errorf("%s: %s (%s), want %s (%s)", name, got, why, c.want, c.why)
		}
	}
}

func TestC07_Judge(t *testing.T) {
	for name, c := range map[string]struct {
		stock, ours locks
		partial     bool
		want        claims.Verdict
	}{
		"None":       {locks{14, 14}, locks{0, 0}, false, claims.Confirmed},
		"Some":       {locks{14, 14}, locks{1, 1}, false, claims.Refuted},
		"NotCounted": {locks{0, 0}, locks{0, 0}, false, claims.Inconclusive},
		"Stopped":    {locks{14, 14}, locks{0, 0}, true, claims.Inconclusive},
	} {
		if got, _ := (SkippedLocks{}).judge(c.stock, c.ours, c.partial); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestC11_Judge(t *testing.T) {
	sides := func(perSide ...float64) (all []series) {
		for _, flushes := range perSide {
			all = append(all, series{"flushes": {flushes, flushes}})
		}
		return all
	}
	for name, c := range map[string]struct {
		made []series
		want claims.Verdict
	}{
		"NoFlushes":            {sides(1, 1, 0, 0.001, 1), claims.Confirmed},
		"OursFlushes":          {sides(1, 1, 1, 0, 1), claims.Refuted},
		"WithCatalogOnFlushes": {sides(1, 1, 0, 1, 1), claims.Refuted},
		"LosesPermanentRows":   {sides(1, 1, 0, 0, 0), claims.Refuted},
		"StockDoesNotEither":   {sides(0, 0, 0, 0, 1), claims.Inconclusive},
		"SomeTurns":            {[]series{{"flushes": {1, 1}}, {"flushes": {1, 1}}, {"flushes": {0, 0.5}}, {"flushes": {0, 0}}, {"flushes": {1, 1}}}, claims.Inconclusive},
		"ASideMissing":         {[]series{{"flushes": {1}}, {}, {}, {}, {}}, claims.Inconclusive},
	} {
		if got, why := (UnflushedCommits{}).judge(c.made, false); got != c.want {
			t.Errorf("%s: %s (%s), want %s", name, got, why, c.want)
		}
	}
}

func TestC12_Judge(t *testing.T) {
	surely := func(r float64) ratio.Ratio {
		return ratio.Ratio{Ratio: r, Low: r * 0.95, High: r * 1.05, Confidence: 0.97}
	}
	for name, c := range map[string]struct {
		one, many, best ratio.Ratio
		want            claims.Verdict
		why             string
	}{
		"AllThere":        {surely(6), surely(10), surely(20), claims.Confirmed, ""},
		"OneClientLess":   {surely(3), surely(10), surely(20), claims.Refuted, "1 client"},
		"ManyLess":        {surely(6), surely(5), surely(20), claims.Refuted, "many clients"},
		"NoTens":          {surely(6), surely(10), surely(7), claims.Refuted, "best operation"},
		"OnTheBar":        {surely(4), surely(10), surely(20), claims.Inconclusive, "within the interval"},
		"LessAndOnTheBar": {surely(4), surely(5), surely(20), claims.Refuted, "many clients"},
	} {
		if got, why := (MemoryCatalog{}).judge(c.one, c.many, c.best, false); got != c.want || !strings.Contains(why, c.why) {
			t.Errorf("%s: %s (%s), want %s (%s)", name, got, why, c.want, c.why)
		}
	}
}

// The measures must see on real servers what the claims speak of, or a verdict would be one on nothing.
func TestMeasuresOfTempTables_OnBothFlavours(t *testing.T) {
	for _, flavour := range []string{server.Vanilla, server.Plimsoll} {
		if _, err := server.Find(t.Context(), flavour); err != nil {
			t.Skipf("the flavour %s is not built: %v", flavour, err)
		}
	}
	clusters := cluster.Open(clustertest.State(t))
	b := Bench{Clusters: clusters}
	_, err := b.withEngines(t.Context(), c06Settings, func(servers engines) (claims.Finding, error) {
		t.Run("StockHoldsLocksAndOursNone", func(t *testing.T) { seesLocks(t, servers) })
		t.Run("StockSendsMessagesAndOursNone", func(t *testing.T) { seesMessages(t, servers) })
		t.Run("StockFlushesAndOursOnlyWithAPermanentRow", func(t *testing.T) { seesFlushes(t, servers) })
		t.Run("TheEndIsWaitedFor", func(t *testing.T) { seesTheEnd(t, servers) })
		return claims.Finding{}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if left, err := clusters.List(); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func seesLocks(t *testing.T, servers engines) {
	for _, c := range []struct {
		v    variant
		some bool
	}{{stock, true}, {without(skipLocks), true}, {ours, false}} {
		if held, err := servers.locksOfACycle(t.Context(), c.v); err != nil || (held.shared > 0) != c.some {
			t.Errorf("%s: %s, %v", c.v.name, held, err)
		}
	}
}

func seesMessages(t *testing.T, servers engines) {
	for _, c := range []struct {
		v    variant
		some bool
	}{{stock, true}, {ours, false}, {only(localInvalidation), false}} {
		idle, err := servers.listeners(t.Context(), c.v, 2)
		if err != nil {
			t.Fatal(err)
		}
		f, err := LocalInvalidation{}.turn(t.Context(), servers, c.v, idle)
		idle.close()
		if err != nil || (f["messages"] > 100) != c.some || !c.some && f["messages"] != 0 {
			t.Errorf("%s: %v, %v", c.v.name, f, err)
		}
	}
}

func seesFlushes(t *testing.T, servers engines) {
	if err := (UnflushedCommits{}).prepare(t.Context(), servers); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		v             variant
		durable, some bool
	}{{stock, false, true}, {ours, false, false}, {without(memoryCatalog), false, false}, {ours, true, true}} {
		f, err := UnflushedCommits{}.turn(t.Context(), servers, c.v, c.durable, time.Second)
		if err != nil || (f["flushes"] > 0.5) != c.some || f["commit"] <= 0 {
			t.Errorf("%s, durable %v: %v, %v", c.v.name, c.durable, f, err)
		}
	}
}

func seesTheEnd(t *testing.T, servers engines) {
	if err := (EndingSession{}).prepare(t.Context(), servers); err != nil {
		t.Fatal(err)
	}
	for _, v := range c41Sides {
		f, err := EndingSession{}.turn(t.Context(), servers, v, 200)
		if err != nil || f["end"] <= 0 || f["worst at the end"] < f["p99 at the end"] || f["worst quiet"] <= 0 || f["worst beside cycles"] <= 0 {
			t.Errorf("%s: %v, %v", v.name, f, err)
		}
	}
}

func TestC40_Judge(t *testing.T) {
	waits := func(perSide ...float64) (all []series) {
		for _, w := range perSide {
			all = append(all, series{"waits": {w, w * 1.01, w * 1.02, w * 1.03, w * 1.04}})
		}
		return all
	}
	for name, c := range map[string]struct {
		stock []series
		want  claims.Verdict
		why   string
	}{
		"AsClaimed":     {waits(0, 1, 2, 0), claims.Confirmed, ""},
		"NoMore":        {waits(1, 0.5, 2, 0), claims.Refuted, "no more"},
		"IndexLess":     {waits(0, 2, 1, 0), claims.Refuted, "fewer"},
		"IndexTheSame":  {waits(0, 2, 2, 0), claims.Inconclusive, "noise"},
		"AloneToo":      {waits(0, 1, 2, 1), claims.Inconclusive, "one by one"},
		"ASideTooShort": {[]series{{}, {}, {}, {}}, claims.Inconclusive, "too few"},
	} {
		if got, why := (SystemPages{}).judge(c.stock, false); got != c.want || !strings.Contains(why, c.why) {
			t.Errorf("%s: %s (%s), want %s (%s)", name, got, why, c.want, c.why)
		}
	}
}
