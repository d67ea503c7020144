package techlog

import (
	"fmt"
	"io"
	"time"

	"plimsoll/lab/recorded/lines"
)

// EventBytesMost is the longest event that is read; a longer one is counted as unread. Servers cut values before that.
const EventBytesMost = 16 << 20

// Reader gives the events of one file.
type Reader struct {
	*lines.Reader
	hour time.Time // of the text form
	zone *time.Location
}

// NewReader reads a file whose name said the hour; in the JSON form each event has its whole time. name is for
// messages.
func NewReader(r io.Reader, name string, hour time.Time) *Reader {
	return &Reader{Reader: lines.NewReader(r, name, EventBytesMost), hour: hour, zone: hour.Location()}
}

// Next event, or io.EOF. Events that cannot be read are counted and left out; an error is one of the file.
func (r *Reader) Next() (Event, error) {
	for {
		r.Begin()
		text, first, err := r.event()
		if err != nil {
			return Event{}, err
		}
		e, why := r.parse(text)
		if why == nil {
			return e, nil
		}
		r.LeaveOut(first, int64(len(text)), why)
	}
}

func (r *Reader) parse(text []byte) (Event, error) {
	if len(text) > EventBytesMost {
		return Event{}, fmt.Errorf("it is longer than %d MB", EventBytesMost>>20)
	}
	if text[0] == '{' {
		return parseJSON(text, r.zone)
	}
	return parseText(text, r.hour)
}

// event is the text of the next one, and the number of its first line. It ends before a line that begins an event.
// Inside of quotes such a line belongs to the value, unless it also has the process that each event begins with: then
// the quotes were never closed, as when a server was killed, and one broken event must not take the next ones with it.
func (r *Reader) event() (text []byte, first int64, err error) {
	var quotes openQuotes
	begins := func(text, line []byte) bool {
		return line[0] == '{' && text[0] == '{' || !quotes.open() && head.Match(line) || headOfProcess.Match(line)
	}
	return r.Record(begins, func(line []byte) bool {
		quotes.line(line)
		return false
	})
}
