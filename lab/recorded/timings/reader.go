package timings

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"plimsoll/lab/recorded/lines"
)

// Operation that the application measures: a "key operation".
type Operation struct {
	Name    string
	TargetS string // as it is written; empty: there is none
	// PerUnit: its durations are those of one unit of data, such as a row. The library writes the whole operation too,
	// as another one.
	PerUnit bool
}

// Measurement of an operation.
type Measurement struct {
	At     time.Time // begin
	Took   time.Duration
	Failed bool // it ended with an error
}

// Limits of what is held in memory: one element's text, elements within each other, the measurements of one element
// KeyOperation (the library writes 1,000 into a file), and a name.
const (
	tokenMost = 1 << 20
	depthMost = 32
	heldMost  = 1 << 20
	nameMost  = 1 << 10
)

// Reader of an export.
type Reader struct {
	Unread lines.Unread

	file   string
	in     *bounded
	xml    *xml.Decoder
	failed bool // what follows cannot be read
}

// NewReader reads an export; name is for messages.
func NewReader(r io.Reader, name string) *Reader {
	in := &bounded{Reader: r}
	return &Reader{file: name, in: in, xml: xml.NewDecoder(in)}
}

// bounded reading between two tokens: a decoder holds each in memory.
type bounded struct {
	io.Reader
	read int
}

var errTooLong = fmt.Errorf("an element of more than %d bytes", tokenMost)

func (b *bounded) Read(p []byte) (int, error) {
	if b.read > tokenMost {
		return 0, errTooLong
	}
	n, err := b.Reader.Read(p)
	b.read += n
	return n, err
}

// Next operation with its measurements, or io.EOF. The library may write one operation several times.
func (r *Reader) Next() (Operation, []Measurement, error) {
	for !r.failed {
		token, err := r.token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Operation{}, nil, err
		}
		if e, is := token.(xml.StartElement); is && e.Name.Local == "KeyOperation" {
			op, measured, err := r.operation(e)
			if err != nil || op.Name != "" {
				return op, measured, err
			}
		}
	}
	return Operation{}, nil, io.EOF
}

// token of the file; what is no XML is counted once and ends it.
func (r *Reader) token() (xml.Token, error) {
	r.in.read = 0
	token, err := r.xml.Token()
	var syntax *xml.SyntaxError
	if errors.As(err, &syntax) || errors.Is(err, errTooLong) || errors.Is(err, io.ErrUnexpectedEOF) {
		r.LeaveOut(err)
		r.failed, err = true, io.EOF
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("read %s: %w", r.file, err)
	}
	return token, err
}

// LeaveOut counts what could not be read.
func (r *Reader) LeaveOut(why error) {
	line, _ := r.xml.InputPos()
	r.Unread.Add(lines.Unread{Events: 1, Examples: []lines.Example{{File: r.file, Line: int64(line),
		Why: why.Error()}}})
}

// operation that begins with e. Its measurements may stand before its name. Of a file that is cut off what was whole
// is kept.
func (r *Reader) operation(e xml.StartElement) (op Operation, measured []Measurement, err error) {
	of := fields{}
	of.attributes(e)
	err = r.fields(of, func(inner xml.StartElement) error {
		m := fields{}
		m.attributes(inner)
		if err := r.fields(m, nil); err != nil || r.failed {
			return err
		}
		one, err := m.measurement(of["runningError"])
		switch {
		case err != nil:
			r.LeaveOut(err)
		case len(measured) >= heldMost:
			r.LeaveOut(fmt.Errorf("more than %d measurements in one element", heldMost))
		default:
			measured = append(measured, one)
		}
		return nil
	})
	op = Operation{Name: of["nameFull"], TargetS: of["targetValue"], PerUnit: isTrue(of["long"])}
	if op.Name == "" {
		op.Name = of["name"]
	}
	if op.Name == "" && err == nil {
		lost := len(measured)
		if !r.failed { // else the failure is counted
			lost = max(1, lost)
		}
		for range lost {
			r.LeaveOut(errors.New("a KeyOperation without a name"))
		}
	}
	return op, measured, err
}

// fields of an element, until it ends. measurement, unless nil, is called for each measurement within it.
func (r *Reader) fields(of fields, measurement func(xml.StartElement) error) error {
	text, depth := "", 0
	for {
		token, err := r.token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			if measurement != nil && depth == 0 && t.Name.Local == "measurement" {
				if err := measurement(t); err != nil || r.failed {
					return err
				}
				continue
			}
			if text, depth = "", depth+1; depth > depthMost {
				r.LeaveOut(fmt.Errorf("more than %d elements within each other", depthMost))
				r.failed = true
				return nil
			}
		case xml.CharData:
			if len(text) < nameMost {
				text += strings.TrimSpace(string(t[:min(len(t), nameMost)]))
			}
		case xml.EndElement:
			if depth == 0 {
				return nil
			}
			if depth--; depth == 0 {
				of[t.Name.Local] = text
			}
		}
	}
}

// fields of an element by name.
type fields map[string]string

func (f fields) attributes(e xml.StartElement) {
	for _, a := range e.Attr {
		f[a.Name.Local] = a.Value[:min(len(a.Value), nameMost)]
	}
}

// measurement of its fields. Older versions say of the operation whether all of them failed.
func (f fields) measurement(failed string) (m Measurement, err error) {
	seconds, err := strconv.ParseFloat(f["value"], 64)
	if err != nil || math.IsNaN(seconds) || seconds < 0 || seconds > tookMost.Seconds() {
		return m, fmt.Errorf("value %q is no duration in seconds", f["value"])
	}
	if f["runningError"] != "" {
		failed = f["runningError"]
	}
	m = Measurement{Took: time.Duration(math.Round(seconds*1e6)) * time.Microsecond, Failed: isTrue(failed)}
	m.At, err = moment(f["tUTC"])
	return m, err
}

// tookMost is the longest duration that is one.
const tookMost = 366 * 24 * time.Hour

// isTrue in XML.
func isTrue(text string) bool { return text == "true" || text == "1" }

// year1 is when the application's clock began; it counts milliseconds.
var year1 = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)

// Moments that can be those of a measurement.
const (
	yearLeast = 2000
	yearMost  = 2200
)

// moment as the versions write it: milliseconds since the year 1, or a date and time of UTC.
func moment(text string) (at time.Time, err error) {
	ms, err := strconv.ParseFloat(text, 64)
	switch {
	case err == nil:
		days := math.Floor(ms / (24 * 3600 * 1000)) // a Duration has 292 years
		if days >= 0 && days < yearMost*366 {
			at = year1.AddDate(0, 0, int(days)).
				Add(time.Duration(ms-days*24*3600*1000) * time.Millisecond)
		}
	default:
		if at, err = time.Parse(time.RFC3339, text); err != nil {
			at, err = time.Parse("2006-01-02T15:04:05", text)
		}
	}
	if err != nil || at.Year() < yearLeast || at.Year() > yearMost {
		return at, fmt.Errorf("tUTC %q is no moment", text)
	}
	return at.UTC(), nil
}
