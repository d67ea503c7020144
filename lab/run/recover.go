package run

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"plimsoll/ground/problem"
	"plimsoll/lab/load"
	"plimsoll/lab/load/apdex"
	"plimsoll/lab/load/tally"
	"plimsoll/lab/load/users"
	"plimsoll/lab/run/result"
	"plimsoll/lab/run/store"
)

// Recover completes a run whose process died while users were active, from its journal: what was measured until then,
// not valid, and with unaudited books.
func Recover(runs *store.Store, id string) (*result.Result, error) {
	all, err := recovered(runs.JournalPath(id), runs.WhyNotKept(id))
	if err != nil {
		return nil, problem.New(problem.Failure, fmt.Errorf("recover run %s: %w", id, err),
			"its process died, and what it wrote cannot be read; the folder can be removed: "+runs.Dir(id))
	}
	if err := runs.Save(all); err != nil {
		return nil, err
	}
	return all, runs.Settle(id)
}

// recovered completes a run from its journal; notKept is why the result of a run that ended could not be stored, empty:
// it did not end.
func recovered(path, notKept string) (*result.Result, error) {
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
	if err := readEntry(lines, &first); err != nil {
		return nil, err
	}
	if first.Run == nil || first.Run.Schema != result.Schema {
		return nil, errForeign
	}
	r := restoredRecord(first.Run)
	r.notKept = notKept
	ending, err := r.replay(lines)
	if err != nil {
		return nil, err
	}
	return r.unfinished(first.Run, ending, info.ModTime()), nil
}

// restoredRecord restores the record of a run as it was when its users started work, as far as its counts need it.
func restoredRecord(started *result.Result) *record {
	kept := started.Conditions.Load
	r := &record{
		Options: Options{
			Load:     load.Load{Users: started.Users, Ramp: seconds(kept.RampS), Duration: seconds(kept.DurationS)},
			LagLimit: seconds(kept.LagLimitS),
		},
		id: started.ID, meters: readings{cores: 1}, audit: started.Audit,
	}
	for _, op := range started.Operations {
		r.crowd.Operations = append(r.crowd.Operations, users.Operation{ID: op.ID, Title: op.Title,
			Target: seconds(op.TargetMS / 1000), Priority: op.Priority, Weight: op.Weight,
			Refused: op.RefusedExpected, Least: int(op.Least)})
	}
	r.made.Tally = users.NewTally(r.crowd.Operations, r.Ramp, r.End())
	return r
}

// journalEnding is how a journal ends.
type journalEnding int

const (
	journalComplete journalEnding = iota // with the end of the load
	journalCut                           // where the process died while writing, or the disk was full
	journalDamaged                       // before something that was not written by the run
)

// replay adds up the pages and returns how they end.
func (r *record) replay(lines *json.Decoder) (ending journalEnding, err error) {
	ending = journalCut
	counts, operations := r.made.Tally, len(r.crowd.Operations)
	last := tally.NewSum(0, operations)
	for {
		var page tally.Page
		if err := readEntry(lines, &page); err != nil {
			if errors.Is(err, errDamaged) {
				ending = journalDamaged
			}
			break
		}
		if !page.Fits(operations) {
			return ending, fmt.Errorf("the page of second %d does not have %d operations", page.Second, operations)
		}
		if err := counts.Add(page); err != nil {
			return ending, err
		}
		last = page
	}
	if !last.Rest {
		rest := tally.NewSum(last.Second+1, operations)
		rest.Users = last.Users
		if err := counts.Add(rest); err != nil {
			return ending, err
		}
	}
	counts.To = max(counts.From, min(counts.To, last.End()))
	if last.Rest {
		ending = journalComplete
	}
	return ending, nil
}

// unfinished is the result of what was counted until then. For a run that ended after its journal had stopped it has no
// score: the score that was printed covers the whole run.
func (r *record) unfinished(started *result.Result, ending journalEnding, at time.Time) *result.Result {
	timeline := r.made.Tally.Timeline
	until := timeline.Width * time.Duration(len(timeline.Intervals))
	why := fmt.Sprintf("the process of the run died after %.0f s: what users waited for is not counted",
		until.Seconds())
	switch {
	case ending == journalDamaged:
		why = fmt.Sprintf("known up to second %.0f: the journal of the run is damaged from there on, and is all "+
			"that is left of it", until.Seconds())
	case r.notKept != "" && ending == journalComplete:
		why = "the run ended, but its result could not be kept: " + r.notKept
	case r.notKept != "":
		why = fmt.Sprintf("known up to second %.0f, where the journal stopped; the run ended, but its result could "+
			"not be kept: %s", until.Seconds(), r.notKept)
	case ending == journalComplete:
		why = "the process of the run died before its result was stored: these are the counts until then"
	}
	r.made.Wrong, r.made.Events = []string{why}, []result.Event{{AtS: until.Seconds(), Text: why}}
	r.audit.Error = "its result was not stored"
	all := *started
	r.measured(&all, at)
	if r.notKept != "" && ending != journalComplete {
		all.Apdex, all.Interval, all.Band = nil, nil, apdex.NoSample
	}
	return &all
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
