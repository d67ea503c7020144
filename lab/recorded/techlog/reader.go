package techlog

import (
	"bytes"
	"errors"
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
// Of an event that is too long the beginning alone is kept.
func (r *Reader) event() (text []byte, first int64, err error) {
	var quotes openQuotes
	for {
		line, err := r.Reader.Next()
		switch {
		case errors.Is(err, io.EOF) && len(text) > 0 && !r.Growing:
			return text, first, nil
		case err != nil:
			return nil, 0, err
		case len(text) == 0 && len(bytes.TrimSpace(line)) == 0:
			continue
		case len(text) == 0:
			first = r.Line
		case line[0] == '{' && text[0] == '{', !quotes.open() && head.Match(line), headOfProcess.Match(line):
			r.Back(line)
			return text, first, nil
		}
		if len(text) <= EventBytesMost {
			text = append(text, line...)
		}
		quotes.line(line)
	}
}
