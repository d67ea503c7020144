package scale

import (
	"context"
	"fmt"
	"time"

	"plimsoll/ground/host/machine"
	"plimsoll/ground/human"
	"plimsoll/ground/problem"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
)

// Figures that report A gives for claim C04.
const (
	c04ClaimedSessions = claimedUsers
	c04ClaimedBytes    = 850_000 // of a session: 25 GB of 30,000
)

const (
	c04Sessions = c04SessionsMin
	// c04SessionsMin: sessions in use cannot go to a file; a tenth of the sessions must be several times as many.
	c04SessionsMin = 30 * site.Clients
	c04Turn        = 8 * time.Second
	c04Rounds      = 4
	// c04MemoryShare is the share of the machine that all session data may take: a worker needs as much again for data
	// it has just released.
	c04MemoryShare = 4
	// c04Starting is the time to start a worker and to warm it up; c04FillRate, in bytes per second, a cautious
	// estimate for filling its sessions.
	c04Starting = 6 * time.Second
	c04FillRate = 60e6
)

// Sides of C04: how much of the session data fits in memory. The first has room for everything and some more, for keys
// and lists of users.
const (
	allInMemory   = "all of it in memory"
	halfInMemory  = "half of it"
	tenthInMemory = "a tenth of it"
)

var c04Sides = []struct {
	name  string
	holds float64
}{{allInMemory, 1.15}, {halfInMemory, 0.5}, {tenthInMemory, 0.1}}

func c04Load(b site.Bench) sessionLoad {
	l := sessionLoad{sessions: c04Sessions, bytes: c04ClaimedBytes, clients: site.Clients}
	if b.Full {
		l.sessions = c04ClaimedSessions
	}
	if b.Users != 0 {
		l.sessions = b.Users
	}
	if facts, err := machine.Read("/"); err == nil {
		l.bytes = min(l.bytes, int(facts.MemoryBytes/c04MemoryShare)/l.sessions)
	}
	return l
}

// sessionData is the experiment behind C04: the less of the session data fits in memory, the slower it must be.
func sessionData(b site.Bench, s *site.Site) trial.Trial {
	load := c04Load(b)
	logIn := time.Duration(load.sessions) * time.Second / c01LoginRate
	fill := time.Duration(float64(load.sessions) * float64(load.bytes) / c04FillRate * float64(time.Second))
	part := trial.Part{Rounds: b.Rounds(c04Rounds), Turn: b.Turn(c04Turn), Between: c04Starting + logIn + fill,
		Series: sessionSeries}
	for _, side := range c04Sides {
		part.Sides = append(part.Sides, trial.Side{Name: side.name,
			Open: func(context.Context, *trial.Record) (trial.Turn, error) {
				return func(ctx context.Context, n int) (trial.Figures, error) {
					return load.measure(ctx, b, s.DSN, side.holds, part.Turn, uint64(n))
				}, nil
			}})
	}
	spread := func(side, series, format string) trial.Spread {
		return trial.Spread{Of: trial.At(side, series), Format: format}
	}
	fewer := func(side string) trial.Ratio {
		return trial.Ratio{Of: trial.At(side, sessionRate), To: trial.At(allInMemory, sessionRate)}
	}
	part.Measured = []trial.Phrase{
		trial.Say("operations/s: %s with all session data in memory", spread(allInMemory, sessionRate, "%.0f")),
		trial.Say("with half of it in memory %s, with a tenth %s", fewer(halfInMemory), fewer(tenthInMemory)),
		trial.Say("p95 %s ms with all in memory, %s with half, %s with a tenth", spread(allInMemory, p95Time, "%.1f"),
			spread(halfInMemory, p95Time, "%.1f"),
			spread(tenthInMemory, p95Time, "%.1f")),
		trial.Say("%.0f kB of data per session take %s kB of the worker's memory", float64(load.bytes)/1000,
			spread(allInMemory, residentEach, "%.0f")),
		trial.Say("accesses that read a file: %s %% with half in memory, %s %% with a tenth", spread(halfInMemory,
			fromFiles, "%.0f"),
			spread(tenthInMemory, fromFiles, "%.0f")),
	}
	return trial.Trial{
		Text: fmt.Sprintf("documents are posted in %s sessions with %s kB of data each: all of it in memory, half of "+
			"it, and a tenth of it, with the rest in files", human.Thousands(load.sessions),
			human.Thousands(load.bytes/1000)),
		Overhead: 20 * time.Second,
		Parts:    []trial.Part{part},
		Rules: trial.Rules{Direction: []trial.Criterion{trial.Smaller(fewer(tenthInMemory)),
			{Of: fewer(halfInMemory), Confirm: trial.Below(1)}},
			Situation: []trial.Condition{
				{Of: trial.Known{As: "sessions", Value: float64(load.sessions)},
					Report: human.Thousands(c04ClaimedSessions), Met: trial.AtLeast(c04ClaimedSessions)},
				{Of: trial.Every{Of: trial.At(allInMemory, sessionKB), Unit: "kB"}, Report: "about 850, 25 GB in all",
					Met: trial.AtLeast(c04ClaimedBytes / 1000)},
				site.AtWork(load.clients, human.Thousands(c04ClaimedSessions)),
			}},
		Conditions: []claims.Condition{
			{Name: "sessions", Text: fmt.Sprintf("%s with %s kB each in %d values, %.2f GB in all (report: %s, 25 "+
				"GB); each turn starts a worker process of its own, logs all sessions in and fills their data",
				human.Thousands(load.sessions), human.Thousands(load.bytes/1000), sessionValues,
				float64(load.sessions)*float64(load.bytes)/1e9, human.Thousands(c04ClaimedSessions))},
			{Name: "load", Text: fmt.Sprintf("%d HTTP clients without think time; an operation picks a random "+
				"session, reads and checks one of its values, posts or changes a document of our ERP by the weight of "+
				"its key operation, and writes another value", load.clients)},
			{Name: "memory", Text: "limited by 'serve --session-memory'; when it is full, the least recently used " +
				"session goes to a file as a whole. The files are not flushed, so a machine with free memory serves " +
				"them from the page cache and reads only the rest from disk"},
		},
	}
}

func refuseFewSessions(b site.Bench) error {
	if load := c04Load(b); load.sessions < c04SessionsMin {
		return problem.New(problem.Usage,
			fmt.Errorf("%d sessions are too few to keep a tenth of them in memory", load.sessions),
			fmt.Sprintf("--users %d or more", c04SessionsMin))
	}
	return nil
}
