// Package pglog reads the logs of PostgreSQL servers - csvlog, jsonlog and stderr with its log_line_prefix - entry by
// entry, in bounded memory. What it cannot read it counts, with examples.
package pglog

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Entry of the log.
type Entry struct {
	At          time.Time // when it was written: a statement's end
	Process     string    // process id
	Session     string    // its id, or the process id where the log has none
	User        string
	Database    string
	Application string
	Transaction string // virtual transaction id
	Severity    string // LOG, ERROR …, in English
	State       string // SQLSTATE
	Message     string
	Detail      string
	Context     string
	Statement   string // that an error is about
}

// Kinds of statements.
const (
	Simple  = "statement"
	Parse   = "parse"
	Bind    = "bind"
	Execute = "execute"
)

// Statement that ended.
type Statement struct {
	Kind     string
	Text     string // "" where log_duration alone is on
	Duration time.Duration
}

// Start is At less what the statement took.
func (e *Entry) Start(s Statement) time.Time { return e.At.Add(-s.Duration) }

// duration of a message, in English or Russian: "duration: 1.204 ms  statement: SELECT 1". The Russian message has a
// comma behind the unit.
var duration = regexp.MustCompile(`^(?:duration|продолжительность): ([0-9]+\.[0-9]+) (?:ms|мс)(?:,? +|$)`)

// kinds of statements as messages begin behind the duration.
var kinds = []struct{ begins, kind string }{
	{"statement: ", Simple}, {"оператор: ", Simple},
	{"parse ", Parse}, {"разбор ", Parse},
	{"bind ", Bind}, {"привязка ", Bind},
	{"execute ", Execute}, {"выполнение ", Execute}, {"выборка из ", Execute},
	{"fastpath function call: ", Simple},
}

// Timed is the statement that an entry says the duration of; false: it is about something else.
func (e *Entry) Timed() (s Statement, is bool) {
	if e.Severity != "LOG" {
		return s, false
	}
	m := duration.FindStringSubmatch(e.Message)
	if m == nil {
		return s, false
	}
	ms, err := strconv.ParseFloat(m[1], 64)
	if err != nil || ms > float64(longest/time.Millisecond) {
		return s, false
	}
	s = Statement{Kind: Simple, Duration: time.Duration(ms * float64(time.Millisecond))}
	rest := e.Message[len(m[0]):]
	for _, k := range kinds {
		text, is := strings.CutPrefix(rest, k.begins)
		if !is {
			continue
		}
		s.Kind = k.kind
		if k.kind == Parse || k.kind == Bind || k.kind == Execute { // the name of the prepared statement, a portal
			if _, after, named := strings.Cut(text, ": "); named {
				text = after
			}
		}
		s.Text = text
		break
	}
	return s, true
}

// longest duration that is believed.
const longest = 366 * 24 * time.Hour

// acquired a lock: "process 12 acquired ShareLock on transaction 7 after 1500.2 ms".
var acquired = regexp.MustCompile(
	`(?:acquired|получил в режиме|получил) .* (?:after|через|спустя) ([0-9]+\.[0-9]+) (?:ms|мс)$`)

// LockWait is how long the session had waited for a lock, of an entry that says so.
func (e *Entry) LockWait() (time.Duration, bool) {
	if e.Severity != "LOG" {
		return 0, false
	}
	m := acquired.FindStringSubmatch(e.Message)
	if m == nil {
		return 0, false
	}
	ms, err := strconv.ParseFloat(m[1], 64)
	if err != nil || ms > float64(longest/time.Millisecond) {
		return 0, false
	}
	return time.Duration(ms * float64(time.Millisecond)), true
}

// Failed says that a statement failed.
func (e *Entry) Failed() bool {
	return e.Severity == "ERROR" || e.Severity == "FATAL" || e.Severity == "PANIC"
}

