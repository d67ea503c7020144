package self

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"plimsoll/ground/human"
	"plimsoll/lab/run"
	"plimsoll/lab/run/result"
)

// tests, in order of importance.
var tests = []test{
	{"delay", "every answer takes 50 ms, every tenth 200 ms", 10 * time.Second, delay},
	{"stall", "no answer for 5 of 14 seconds", 14 * time.Second, stall},
	{"resets", "every seventh request is received and its connection reset", 4 * time.Second, resets},
	{"errors", "every fifth answer is status 500", 4 * time.Second, serverErrors},
	{"refused", "every answer is a refusal", 3 * time.Second, refused},
	{"refused-more", "every fourth answer is a refusal, and none is expected", 4 * time.Second, refusedMore},
	{"wrong-url", "the requests go to an address that the server does not have", 3 * time.Second, wrongURL},
	{"timeouts", "every tenth request is never answered", 6 * time.Second, timeouts},
	{"samples", "every tenth request is never answered; the figures are recomputed from the samples", 5 * time.Second,
		samplesAgain},
	{"queue", "ten slots of 50 ms for 50 users, idle processors", 9 * time.Second, queue},
	{"pool", "a statement of 50 ms, two connections for six users", 6 * time.Second, pool},
	{"reconciled", "every tenth write is acknowledged but not carried out", 4 * time.Second, reconciled},
	{"reset-after", "every tenth write is carried out, but its " +
		"connection is reset instead of an answer", 4 * time.Second,
		resetAfter},
	{"twins", "two equal servers, measured in turns", 25 * time.Second, twins},
	{"frozen", "the generator is stopped for 2 s (SIGSTOP)", 10 * time.Second, frozen},
	{"disturbed", "other processes use the processors", 10 * time.Second, disturbed},
	{"journal", "a run is killed; its journal is whole, cut off, overwritten, lost", 10 * time.Second, journal},
	{"wrong-before", "a total is changed before a run of the ERP", 10 * time.Second, wrongBefore},
	{"books", "five kinds of damage to clean books", 20 * time.Second, damagedBooks},
}

// long are further lines of the long form.
var long = []test{
	{"pairs-run", "pairs of runs on equal servers with slow periods, then on unequal ones", 0,
		pairsOf(runPair, "wandering", "wandering-slow", "Apdex", "rate", "p50", "p95")},
	{"pairs-line", "pairs of load lines of equal servers, then of unequal ones", 0,
		pairsOf(linePair, "serving", "serving-half", lineFigure)},
	{"peers", "the same faults measured by k6, Locust, Gatling and pgbench, side by side", 3 * time.Minute,
		comparePeers},
	{"generators", "the same loads carried by k6, Locust, Gatling and oha: memory, processor time, truth",
		generatorsTake(), compareGenerators},
}

// pairTakes is how long one pair takes.
var pairTakes = map[string]time.Duration{"pairs-run": runPairTakes, "pairs-line": linePairTakes}

const look = `
[operations.look]
target = "2s"
url = "/"
`

// Waits of the planted server.
const (
	delayFast, delaySlow = 50 * time.Millisecond, 200 * time.Millisecond
	stallFrom, stallTo   = 4 * time.Second, 9 * time.Second // since its first request
	stallLasts           = 14 * time.Second                 // the load
	stallService         = 10 * time.Millisecond            // of an answer before and after
	timeoutsAnswer       = 20 * time.Millisecond
)

func delay(ctx context.Context, s *stage) (outcome, error) {
	const lasts = 8 * time.Second
	m, err := s.measure(ctx, plant{"delay", look, lasts, nil})
	if err != nil {
		return outcome{}, err
	}
	latency := m.only().Latency
	percentile := func(name string, p float64, planted time.Duration, reported *float64) Figure {
		return atLeast(name, " ms", human.MS(planted), m.percentileMS(p)+m.slackMS(), orNone(reported))
	}
	mean := m.meanMS()
	// By the response-time law N users who think Z and wait R do N/(Z+R) operations per second; those that began and
	// ended on different sides of the edges of the steady state are at most N.
	rate := func(waitMS float64) float64 { return crowd / (human.MS(think) + waitMS) * 1000 }
	edge := crowd / lasts.Seconds()
	return m.outcome([]Figure{
		equal("operations", m.served(), m.Ops),
		equal("failed", 0, m.Errors).excused(),
		percentile("p50", 50, delayFast, latency.P50),
		percentile("p95", 95, delaySlow, latency.P95),
		percentile("p99", 99, delaySlow, latency.P99),
		atLeast("mean", " ms", mean, mean+m.slackMS(), orNone(latency.Mean)),
		atMost("rate", "/s", rate(mean+m.slackMS())-edge, rate(mean)+edge, m.OpsPerS),
		states("valid", "yes", valid(m.Result), m.Valid).excused(),
	}), nil
}

func valid(r *result.Result) string {
	if r.Valid {
		return "yes"
	}
	return "no: " + strings.Join(r.InvalidReasons, "; ")
}

func stall(ctx context.Context, s *stage) (outcome, error) {
	m, err := s.measure(ctx, plant{"stall", look, stallLasts, nil})
	if err != nil {
		return outcome{}, err
	}
	length, named := 0.0, "none"
	for _, one := range m.Standstills {
		if at := one.ToS - one.FromS; at > length {
			length, named = at, fmt.Sprintf("%.1f to %.1f s", one.FromS, one.ToS)
		}
	}
	// It counts from when somebody waits, which is within a time to think and to answer from the last answer on.
	planted := (stallTo - stallFrom).Seconds()
	slack := (human.MS(think) + m.slackMS()) / 1000
	missed := (planted + slack) / stallLasts.Seconds()
	return m.outcome([]Figure{
		states("standstill", "4.0 to 9.0 s", named, length > 0),
		within("length", " s", planted-slack, planted+slack, length),
		equal("standstills", 1, int64(len(m.Standstills))).excused(),
		within("availability", "", 1-missed, 1-(planted-slack)/stallLasts.Seconds(), orNone(m.Availability)),
		equal("operations", m.served(), m.Ops),
	}), nil
}

