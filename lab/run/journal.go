package run

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"os"

	"plimsoll/lab/live"
	"plimsoll/lab/lock"
	"plimsoll/lab/result"
	"plimsoll/lab/runs"
	"plimsoll/lab/tally"
)

// journalBehind is how many seconds of pages may wait for the disk; beyond it the journal ends, since the users must not wait.
const journalBehind = 120

// opening is the first line of a journal: what is known of a run when its users go to work. A page a second follows.
type opening struct {
	Run *result.Result `json:"run"`
}

func (r *running) opening() opening {
	all := r.begun()
	r.tally = newTally(r.operations, r.Ramp, r.Ramp+r.Duration)
	all.Operations = r.perOperation()
	return opening{all}
}

// journal is what a run counts, written down as it comes: a tally is the sum of its pages, so
// a process that is killed loses a second or two. It is left to the kernel when the disk gets it: to
// wait for that every second would be felt by the database beside it.
type journal struct {
	store *runs.Store
	id    string
	mark  *lock.Lock
	pages chan tally.Page // nil: nothing is written
	ended chan struct{}
}

// mark the run as under way.
func (r *running) mark(ctx context.Context) (j *journal, err error) {
	if r.Store == nil {
		return &journal{}, nil
	}
	j = &journal{store: r.Store, id: r.id}
	j.mark, err = r.Store.UnderWay(ctx, r.id)
	return j, err
}

// open begins to write. What cannot be written down does not keep the run from being made.
func (j *journal) open(first opening, tell func(live.Tone, string)) {
	if j.store == nil {
		return
	}
	f, err := os.Create(j.store.JournalPath(j.id))
	if err != nil {
		tell(live.Alarm, "no journal of the run is kept: "+err.Error())
		return
	}
	j.pages, j.ended = make(chan tally.Page, journalBehind), make(chan struct{})
	go j.write(f, first, j.pages, tell)
}

func (j *journal) write(f *os.File, first opening, pages <-chan tally.Page, tell func(live.Tone, string)) {
	defer close(j.ended)
	z, _ := gzip.NewWriterLevel(f, gzip.BestSpeed)
	lines := json.NewEncoder(z)
	put := func(line any) error { return errors.Join(lines.Encode(line), z.Flush()) }
	err := put(first)
	for page := range pages {
		if err == nil {
			if err = put(page); err != nil {
				tell(live.Alarm, "the journal of the run ends here: "+err.Error())
			}
		}
	}
	f.Close()
}

// add what ended in a second.
func (j *journal) add(p tally.Page) {
	if j.pages == nil {
		return
	}
	select {
	case j.pages <- p:
	default: // a page that is missing would shift all that follow
		close(j.pages)
		j.pages = nil
	}
}

// close ends the writing; the journal is removed unless it is the only thing that tells of the run.
func (j *journal) close(needed bool) {
	if j.pages != nil {
		close(j.pages)
		j.pages = nil
	}
	if j.ended != nil {
		<-j.ended
	}
	if j.store == nil {
		return
	}
	if !needed {
		_ = j.store.Settle(j.id)
	}
	_ = j.mark.Release()
}
