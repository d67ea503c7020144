package replay

import (
	"cmp"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"

	"plimsoll/ground/postgres/sqltext"
	"plimsoll/lab/recorded/pglog"
	"plimsoll/lab/recorded/score"
)

// statement of the log, to be played again.
type statement struct {
	Session     string
	Database    string
	Application string
	User        string
	Begun       time.Time
	Text        string
	Values      bound
	Prepared    bool   // once for its session, under a name
	State       string // SQLSTATE with which it failed; empty: it did not
	Operation   int64  // that it belongs to, by the log's pauses
	Took        time.Duration
	Pause       time.Duration // of the program between the session's statement before it and this one
	Rows        int64         // that it returned or changed; unknownRows
	Made        bool          // a boundary of a transaction that the log only tells by its fields
	Call        call          // that it belongs to; zero: the log has none
}

// unknownRows of a statement whose log does not say.
const unknownRows = -1

// unknownState is that of a statement that failed, and nothing says how.
const unknownState = "?"

// call of a technological log, with what its statements need to know of it.
type call struct {
	Number  int64
	Managed bool // it lost a managed lock, which a replay does not take
	score.Call
}

// Reasons for which a statement is not replayed.
const (
	NoText      = "the log has its duration alone (log_duration without log_min_duration_statement)"
	NoData      = "COPY FROM STDIN: its rows are not in the log"
	NoValues    = "its parameters are not in the log (log_parameter_max_length)"
	Fetch       = "a fetch from a portal of the protocol"
	Fastpath    = "a function called by the protocol"
	OtherBase   = "of another database"
	Replication = "of a replication connection"
	NoSession   = "its session could not be opened"
)

var (
	copyIn      = regexp.MustCompile(`(?is)^\s*COPY\b.*\bFROM\s+STDIN\b`)
	placeholder = regexp.MustCompile(`\$[1-9][0-9]*`)
	replication = regexp.MustCompile(`^\s*(START_REPLICATION|IDENTIFY_SYSTEM|BASE_BACKUP|CREATE_REPLICATION_SLOT|` +
		`DROP_REPLICATION_SLOT|READ_REPLICATION_SLOT|TIMELINE_HISTORY)\b`)
)

// of an entry of the log: a statement, why it is not replayed, or neither where the entry is about something else. The
// parsing and binding of a statement happen again with its execution.
func of(e *pglog.Entry) (s *statement, why string) {
	took, timed := e.Timed()
	failed := e.Failed() && e.Session != "" && e.Statement != ""
	switch {
	case timed && (took.Kind == pglog.Parse || took.Kind == pglog.Bind), !timed && !failed:
		return nil, ""
	case timed && strings.Contains(e.Message, "fastpath function call: "):
		return nil, Fastpath
	case timed && took.Text == "":
		return nil, NoText
	case timed && strings.Contains(e.Message[:min(len(e.Message), 80)], "execute fetch from"):
		return nil, Fetch
	}
	s = &statement{Session: e.Session, Database: e.Database, Application: e.Application, User: e.User,
		Begun: e.Start(took), Text: took.Text, Took: took.Duration, Rows: unknownRows,
		Prepared: took.Kind == pglog.Execute && !strings.Contains(e.Message[:min(len(e.Message), 80)], "<unnamed>")}
	if failed {
		s.Text, s.State = e.Statement, cmp.Or(e.State, unknownState) // a prefix without %e does not say it
	}
	switch {
	case copyIn.MatchString(s.Text):
		return nil, NoData
	case replication.MatchString(s.Text):
		return nil, Replication
	}
	var whole bool
	parameters := e.Detail
	if failed {
		parameters = e.Context
	}
	if s.Values, whole = values(parameters); !whole {
		return nil, NoValues
	}
	if highest(s.Text) > len(s.Values) && took.Kind != pglog.Simple || failed && highest(s.Text) > len(s.Values) {
		return nil, NoValues
	}
	return s, ""
}

// next entry of a file; false: there is none.
func next(in *pglog.Reader) (e pglog.Entry, ok bool, err error) {
	e, err = in.Next()
	if errors.Is(err, io.EOF) {
		return e, false, nil
	}
	return e, err == nil, err
}

// highest number of a parameter in a statement.
func highest(text string) (most int) {
	if !strings.Contains(text, "$") {
		return 0
	}
	for p := range sqltext.Parts(text, false) {
		if p.Kind != sqltext.Parameter {
			continue
		}
		n, err := strconv.ParseUint(p.Text[1:], 10, 16)
		if err != nil { // more than a statement can have
			n = 1 << 16
		}
		most = max(most, int(n))
	}
	return most
}

// before parameters stand these words, in a detail or, of a statement that failed, in a context: those of PostgreSQL 14
// to 18, and Russian ones.
var before = regexp.MustCompile(`^(?:[Pp]arameters: |[Пп]араметры: |[^\n]*(?:with parameters|с параметрами): )`)

// values of "Parameters: $1 = '5', $2 = NULL"; false if one is cut.
func values(text string) (all []*string, whole bool) {
	words := before.FindString(text)
	if words == "" {
		return nil, true
	}
	rest := text[len(words):]
	for rest != "" && rest[0] != '\n' {
		name, after, found := strings.Cut(rest, " = ")
		if !found || !placeholder.MatchString(name) {
			return all, false
		}
		if after, null := strings.CutPrefix(after, "NULL"); null {
			all, rest = append(all, nil), strings.TrimPrefix(after, ", ")
			continue
		}
		value, after, ok := cutLiteral(after)
		if !ok {
			return all, false
		}
		all, rest = append(all, &value), strings.TrimPrefix(after, ", ")
	}
	return all, true
}

// cutLiteral takes a quoted value. One that the server cut ends in three dots behind its quote.
func cutLiteral(text string) (value, rest string, ok bool) {
	if !strings.HasPrefix(text, "'") {
		return "", "", false
	}
	p := sqltext.First(text, false)
	value, rest = strings.ReplaceAll(p.Inner(), "''", "'"), text[len(p.Text):]
	return value, rest, !p.Cut && !strings.HasSuffix(value, "...") && !strings.HasPrefix(rest, "...")
}