func resets(ctx context.Context, s *stage) (outcome, error) {
	m, err := s.measure(ctx, plant{"resets", look + `
[operations.write]
target = "2s"
method = "POST"
url = "/"
body = "{}"
`, 3 * time.Second, nil})
	if err != nil {
		return outcome{}, err
	}
	var write result.Operation
	for _, op := range m.Operations {
		if op.ID == "write" {
			write = op
		}
	}
	return m.outcome([]Figure{
		equal("requests: operations and resent", m.served(), m.Ops+m.Resent),
		equal("resets: resent and failed", m.counted("reset"), m.Resent+m.Errors),
		equal("POST: operations", m.served(http.MethodPost), write.Ops),
		equal("POST: resent", 0, write.Resent),
		states("resets planted", "some, of which some are resent", fmt.Sprintf("%d, %d", m.counted("reset"), m.Resent),
			m.counted("reset") > 0 && m.Resent > 0),
		checkMentions("warned", "look: ", slices.DeleteFunc(m.Warnings, func(w string) bool {
			return !strings.Contains(w, " resent, ")
		})),
	}), nil
}

func serverErrors(ctx context.Context, s *stage) (outcome, error) {
	m, err := s.measure(ctx, plant{"errors", look, 3 * time.Second, nil})
	if err != nil {
		return outcome{}, err
	}
	// All answers lie below the target, so that Apdex is the share that did not fail.
	score := 1 - float64(m.counted("500"))/float64(m.served())
	return m.outcome([]Figure{
		equal("operations", m.served(), m.Ops),
		equal("failed", m.counted("500"), m.Errors),
		atMost("Apdex", "", score-1e-9, score, orNone(m.Apdex)),
		equal("satisfied", m.served()-m.counted("500"), m.only().Satisfied).excused(),
	}), nil
}

func refused(ctx context.Context, s *stage) (outcome, error) {
	m, err := s.measure(ctx, plant{"refused", look + "refused = 409\n", 2 * time.Second, nil})
	if err != nil {
		return outcome{}, err
	}
	return m.outcome([]Figure{
		equal("refused", m.served(), m.Refused),
		states("valid", "no", valid(m.Result), !m.Valid),
		checkMentions("reason", "look was refused", m.InvalidReasons),
	}), nil
}

func refusedMore(ctx context.Context, s *stage) (outcome, error) {
	m, err := s.measure(ctx, plant{"refused-more", look + "refused = 409\n", 3 * time.Second, nil})
	if err != nil {
		return outcome{}, err
	}
	share := float64(m.counted("409")) / float64(max(1, m.served()))
	return m.outcome([]Figure{
		equal("refused", m.counted("409"), m.Refused),
		equal("ok", m.served()-m.counted("409"), m.OK).excused(),
		within("share reported with the score", "", share, share, orNone(m.RefusedShare)).excused(),
		states("valid", "no", valid(m.Result), !m.Valid),
		checkMentions("reason", "look was refused", m.InvalidReasons),
	}), nil
}

func wrongURL(ctx context.Context, s *stage) (outcome, error) {
	wrong := strings.Replace(look, `"/"`, `"/wrong"`, 1)
	m, err := s.measure(ctx, plant{"wrong-url", wrong, 2 * time.Second, nil})
	if err != nil {
		return outcome{}, err
	}
	return m.outcome([]Figure{
		equal("failed", m.served(), m.Errors),
		states("valid", "no", valid(m.Result), !m.Valid),
		checkMentions("reason", "no operation got a valid answer", m.InvalidReasons),
	}), nil
}

func timeouts(ctx context.Context, s *stage) (outcome, error) {
	const timeout = 500 * time.Millisecond
	m, err := s.measure(ctx, plant{"timeouts", look, 5 * time.Second, func(o *run.Options) { o.Timeout = timeout }})
	if err != nil {
		return outcome{}, err
	}
	op := m.only()
	var all result.Latency
	if op.LatencyAll != nil {
		all = *op.LatencyAll
	}
	most := human.MS(timeoutsAnswer) + m.slackMS()
	forever := func(name string, reported *float64) Figure {
		return states(name, "infinite", infinite(reported), op.LatencyAll != nil && reported == nil)
	}
	failed := equal("failed", m.counted("unanswered"), m.Errors)
	failed.excusable = m.Errors > m.counted("unanswered")
	return m.outcome([]Figure{
		equal("operations", m.served(), m.Ops),
		failed,
		atLeast("p50 of all", " ms", human.MS(timeoutsAnswer), most, orNone(all.P50)),
		forever("p95 of all", all.P95),
		forever("p99 of all", all.P99),
		atLeast("p95 of answered", " ms", human.MS(timeoutsAnswer), most, orNone(op.Latency.P95)),
		atMost("Apdex", "", 0, 1-float64(m.counted("unanswered"))/float64(max(1, m.served())), orNone(m.Apdex)),
	}), nil
}

func infinite(ms *float64) string {
	return human.Known(ms, "infinite", func(ms float64) string { return short(ms) + " ms" })
}
