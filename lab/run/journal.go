package run

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"syscall"

	"plimsoll/ground/host/lock"
	"plimsoll/lab/load/tally"
	"plimsoll/lab/load/users"
	"plimsoll/lab/run/live"
	"plimsoll/lab/run/result"
	"plimsoll/lab/run/store"
)

// journalBehind is how many seconds of pages may wait for the disk; beyond it the journal ends, because users must not
// wait.
const journalBehind = 120

// opening is the first line of a journal: what is known of a run when its users start work. One page per second
// follows.
type opening struct {
	Run *result.Result `json:"run"`
}

// entry is a line of a journal: the opening or a page, with a checksum.
type entry struct {
	Sum uint32          `json:"crc32c"`
	Of  json.RawMessage `json:"of"`
}

func sum(text []byte) uint32 { return crc32.Checksum(text, crc32.MakeTable(crc32.Castagnoli)) }

var (
	errDamaged = errors.New("the journal is damaged")
	errForeign = errors.New("another version of Plimsoll wrote it")
)

// readEntry reads the next line, the opening or a page. A truncated journal ends with io.EOF or io.ErrUnexpectedEOF.
func readEntry(lines *json.Decoder, into any) error {
	var e entry
	switch err := lines.Decode(&e); {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return err
	case err != nil:
		return errors.Join(errDamaged, err)
	case e.Of == nil:
		return errForeign
	case sum(e.Of) != e.Sum:
		return errDamaged
	}
	return json.Unmarshal(e.Of, into)
}

func (r *record) opening() *result.Result {
	all := r.begun()
	all.Operations = r.perOperation(users.NewTally(r.crowd.Operations, r.Ramp, r.End()))
	return all
}

// journal stores a run's counts as they come: a tally is the sum of its pages, so a killed process loses a second or
// two. The kernel decides when the disk gets them: waiting for a flush every second would disturb the database on the
// same machine.
type journal struct {
	store *store.Store
	id    string
	mark  *lock.Lock
	pages chan tally.Page // nil: nothing is written
	ended chan struct{}
	stop  *journalStop // nil: all pages were written; set when it has ended
	// behind is where pages were dropped because the disk was too slow; nil: nowhere.
	behind *journalStop
}

// journalStop is where a journal stopped although the run continued.
type journalStop struct {
	second int // the first second that is not in it
	err    error
}

var errDiskBehind = fmt.Errorf("the disk fell more than %d s behind", journalBehind)

func (s *journalStop) String() string {
	return fmt.Sprintf("the journal of the run stopped at second %d: %v", s.second, cause(s.err))
}

// cause of a file's error, without its path.
func cause(err error) error {
	if disk := diskError(err); disk != 0 {
		return disk
	}
	return err
}

// diskError is the errno of a disk that accepts no more data; zero: another error.
func diskError(err error) syscall.Errno {
	for _, full := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT} {
		if errors.Is(err, full) {
			return full
		}
	}
	return 0
}

// mark the run as under way.
func mark(ctx context.Context, runs *store.Store, id string) (j *journal, err error) {
	if runs == nil {
		return &journal{}, nil
	}
	j = &journal{store: runs, id: id}
	j.mark, err = runs.UnderWay(ctx, id)
	return j, err
}

// open starts writing. A journal that cannot be written does not prevent the run.
func (j *journal) open(first opening, tell func(live.Tone, string)) {
	if j.store == nil {
		return
	}
	j.store.Reserve(j.id)
	f, err := os.OpenFile(j.store.JournalPath(j.id), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
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
	put := func(line any) error {
		text, err := json.Marshal(line)
		return errors.Join(err, lines.Encode(entry{sum(text), text}), z.Flush())
	}
	stop := func(second int, err error) {
		if err != nil {
			j.stop = &journalStop{second, err}
			tell(live.Alarm, j.stop.String())
		}
	}
	stop(0, put(first))
	for page := range pages {
		if j.stop == nil {
			stop(page.Second, put(page))
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
	default: // a missing page would shift all that follow
		j.behind = &journalStop{p.Second, errDiskBehind}
		close(j.pages)
		j.pages = nil
	}
}

// finish writes what still waits, and returns where the journal stopped early; nil: nowhere.
func (j *journal) finish() *journalStop {
	if j.pages != nil {
		close(j.pages)
		j.pages = nil
	}
	if j.ended != nil {
		<-j.ended
	}
	if j.stop != nil {
		return j.stop
	}
	return j.behind
}

// close ends the writing; the journal is removed unless it is the only record of the run.
func (j *journal) close(needed bool) {
	j.finish()
	if j.store == nil {
		return
	}
	if !needed {
		_ = j.store.Settle(j.id)
	}
	_ = j.mark.Release()
}