// severities by the words that servers write, in English and Russian.
var severities = map[string]string{
	"DEBUG1": "DEBUG", "DEBUG2": "DEBUG", "DEBUG3": "DEBUG", "DEBUG4": "DEBUG", "DEBUG5": "DEBUG", "DEBUG": "DEBUG",
	"INFO": "INFO", "NOTICE": "NOTICE", "WARNING": "WARNING", "ERROR": "ERROR", "LOG": "LOG", "FATAL": "FATAL",
	"PANIC":      "PANIC",
	"ОТЛАДКА":    "DEBUG",
	"ИНФОРМАЦИЯ": "INFO", "ЗАМЕЧАНИЕ": "NOTICE", "ПРЕДУПРЕЖДЕНИЕ": "WARNING", "ОШИБКА": "ERROR", "СООБЩЕНИЕ": "LOG",
	"ВАЖНО": "FATAL", "ПАНИКА": "PANIC",
}

// attachments are lines that belong to the entry before them.
var attachments = map[string]func(*Entry, string){
	"DETAIL": func(e *Entry, s string) { e.Detail = s }, "ПОДРОБНОСТИ": func(e *Entry, s string) { e.Detail = s },
	"STATEMENT": func(e *Entry, s string) { e.Statement = s }, "ОПЕРАТОР": func(e *Entry, s string) { e.Statement = s },
	"CONTEXT": func(e *Entry, s string) { e.Context = s }, "КОНТЕКСТ": func(e *Entry, s string) { e.Context = s },
	"HINT": nil, "ПОДСКАЗКА": nil, "QUERY": nil, "ЗАПРОС": nil,
	"LOCATION": nil, "ПОЛОЖЕНИЕ": nil, "BACKTRACE": nil,
}

// clock of a log; fractions of a second are read behind it.
const clock = "2006-01-02 15:04:05"

var errNoTime = errors.New("no time at its beginning")

// parseTime reads a time. A zone that this machine knows only by its abbreviation, and not by its distance, is taken
// for the zone that was given.
func parseTime(text string, zone *time.Location) (time.Time, error) {
	day, name := text, ""
	if space := strings.LastIndexByte(text, ' '); space > 0 {
		day, name = text[:space], text[space+1:]
	}
	if fixed := nameless(name); fixed != nil {
		if at, err := time.ParseInLocation(clock, day, fixed); err == nil {
			return at, nil
		}
		return time.Time{}, errNoTime
	}
	at, err := time.ParseInLocation(clock+" MST", text, zone)
	if err != nil {
		if at, err = time.Parse("2006-01-02T15:04:05Z07:00", text); err != nil {
			return time.Time{}, errNoTime
		}
		return at, nil
	}
	if _, distance := at.Zone(); distance == 0 && name != "UTC" && name != "GMT" {
		at = time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), at.Nanosecond(), zone)
	}
	return at, nil
}

// nameless is the zone of a distance from UTC: many zones have no other abbreviation, such as +04, -03 and +0545. The
// library would take one that is not of the machine's own zone for UTC. nil: it is no distance.
func nameless(name string) *time.Location {
	if len(name) < len("+04") || name[0] != '+' && name[0] != '-' {
		return nil
	}
	digits := strings.ReplaceAll(name[1:], ":", "")
	n, err := strconv.ParseUint(digits, 10, 16)
	switch {
	case err != nil:
		return nil
	case len(digits) == len("04"):
		n *= 100
	case len(digits) != len("0545"):
		return nil
	}
	seconds := int(n/100*3600 + n%100*60)
	if name[0] == '-' {
		seconds = -seconds
	}
	return time.FixedZone(name, seconds)
}

// states of errors that lose a user's work to others, by how their messages begin, where log_line_prefix has no %e.
var states = []struct{ begins, state string }{
	{"deadlock detected", "40P01"}, {"обнаружена взаимоблокировка", "40P01"},
	{"canceling statement due to lock timeout", "55P03"}, {"could not obtain lock", "55P03"},
	{"canceling statement due to", "57014"},
	{"terminating connection due to idle-in-transaction timeout", "25P03"},
	{"terminating connection due to transaction timeout", "25P04"},
}

// stateOf a message; "" if it is none of those.
func stateOf(message string) string {
	for _, s := range states {
		if strings.HasPrefix(message, s.begins) {
			return s.state
		}
	}
	return ""
}
