package self

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"time"

	"plimsoll/lab/prove/burner"
	"plimsoll/lab/run"
)

// burnMost is the processor time after which a burner ends, whatever became of this process.
const burnMost = 15

// disturbed is a load on the database while processes that are not ours take the processors.
func disturbed(ctx context.Context, s *stage) (outcome, error) {
	dsn, err := s.database(ctx)
	if err != nil {
		return outcome{}, err
	}
	o, err := s.options("disturbed", `
application = "none"
users = 20
[think]
mean = "100ms"
[operations.statement]
target = "2s"
sql = "SELECT 1"
`, 6*time.Second)
	if err != nil {
		return outcome{}, err
	}
	o.DSN = dsn
	burners, err := burner.Start(ctx, s.dir, runtime.NumCPU(), burnMost)
	defer burners.End()
	if err != nil {
		return outcome{}, err
	}
	before, began := burners.Used(), time.Now()
	r, err := run.Run(ctx, o)
	if err != nil || r.Disturbance == nil {
		return outcome{}, err
	}
	took := (burners.Used() - before).Seconds() / time.Since(began).Seconds() / float64(runtime.NumCPU())
	s.falsifyResult(r)
	var others []string
	for _, neighbour := range r.Disturbance.Who {
		others = append(others, neighbour.Name)
	}
	validity, reason := states("valid", "no", valid(r), !r.Valid),
		checkMentions("reason", "disturbed: other processes used", r.InvalidReasons)
	// A little more than the limit in the whole run may be less than it in the steady state.
	if took < 2*run.DisturbedLimitDefault {
		validity, reason = validity.excused(), reason.excused()
	}
	return outcome{figures: []Figure{
		validity, reason,
		checkMentions("who", burner.Name, others).excused(), // others may take more than it gets
	}, disturbed: []string{fmt.Sprintf("the planted processes got %.0f %% of the processors; others were named: %s",
		100*took, strings.Join(others, ", "))}}, nil
}
