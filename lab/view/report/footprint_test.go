package report

import (
	"testing"

	"plimsoll/lab/run/result"
)

func TestFootprintsSayWhatIsEstimated(t *testing.T) {
	at := func(x float64) *float64 { return &x }
	got := footprints([]result.Footprint{
		{Of: "generator", Measure: result.LiveMemory, Users: 3000, BeforeLogIn: 10 << 20, AfterLogIn: 40 << 20,
			UnderLoad: at(55 << 20), Connections: at(6 << 20), PerUser: at(8 << 10)},
		{Of: "workers", Measure: result.PrivateMemory, Users: 3000, BeforeLogIn: 20 << 20, AfterLogIn: 60 << 20,
			UnderLoad: at(80 << 20)},
		{Of: "database", Measure: result.PrivateMemory, Users: 3000, BeforeLogIn: 30 << 20, AfterLogIn: 35 << 20},
	})
	const want = "generator 10 MB before log-in, 40 MB with 3,000 sessions, 55 MB after the " +
		"load with counters and 6 MB of connections, about 8 kB per user by estimate (heap and stacks in use); " +
		"workers 20 MB before log-in, 60 MB with 3,000 sessions, at most 80 MB under load (private memory of " +
		"its processes); database 30 MB before log-in, 35 MB with 3,000 sessions (private memory of its processes)"
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := footprints(nil); got != "" {
		t.Errorf("%q of nothing", got)
	}
}
