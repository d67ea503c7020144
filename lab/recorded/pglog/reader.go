package pglog

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"time"

	"plimsoll/lab/recorded/lines"
)

// EntryBytesMost is the longest entry that is read; a longer one is counted as unread.
const EntryBytesMost = 16 << 20

// Format of a log.
type Format string

// Formats as log_destination names them.
const (
	CSV    Format = "csvlog"
	JSON   Format = "jsonlog"
	Stderr Format = "stderr"
)

// Reader gives the entries of one file.
type Reader struct {
	*lines.Reader
	format Format
	prefix *Prefix
	zone   *time.Location
}

// NewReader reads a file; name is for messages, prefix of the format stderr alone.
func NewReader(r io.Reader, name string, format Format, prefix *Prefix, zone *time.Location) *Reader {
	return &Reader{Reader: lines.NewReader(r, name, EntryBytesMost), format: format, prefix: prefix, zone: zone}
}

// Next entry, or io.EOF. Entries that cannot be read are counted and left out; an error is one of the file.
func (r *Reader) Next() (Entry, error) {
	for {
		r.Begin()
		var e Entry
		var text []byte
		var first int64
		var why, err error
		switch r.format {
		case CSV:
			if text, first, err = r.record(); err == nil {
				e, why = parseCSV(text, r.zone)
			}
		case JSON:
			if text, first, err = r.filled(); err == nil {
				e, why = parseJSON(text, r.zone)
			}
		default:
			e, text, first, why, err = r.lines()
		}
		if err != nil {
			return Entry{}, err
		}
		if why == nil && len(text) > EntryBytesMost {
			why = fmt.Errorf("it is longer than %d MB", EntryBytesMost>>20)
		}
		if why == nil {
			return e, nil
		}
		r.LeaveOut(first, int64(len(text)), why)
	}
}

// filled is the next line that is not empty.
func (r *Reader) filled() (line []byte, first int64, err error) {
	for {
		if line, err = r.Reader.Next(); err != nil || len(bytes.TrimSpace(line)) > 0 {
			return line, r.Line, err
		}
	}
}

// recordHead is how each record of csvlog begins: time, user, database, process. Inside of quotes such a line begins a
// record too: then the quotes never ended, as when a server was killed.
var recordHead = regexp.MustCompile(`^` + stamp + `,(?:"[^"]*")?,(?:"[^"]*")?,\d*,`)

// record is the text of the next record of csvlog. A line ends it outside of quotes.
func (r *Reader) record() (text []byte, first int64, err error) {
	quotes := 0
	return r.Record(func(_, line []byte) bool { return recordHead.Match(line) }, func(line []byte) bool {
		quotes += bytes.Count(line, []byte{'"'})
		return quotes%2 == 0
	})
}

// Columns of csvlog, which servers before 14 lack the last of.
const (
	columnTime = iota
	columnUser
	columnDatabase
	columnProcess
	_
	columnSession
	_
	_
	_
	columnTransaction
	_
	columnSeverity
	columnState
	columnMessage
	columnDetail
	_
	_
	_
	columnContext
	columnStatement
	_
	_
	columnApplication
	columnsLeast
)

func parseCSV(text []byte, zone *time.Location) (Entry, error) {
	in := csv.NewReader(bytes.NewReader(text))
	in.FieldsPerRecord = -1
	f, err := in.Read()
	if err != nil {
		var broken *csv.ParseError
		if errors.As(err, &broken) {
			err = broken.Err
		}
		return Entry{}, fmt.Errorf("broken CSV: %w", err)
	}
	if len(f) < columnsLeast {
		return Entry{}, fmt.Errorf("%d columns, at least %d are needed", len(f), columnsLeast)
	}
	e := Entry{Process: f[columnProcess], Session: f[columnSession], User: f[columnUser],
		Database: f[columnDatabase], Application: known(f[columnApplication]), Transaction: f[columnTransaction],
		State: f[columnState], Message: f[columnMessage], Detail: f[columnDetail],
		Context: f[columnContext], Statement: f[columnStatement]}
	return e, e.complete(f[columnTime], f[columnSeverity], zone)
}

// complete an entry with what must be understood.
func (e *Entry) complete(at, severity string, zone *time.Location) (err error) {
	if e.At, err = parseTime(at, zone); err != nil {
		return err
	}
	if e.Severity = severities[severity]; e.Severity == "" {
		return fmt.Errorf("%q is no severity in English or Russian", severity)
	}
	if e.Session == "" {
		e.Session = e.Process
	}
	return nil
}

func parseJSON(text []byte, zone *time.Location) (Entry, error) {
	var f struct {
		Timestamp   string      `json:"timestamp"`
		User        string      `json:"user"`
		Database    string      `json:"dbname"`
		Process     json.Number `json:"pid"`
		Session     string      `json:"session_id"`
		Transaction string      `json:"vxid"`
		Severity    string      `json:"error_severity"`
		State       string      `json:"state_code"`
		Message     string      `json:"message"`
		Detail      string      `json:"detail"`
		Context     string      `json:"context"`
		Statement   string      `json:"statement"`
		Application string      `json:"application_name"`
	}
	if err := json.Unmarshal(text, &f); err != nil {
		return Entry{}, fmt.Errorf("broken JSON: %w", err)
	}
	e := Entry{Process: f.Process.String(), Session: f.Session, User: f.User, Database: f.Database,
		Application: known(f.Application), Transaction: f.Transaction, State: f.State, Message: f.Message,
		Detail: f.Detail, Context: f.Context, Statement: f.Statement}
	return e, e.complete(f.Timestamp, f.Severity, zone)
}

// lines of the format stderr: an entry, those that go on with it, which begin with a tab, and its attachments.
func (r *Reader) lines() (e Entry, text []byte, first int64, why, err error) {
	line, first, err := r.filled()
	if err != nil {
		return e, nil, 0, nil, err
	}
	e, word, rest, ok := r.prefix.read(line, r.zone)
	if !ok {
		return e, line, first, fmt.Errorf("it does not begin as log_line_prefix %q says", r.prefix), nil
	}
	if e.Severity = severities[word]; e.Severity == "" {
		if _, attached := attachments[word]; attached {
			return e, line, first, errors.New("it belongs to an entry that is not here"), nil
		}
		return e, line, first, fmt.Errorf("%q is no severity in English or Russian", word), nil
	}
	text = bytes.Clone(bytes.TrimRight(rest, "\r\n"))
	all := len(text)
	set := func(e *Entry, s string) { e.Message = s }
	for {
		line, err := r.Reader.Next()
		if r.Growing && errors.Is(err, io.EOF) {
			return e, nil, 0, nil, err
		}
		if err != nil {
			break // the end, or an error that comes again
		}
		if line[0] == '\t' {
			if all <= EntryBytesMost {
				text = append(append(text, '\n'), bytes.TrimRight(line[1:], "\r\n")...)
			}
			all += len(line)
			continue
		}
		next, word, rest, ok := r.prefix.read(line, r.zone)
		attach, attached := attachments[word]
		if !ok || !attached || next.Process != e.Process {
			r.Back(line)
			break
		}
		if set != nil {
			set(&e, string(text))
		}
		set, text = attach, bytes.Clone(bytes.TrimRight(rest, "\r\n"))
		all += len(line)
	}
	if set != nil {
		set(&e, string(text))
	}
	if e.State == "" && e.Failed() {
		e.State = stateOf(e.Message)
	}
	if all > EntryBytesMost {
		return e, text, first, fmt.Errorf("it is longer than %d MB", EntryBytesMost>>20), nil
	}
	return e, text, first, nil, nil
}
