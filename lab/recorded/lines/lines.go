// Package lines reads logs line by line in bounded memory, and counts what could not be read.
package lines

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Unread is what was not understood.
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

// Reader of lines.
type Reader struct {
	Unread Unread
	// Line is the number of the last line read.
	Line int64
	// Growing file: a line or an entry at its end that may go on is left for another time.
	Growing bool

	file  string
	most  int
	in    *bufio.Reader
	ahead []byte
	read  int64 // bytes of the file so far
	last  int64 // of them, those of the last line
	begun Place // of the entry that is being read
}

// Place in a file, between two lines.
type Place struct {
	Offset int64 `json:"offset"`
	Line   int64 `json:"line"` // number of the line before it
}

// Place behind what was read.
func (r *Reader) Place() Place {
	if r.ahead != nil {
		return Place{r.read - r.last, r.Line - 1}
	}
	return Place{r.read, r.Line}
}

// From says that the file is read from a place on, which may be its beginning.
func (r *Reader) From(p Place) {
	if p != (Place{}) {
		r.read, r.Line, r.begun = p.Offset, p.Line, p
	}
}

// Begin an entry. At the end of a growing file the last one begun is not whole yet.
func (r *Reader) Begin() { r.begun = r.Place() }

// Begun is the place where the last entry begins that was begun.
func (r *Reader) Begun() Place { return r.begun }

// NewReader reads lines of at most so many bytes; name is for messages.
func NewReader(r io.Reader, name string, most int) *Reader {
	in, read := bufio.NewReaderSize(r, 256<<10), 0
	if mark, err := in.Peek(3); err == nil && string(mark) == "\uFEFF" {
		read, _ = in.Discard(3)
	}
	return &Reader{file: name, most: most, in: in, read: int64(read)}
}

// Next line with its end, or io.EOF. Of a line that is too long one byte more than the most is kept.
func (r *Reader) Next() ([]byte, error) {
	if line := r.ahead; line != nil {
		r.ahead = nil
		return line, nil
	}
	var line []byte
	for all := int64(0); ; {
		part, err := r.in.ReadSlice('\n')
		line = append(line, part[:min(len(part), r.most+1-len(line))]...)
		all += int64(len(part))
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && (len(line) == 0 || r.Growing && errors.Is(err, io.EOF)):
			return nil, err
		case err != nil && !errors.Is(err, io.EOF):
			return nil, fmt.Errorf("read %s: %w", r.file, err)
		}
		r.Line++
		r.read, r.last = r.read+all, all
		return line, nil
	}
}

// Back gives a line back: Next returns it again.
func (r *Reader) Back(line []byte) { r.ahead = line }

// Record is the text of the next entry that may have several lines, and the number of its first one. It ends before a
// line that begins the next, and behind one that makes it whole. Of an entry that is too long the beginning is kept.
func (r *Reader) Record(begins func(text, line []byte) bool, whole func(line []byte) bool) (text []byte, first int64,
	err error) {
	for {
		line, err := r.Next()
		switch {
		case errors.Is(err, io.EOF) && len(text) > 0 && !r.Growing:
			return text, first, nil
		case err != nil:
			return nil, 0, err
		case len(text) == 0 && len(bytes.TrimSpace(line)) == 0:
			continue
		case len(text) == 0:
			first = r.Line
		case begins(text, line):
			r.Back(line)
			return text, first, nil
		}
		if len(text) <= r.most {
			text = append(text, line...)
		}
		if whole(line) {
			return text, first, nil
		}
	}
}

// LeaveOut counts an event that could not be read.
func (r *Reader) LeaveOut(line, bytes int64, why error) {
	r.Unread.Add(Unread{Events: 1, Bytes: bytes, Examples: []Example{{r.file, line, why.Error()}}})
}

// Open a log, also one compressed by gzip. read gets the bytes read so far from the disk.
func Open(path string, read func(int)) (io.Reader, io.Closer, error) { return OpenAt(path, 0, read) }

// OpenAt is Open behind so many bytes of the text.
func OpenAt(path string, offset int64, read func(int)) (io.Reader, io.Closer, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("read the log: %w", err)
	}
	var in io.Reader = counting{file, read}
	if Compressed(path) {
		if in, err = gzip.NewReader(in); err == nil && offset > 0 {
			_, err = io.CopyN(io.Discard, in, offset)
		}
	} else if offset > 0 {
		_, err = file.Seek(offset, io.SeekStart)
	}
	if err != nil {
		_ = file.Close()
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return in, file, nil
}

// Compressed says whether a file is one of gzip, by its name.
func Compressed(path string) bool { return strings.HasSuffix(path, ".gz") }

type counting struct {
	io.Reader
	read func(int)
}

func (c counting) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.read(n)
	return n, err
}
