package techlog

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"
)

// EventBytesMost is the longest event that is read; a longer one is counted as unread. Servers cut values before that.
const EventBytesMost = 16 << 20

// Unread is what was not understood in one file.
type Unread struct {
	Events   int64     `json:"events"`
	Bytes    int64     `json:"bytes"`
	Examples []Example `json:"examples"`
}

// Example of an event that was not read.
type Example struct {
	File string `json:"file"`
	Line int64  `json:"line"`
	Why  string `json:"why"`
}

// examplesMost are kept.
const examplesMost = 5

// Add counts those of another file.
func (u *Unread) Add(other Unread) {
	u.Events += other.Events
	u.Bytes += other.Bytes
	u.Examples = append(u.Examples, other.Examples[:min(len(other.Examples), examplesMost-len(u.Examples))]...)
}

// Reader gives the events of one file.
type Reader struct {
	Unread Unread

	file  string
	lines *bufio.Reader
	hour  time.Time // of the text form
	zone  *time.Location
	line  int64  // number of the last line read
	ahead []byte // a line read that belongs to the next event
}

// NewReader reads a file whose name said the hour; in the JSON form each event has its whole time. name is for
// messages.
func NewReader(r io.Reader, name string, hour time.Time) *Reader {
	in := bufio.NewReaderSize(r, 256<<10)
	if mark, err := in.Peek(3); err == nil && string(mark) == "\uFEFF" {
		_, _ = in.Discard(3)
	}
	return &Reader{file: name, lines: in, hour: hour, zone: hour.Location()}
}

// Next event, or io.EOF. Events that cannot be read are counted and left out; an error is one of the file.
func (r *Reader) Next() (Event, error) {
	for {
		text, first, err := r.event()
		if err != nil {
			return Event{}, err
		}
		e, why := r.parse(text)
		if why == nil {
			return e, nil
		}
		r.leaveOut(first, int64(len(text)), why)
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

func (r *Reader) leaveOut(line, bytes int64, why error) {
	r.Unread.Add(Unread{Events: 1, Bytes: bytes, Examples: []Example{{r.file, line, why.Error()}}})
}

// event is the text of the next one, and the number of its first line. It ends before a line that begins an event.
// Inside of quotes such a line belongs to the value, unless it also has the process that each event begins with: then
// the quotes were never closed, as when a server was killed, and one broken event must not take the next ones with it.
// Of an event that is too long the beginning alone is kept.
func (r *Reader) event() (text []byte, first int64, err error) {
	var quotes openQuotes
	for {
		line, err := r.nextLine()
		switch {
		case errors.Is(err, io.EOF) && len(text) > 0:
			return text, first, nil
		case err != nil:
			return nil, 0, err
		case len(text) == 0 && len(bytes.TrimSpace(line)) == 0:
			continue
		case len(text) == 0:
			first = r.line
		case line[0] == '{' && text[0] == '{', !quotes.open() && head.Match(line), headOfProcess.Match(line):
			r.ahead = line
			return text, first, nil
		}
		if len(text) <= EventBytesMost {
			text = append(text, line...)
		}
		quotes.line(line)
	}
}

// nextLine with its end. A line longer than an event may be is cut, and its rest dropped.
func (r *Reader) nextLine() ([]byte, error) {
	if line := r.ahead; line != nil {
		r.ahead = nil
		return line, nil
	}
	var line []byte
	for {
		part, err := r.lines.ReadSlice('\n')
		if len(line) <= EventBytesMost {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && len(line) == 0:
			return nil, err
		case err != nil && !errors.Is(err, io.EOF):
			return nil, fmt.Errorf("read %s: %w", r.file, err)
		}
		r.line++
		return line, nil
	}
}
