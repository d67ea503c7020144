package run

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"plimsoll/lab/result"
	"plimsoll/lab/runs"
	"plimsoll/lab/tally"
	"plimsoll/lab/users"
	"plimsoll/platform/problem"
)

// Recover completes a run whose process died while users were at work, from its journal: what
// was measured until then, not valid, and with books that nobody looked at.
func Recover(store *runs.Store, id string) (*result.Result, error) {
	all, err := recovered(store.JournalPath(id))
	if err != nil {
		return nil, problem.New(problem.Failure, fmt.Errorf("recover run %s: %w", id, err), "its process died, and what it wrote cannot be read; the folder can be removed: "+store.Dir(id))
	}
	if err := store.Save(all); err != nil {
		return nil, err
	}
	return all, store.Settle(id)
}

func recovered(path string) (*result.Result, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	lines := json.NewDecoder(z)
	var first opening
	if err := lines.Decode(&first); err != nil {
		return nil, err
	}
	if first.Run == nil || first.Run.Schema != result.Schema {
		return nil, fmt.Errorf("another version of Plimsoll made it")
	}
	r := again(first.Run)
	if err := r.replay(lines); err != nil {
		return nil, err
	}
	return r.died(first.Run, info.ModTime()), nil
}

// again is a run as it was when its users went to work, as far as its counts need it.
func again(begun *result.Result) *running {
	load := begun.Conditions.Load
	r := &running{
		Options: Options{Users: begun.Users, Ramp: seconds(load.RampS), Duration: seconds(load.DurationS), LagLimit: seconds(load.LagLimitS)},
		id:      begun.ID, meter: &meter{cores: 1}, crew: &crew{},
	}
	for _, op := range begun.Operations {
		r.operations = append(r.operations, users.Operation{ID: op.ID, Title: op.Title, Target: seconds(op.TargetMS / 1000), Priority: op.Priority, Weight: op.Weight})
	}
	r.tally = newTally(r.operations, r.Ramp, r.Ramp+r.Duration)
	return r
}

func newTally(operations []users.Operation, from, to time.Duration) *tally.Tally {
	var targets []time.Duration
	var priorities []int
	for _, op := range operations {
		targets, priorities = append(targets, op.Target), append(priorities, op.Priority)
	}
	return tally.New(targets, priorities, from, to)
}

// replay adds up the pages. The last one may be cut off, where the process died as it wrote.
func (r *running) replay(lines *json.Decoder) error {
	last := tally.NewSum(0, len(r.operations))
	for {
		var page tally.Page
		if err := lines.Decode(&page); err != nil {
			break
		}
		if !page.Fits(len(r.operations)) {
			return fmt.Errorf("second %d is not about its %d operations", page.Second, len(r.operations))
		}
		if err := r.tally.Add(page); err != nil {
			return err
		}
		last = page
	}
	until := last.End()
	if r.rested = last.Rest; !r.rested {
		rest := tally.NewSum(last.Second+1, len(r.operations))
		rest.Users = last.Users
		if err := r.tally.Add(rest); err != nil {
			return err
		}
	}
	r.tally.To = max(r.tally.From, min(r.tally.To, until))
	return nil
}

// died is the result of what was counted until then.
func (r *running) died(begun *result.Result, at time.Time) *result.Result {
	until := r.tally.Timeline.Width * time.Duration(len(r.tally.Timeline.Intervals))
	why := fmt.Sprintf("the process of the run died after %.0f s: what users waited for is not counted", until.Seconds())
	if r.rested {
		why = "the process of the run died before its result was kept: this is what was counted on the way"
	}
	r.made.Wrong, r.made.Events = []string{why}, []result.Event{{AtS: until.Seconds(), Text: why}}
	r.audit = begun.Audit
	r.audit.Error = "nothing of it was kept"
	all := *begun
	r.measured(&all, at)
	return &all
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
