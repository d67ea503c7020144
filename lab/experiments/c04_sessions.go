package experiments

import (
	"context"
	"fmt"
	"time"

	"plimsoll/lab/claims"
	"plimsoll/lab/machine"
	"plimsoll/lab/ratio"
	"plimsoll/platform/problem"
)

// What report A gives for claim C04.
const (
	c04ClaimedSessions = claimedUsers
	c04ClaimedBytes    = 850_000 // of a session: 25 GB of 30,000
)

const (
	c04Sessions = 400
	// c04SessionsMin leave a tenth of them that is several times the sessions in use at a moment, which cannot go to a file.
	c04SessionsMin = 150
	c04Turn        = 8 * time.Second
	c04Rounds      = 4
	// c04MemoryShare of the machine is what all session data may take: a worker holds as much again for what it has just let go.
	c04MemoryShare = 4
	// c04Starting is starting a worker; c04FillRate, in bytes per second, a cautious estimate of filling its sessions.
	c04Starting = 3 * time.Second
	c04FillRate = 60e6
)

// SessionData is the experiment behind C04.
type SessionData struct{}

// Claim implements Experiment.
func (SessionData) Claim() string { return "C04" }

// c04Side is how much of the session data memory holds.
type c04Side struct {
	name  string
	holds float64
}

// c04Sides: the first has room for everything and some more, which keys and lists of users take.
var c04Sides = []c04Side{{"all of it in memory", 1.15}, {"half of it", 0.5}, {"a tenth of it", 0.1}}

func (SessionData) load(b Bench) sessionLoad {
	l := sessionLoad{sessions: c04Sessions, bytes: c04ClaimedBytes}
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

// Plan implements Experiment.
func (e SessionData) Plan(b Bench) Plan {
	turns, load := len(c04Sides)*b.rounds(c04Rounds), e.load(b)
	return Plan{fmt.Sprintf("%d turns of %s: %s sessions of %s kB in memory, and partly in files", turns, length(b.turn(c04Turn)), thousands(int64(load.sessions)), thousands(int64(load.bytes/1000))),
		time.Duration(turns)*e.oneTakes(b, load) + 20*time.Second}
}

func (SessionData) oneTakes(b Bench, load sessionLoad) time.Duration {
	logIn := time.Duration(load.sessions) * time.Second / c01LoginRate
	fill := time.Duration(float64(load.sessions) * float64(load.bytes) / c04FillRate * float64(time.Second))
	return b.turn(c04Turn) + c04Starting + logIn + fill
}

// Run implements Experiment.
func (e SessionData) Run(ctx context.Context, b Bench) (claims.Finding, error) {
	load := e.load(b)
	if load.sessions < c04SessionsMin {
		return claims.Finding{}, problem.New(problem.Usage, fmt.Errorf("%d sessions are too few to keep a tenth of them in memory", load.sessions), fmt.Sprintf("--users %d or more", c04SessionsMin))
	}
	return b.withLayer(ctx, func(l layer) (claims.Finding, error) {
		s := sides{turn: e.oneTakes(b, load), rounds: b.rounds(c04Rounds)}
		for _, side := range c04Sides {
			s.names = append(s.names, side.name)
		}
		s.run = func(ctx context.Context, side, turn int) (figures, error) {
			return load.measure(ctx, b, l.dsn, c04Sides[side].holds, b.turn(c04Turn), uint64(turn))
		}
		made, partial, err := s.measure(ctx, b)
		if err != nil {
			return claims.Finding{}, err
		}
		return e.finding(s, made, partial, load, l), nil
	})
}

func (e SessionData) finding(s sides, made []series, partial bool, load sessionLoad, l layer) claims.Finding {
	half, tenth := against(made[0], made[1], sessionRate), against(made[0], made[2], sessionRate)
	verdict, why := e.judge(half, tenth, partial)
	measured := fmt.Sprintf("operations/s %s with all of it in memory; with half %s, with a tenth %s; p95 %s, %s and %s ms",
		spread(made[0][sessionRate], "%.0f"), half, tenth, spread(made[0]["p95"], "%.1f"), spread(made[1]["p95"], "%.1f"), spread(made[2]["p95"], "%.1f"))
	measured += fmt.Sprintf("; %.0f kB of data per session take %s kB of the worker's memory; read from files in %s and %s %% of accesses",
		float64(load.bytes)/1000, spread(made[0]["resident per session"], "%.0f"), spread(made[1]["from files"], "%.0f"), spread(made[2]["from files"], "%.0f"))
	return claims.Finding{
		Verdict: verdict, Measured: because(measured, why), Partial: partial, Figures: s.listed(made, sessionUnits),
		Conditions: append(l.conditions,
			claims.Condition{Name: "sessions", Text: fmt.Sprintf("%s of %s kB in %d values, %.2f GB in all (report: %s, 25 GB); each turn has a worker process of its own, in which all log in and fill their data",
				thousands(int64(load.sessions)), thousands(int64(load.bytes/1000)), sessionValues, float64(load.sessions)*float64(load.bytes)/1e9, thousands(c04ClaimedSessions))},
			claims.Condition{Name: "load", Text: fmt.Sprintf("%d clients over HTTP, back to back; an operation reads a value of a session drawn by chance, which is checked, and writes another", sessionClients)},
			claims.Condition{Name: "memory", Text: "bound by 'serve --session-memory'; the session unused longest goes to a file as a whole; files are not flushed, so a machine with memory to spare keeps them in its cache, and only what was not there is of the disk"},
			claims.Condition{Name: "judged by", Text: "operations per second: confirmed when surely fewer with half of the data in memory and with a tenth than with all of it, refuted when not fewer with a tenth"}),
	}
}

// judge: what does not fit must cost, the more so the less of it fits.
func (SessionData) judge(half, tenth ratio.Ratio, partial bool) (claims.Verdict, string) {
	verdict, why := below(tenth, partial)
	if verdict != claims.Confirmed {
		return verdict, why
	}
	if verdict, why = below(half, partial); verdict != claims.Confirmed {
		return claims.Inconclusive, "with a tenth in memory it sags, with half " + why
	}
	return verdict, ""
}
