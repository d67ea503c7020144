package self

import (
	"context"
	"fmt"
	"time"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres"
	"plimsoll/lab/line"
	"plimsoll/lab/run"
	"plimsoll/lab/system"
)

// The planted queue.
const (
	queueSlots   = 10
	queueService = 50 * time.Millisecond
)

// queue is a search of two trials: without a queue, and far beyond the server's slots.
func queue(ctx context.Context, s *stage) (outcome, error) {
	const (
		few, many = 25, 50
		lasts     = 4 * time.Second
	)
	o, err := s.options("queue", header+`
[operations.look]
target = "100ms"
url = "/"
`, lasts)
	if err != nil {
		return outcome{}, err
	}
	server, err := s.plant(ctx, "queue", "")
	if err != nil {
		return outcome{}, err
	}
	defer server.Stop()
	o.Scenario.Own.Base = server.URL
	end := watch(server.URL)
	found, err := line.Find(ctx, line.Options{Run: o, Target: line.TargetDefault, Reset: system.ResetNone,
		Bounds: line.Bounds{First: few, Most: many, Resolution: few}})
	n := end()
	if err != nil || len(found.Trials) == 0 {
		return outcome{}, err
	}
	if s.falsifyLine != nil {
		s.falsifyLine(found)
	}
	figures := queueFigures(found, few, many, queueSlots, queueService, lasts, n)
	return outcome{figures: figures, disturbed: n.disturbed()}, nil
}

func queueFigures(found *line.Line, few, many int, slots float64, service, lasts time.Duration, n noise) []Figure {
	first, last := found.Trials[0], found.Trials[len(found.Trials)-1]
	named := "no limit"
	if found.Limit != nil {
		named = found.Limit.Resource
	}
	full := slots / service.Seconds()
	edge := float64(many) / lasts.Seconds()
	served := last.OpsPerS * orNone(first.LatencyMSMean) / 1000
	// The slots are never idle, so that what is missing of the full rate is what the timers of the server take.
	longer := 1 + n.slackMS()/human.MS(service)
	return []Figure{
		checkMentions("limit", "a queue with idle processors", []string{named}).excused(),
		within("trials", "", 2, 2, float64(len(found.Trials))),
		within("users of the last", "", float64(many), float64(many), float64(last.Users)),
		within("p50 without a queue", " ms", human.MS(service)*(1-resolution),
			human.MS(service)+n.slackMS()+human.MS(service)/2, orNone(first.LatencyMSP50)),
		atMost("rate", "/s", full/longer-edge, full+edge, last.OpsPerS),
		within("served at once (Little)", "", (full/longer-edge)*service.Seconds(), slots*longer*1.5, served),
		states("outcome of the last", string(line.Fails), string(last.Outcome), last.Outcome == line.Fails).excused(),
	}
}

// pool has fewer connections than users who do not think: each waits for those before it.
func pool(ctx context.Context, s *stage) (outcome, error) {
	const (
		users, connections = 6, 2
		statement          = 50 * time.Millisecond
		lasts              = 5 * time.Second
		planted            = "connection of the generator's pool"
	)
	dsn, err := s.database(ctx)
	if err != nil {
		return outcome{}, err
	}
	if err := postgres.Execute(ctx, dsn, "DROP TABLE IF EXISTS slept; CREATE TABLE slept (ms float8)"); err != nil {
		return outcome{}, err
	}
	o, err := s.options("pool", `
application = "none"
users = 6
[think]
mean = "0s"
[sql]
connections = 2
[operations.statement]
target = "2s"
sql = """INSERT INTO slept
SELECT extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000 FROM pg_sleep(0.05)"""
`, lasts)
	if err != nil {
		return outcome{}, err
	}
	o.DSN = dsn
	end := watch("")
	r, err := run.Run(ctx, o)
	n := end()
	if err != nil {
		return outcome{}, err
	}
	s.falsifyResult(r)
	n.others = 0 // the server is one of them; the run knows better
	disturbed := disturbances(n, r, planted)
	longest, err := postgres.Value[float64](ctx, dsn, "SELECT max(ms) FROM slept")
	if err != nil {
		return outcome{}, err
	}
	if longest > human.MS(statement+lateMost) {
		disturbed = append(disturbed, fmt.Sprintf("a statement took %.0f ms at the server", longest))
	}
	op := r.Operations[0]
	var waited *float64
	if op.OwnWait != nil {
		waited = &op.OwnWait.PoolMeanMS
	}
	// Both connections are always busy, so that a user waits for as long as two thirds of what an operation takes.
	least := human.MS(statement) * (users - connections) / connections
	// Before the pool is full, users wait less: the first of them not at all.
	begin := float64(users) / float64(max(1, op.Ops))
	mean, turn := orNone(op.Latency.Mean), human.MS(statement)*users/connections
	return outcome{figures: []Figure{
		atLeast("mean", " ms", turn*(1-begin), turn+3*n.slackMS(), mean),
		atLeast("own wait for the pool", " ms", least*(1-begin), least+2*n.slackMS(), orNone(waited)),
		atLeast("statement alone", " ms", human.MS(statement), human.MS(statement)+n.slackMS()+5, mean-orNone(waited)),
		atMost("rate", "/s", 0.5*connections/statement.Seconds(), connections/statement.Seconds()+users/lasts.Seconds(),
			r.OpsPerS),
		checkMentions("reason", planted, r.InvalidReasons),
	}, disturbed: disturbed}, nil
}
