package score

import (
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"plimsoll/ground/postgres/sqltext"
	"plimsoll/lab/recorded/lines"
	"plimsoll/lab/recorded/pglog"
	"plimsoll/lab/recorded/techlog"
)

// GapDefault of Options: a pause between statements of a session that is longer begins another operation.
const GapDefault = 250 * time.Millisecond

// textMost of a statement is looked at for names.
const textMost = 8 << 10

// idleMost is how long a session may be silent before what it did is counted; its statement may still run.
const idleMost = 10 * time.Minute

// operationsMost are told apart by name; what else there is goes under one.
const operationsMost = 1000

const otherName = "others"

// sessions makes operations of the statements of a PostgreSQL log: those of one session that follow each other without
// a longer pause.
type sessions struct {
	*collector
	gap      time.Duration
	database string // only this one; empty: all
	divided
	shown func(name string) string // Options.Shown
	// given: the burst that what comes next belongs to, as another division says; 0: pauses say it.
	given int64
}

// divided is how far the sessions of a log are. A log that is read on keeps it as it is.
type divided struct {
	Open    map[string]*burst `json:"open"`
	Entries int               `json:"entries"`
	Made    int64             `json:"made"`   // bursts
	Pauses  int64             `json:"pauses"` // between statements of a session
	Near    int64             `json:"near"`   // of them, between half the gap and twice as much
	Least   time.Duration     `json:"least"`  // of all statements
}

func newDivided() divided { return divided{Open: map[string]*burst{}} }

// burst is what a session does without a longer pause.
type burst struct {
	Number      int64         `json:"number"`
	Begin       time.Time     `json:"begin"`
	End         time.Time     `json:"end"`
	hour        `json:"sums"` // Took stays empty
	Failed      bool          `json:"failed,omitempty"`
	Tag         string        `json:"tag,omitempty"`
	User        string        `json:"user"`
	Transaction string        `json:"transaction,omitempty"` // that it was in last
	Writes      []string      `json:"writes,omitempty"`
	Reads       []string      `json:"reads,omitempty"`
	WithText    bool          `json:"with_text,omitempty"`
	Other       bool          `json:"other,omitempty"` // a statement was no control of transactions and session
}

func (s *sessions) file(ctx context.Context, r *pglog.Reader) error {
	return s.each(ctx, &r.Unread, func() error {
		e, err := r.Next()
		if err == nil && (s.database == "" || s.database == e.Database) {
			s.entry(&e)
		}
		return err
	})
}

// techlogFile reads one of a 1C server without calls: statements alone say what its clients did.
func (s *sessions) techlogFile(ctx context.Context, r *techlog.Reader, process string) error {
	return s.each(ctx, &r.Unread, func() error {
		e, err := r.Next()
		if err != nil {
			return err
		}
		s.clock.See(&e)
		s.see(e.At)
		if IsStatement(&e) {
			s.statement(&pglog.Entry{At: e.At, Session: process + " " + e.Value("t:clientID"), User: e.Value("Usr"),
				Severity: "LOG"}, pglog.Statement{Kind: pglog.Simple, Text: e.Value("Sql"), Duration: e.Duration})
		}
		return nil
	})
}

// each entry of a file by next, until it ends; sessions that have long been silent are closed now and then.
func (s *sessions) each(ctx context.Context, unread *lines.Unread, next func() error) error {
	defer func() { s.Unread.Add(*unread) }()
	for ; ; s.Entries++ {
		if s.Entries%10_000 == 0 {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			s.closeIdle(s.Last.Add(-idleMost))
		}
		if err := next(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// tooMany connections: somebody found no place.
const tooMany = "53300"

// withoutStatement are failures of operations that no statement goes with: no place, and transactions that were ended.
var withoutStatement = []string{tooMany, "25P03", "25P04"}

// closeIdle counts what sessions did that have been silent since then.
func (s *sessions) closeIdle(since time.Time) {
	for _, id := range s.ids() {
		if b := s.Open[id]; b.End.Before(since) {
			s.close(b)
			delete(s.Open, id)
		}
	}
}

// ids of open sessions, always in the same order: sums of times depend on it in their last digits, and so does which
// operations are told apart by name.
func (s *sessions) ids() []string { return slices.Sorted(maps.Keys(s.Open)) }

// end counts what is left.
func (s *sessions) end() {
	for _, id := range s.ids() {
		s.close(s.Open[id])
	}
	clear(s.Open)
}

// Sessions scores statements as they are carried out, by the rules of a log.
type Sessions struct {
	sessions
	options Options
	byCalls *collector // nil: there were none
}

// NewSessions with the targets, the gap and the database of the options.
func NewSessions(o Options) *Sessions {
	return &Sessions{options: o, sessions: sessions{collector: newCollector(), gap: cmp.Or(o.Gap, GapDefault),
		shown: o.Shown, divided: newDivided()}}
}

// Entry of a log, and the number of the operation that it belongs to; 0: none.
func (s *Sessions) Entry(e *pglog.Entry) int64 {
	s.entry(e)
	if b := s.Open[e.Session]; b != nil {
		return b.Number
	}
	return 0
}

// Statement that ended, of an operation by its number in the log: the same statements make it, whatever the pauses.
func (s *Sessions) Statement(e *pglog.Entry, took pglog.Statement, operation int64) {
	s.given = operation
	s.see(e.At)
	s.statement(e, took)
}

// Error of such a statement.
func (s *Sessions) Error(e *pglog.Entry, operation int64) {
	s.given = operation
	s.entry(e)
}

// Pause is Statement where pauses divide; it gives the number of the operation that the statement belongs to.
func (s *Sessions) Pause(e *pglog.Entry, took pglog.Statement) int64 {
	s.given = 0
	s.see(e.At)
	s.statement(e, took)
	if b := s.Open[e.Session]; b != nil {
		return b.Number
	}
	return 0
}

// Call of a technological log.
type Call struct {
	Name       string
	Began      time.Time
	Took       time.Duration
	Database   time.Duration // of it
	Statements int
	Lost       bool // it lost a lock
}

// Call that ended, which is an operation by itself. Where a log has calls, they alone are scored.
func (s *Sessions) Call(c Call) {
	by := s.byCalls
	if by == nil {
		by = newCollector()
		s.byCalls = by
	}
	by.Calls++
	by.Events++
	by.see(c.Began)
	by.see(c.Began.Add(c.Took))
	by.Statements += int64(c.Statements)
	h := by.hourOf(c.Name, c.Began)
	h.Statements += int64(c.Statements)
	h.DatabaseS += c.Database.Seconds()
	h.TimeS += c.Took.Seconds()
	if c.Lost {
		h.Lost++
		return
	}
	h.Took[shortened(c.Took)]++
}

// Target sets the targets of operations for Result.
func (s *Sessions) Target(targets map[string]time.Duration) { s.options.Targets = targets }

// Tidy counts what sessions did that have been silent for long, so that memory stays bounded.
func (s *Sessions) Tidy() { s.closeIdle(s.Last.Add(-idleMost)) }

// Result of all; nil if there was no operation.
func (s *Sessions) Result() *Result {
	s.end()
	switch {
	case s.byCalls != nil:
		s.byCalls.OfNoCall = s.Statements
		s.byCalls.Statements += s.Statements
		r := s.byCalls.result(s.options, 0, 0)
		r.Source = TechLog
		return r
	case s.Calls == 0:
		return nil
	}
	r := s.result(s.options, 0, 0)
	s.describe(r)
	return r
}

func (s *sessions) describe(r *Result) {
	r.Source = PostgreSQL
	r.Pauses = &Pauses{GapMS: float64(s.gap) / float64(time.Millisecond),
		LeastMS: float64(s.Least) / float64(time.Millisecond)}
	if s.Pauses > 0 {
		r.Pauses.Near = float64(s.Near) / float64(s.Pauses)
	}
}

// see the time of an entry.
func (s *sessions) see(at time.Time) {
	s.Events++
	s.collector.see(at)
}

func (s *sessions) entry(e *pglog.Entry) {
	s.see(e.At)
	if took, is := e.Timed(); is {
		s.statement(e, took)
		return
	}
	if waited, is := e.LockWait(); is {
		b := s.at(e, e.At.Add(-waited), "")
		b.LockWaits++
		b.LockS += waited.Seconds()
		return
	}
	if !e.Failed() || e.Session == "" || e.Statement == "" && !slices.Contains(withoutStatement, e.State) {
		return // a log-in that was refused, the end of a session that did nothing
	}
	b := s.at(e, e.At, "")
	b.names(e.Statement)
	switch e.State {
	case "40P01":
		s.Deadlocks++
		b.Deadlocks++
		b.Failed = true
	case tooMany:
		b.Tag, b.Failed = "connect", true
		b.Exceptions++
	case "55P03", "57014", "25P03", "25P04":
		s.Timeouts++
		b.Timeouts++
		b.Failed = true
	default:
		b.Exceptions++
		b.Failed = b.Failed || e.Severity != "ERROR"
	}
}

// resets is what a pooler sends between two clients.
var resets = regexp.MustCompile(`(?i)^\s*(DISCARD|RESET)\s+ALL\b`)

func (s *sessions) statement(e *pglog.Entry, took pglog.Statement) {
	if resets.MatchString(took.Text) {
		if b := s.Open[e.Session]; b != nil {
			s.close(b)
			delete(s.Open, e.Session)
		}
		return
	}
	b := s.at(e, e.Start(took), tagOf(took.Text))
	b.DatabaseS += took.Duration.Seconds()
	if took.Kind == pglog.Parse || took.Kind == pglog.Bind {
		return
	}
	b.Statements++
	s.Statements++
	s.StatementS += took.Duration.Seconds()
	if s.Statements == 1 || took.Duration < s.Least {
		s.Least = took.Duration
	}
	b.names(took.Text)
}

// at is the burst that something belongs to which began then and ends now.
func (s *sessions) at(e *pglog.Entry, began time.Time, tag string) *burst {
	b := s.Open[e.Session]
	if b != nil {
		pause := began.Sub(b.End)
		if pause > 0 {
			s.Pauses++
			if pause > s.gap/2 && pause < 2*s.gap {
				s.Near++
			}
		}
		inside := open(e.Transaction) && e.Transaction == b.Transaction // a transaction is not divided
		divided := pause > s.gap && !inside || tag != "" && b.Tag != "" && tag != b.Tag
		if s.given != 0 {
			divided = b.Number != s.given
		}
		if divided {
			s.close(b)
			b = nil
		}
	}
	if b == nil {
		s.Made++
		b = &burst{Begin: began, User: e.User + "@" + e.Database, Number: s.Made}
		if s.given != 0 {
			b.Number = s.given
		}
		s.Open[e.Session] = b
	}
	if began.Before(b.Begin) {
		b.Begin = began
	}
	if e.At.After(b.End) {
		b.End = e.At
	}
	if tag != "" {
		b.Tag = tag
	}
	b.Transaction = e.Transaction
	return b
}

// open says whether a virtual transaction id is one: outside of transactions servers log 3/0.
func open(transaction string) bool { return transaction != "" && !strings.HasSuffix(transaction, "/0") }

// close counts an operation.
func (s *sessions) close(b *burst) {
	name, took := b.name(), b.End.Sub(b.Begin)
	if name == "" {
		s.Without++
		s.WithoutS += took.Seconds()
		s.OfNoCall += b.Statements
		return
	}
	if s.shown != nil {
		name = s.shown(name)
	}
	if s.operations[name] == nil && len(s.operations) >= operationsMost {
		name = otherName
	}
	s.Calls++
	h := s.hourOf(name, b.Begin)
	h.Statements += b.Statements
	h.LockWaits += b.LockWaits
	h.Timeouts += b.Timeouts
	h.Deadlocks += b.Deadlocks
	h.Exceptions += b.Exceptions
	h.TimeS += took.Seconds()
	h.DatabaseS += b.DatabaseS
	h.LockS += b.LockS
	if b.Failed {
		h.Lost++
		return
	}
	h.Took[shortened(took)]++
}

// What a statement does to which table; texts in quotes are taken out before.
var (
	comment = regexp.MustCompile(`/\*((?:[^*]|\*[^/])*)\*/`)
	control = regexp.MustCompile(`(?i)^\s*(BEGIN|START|COMMIT|END|ROLLBACK|ABORT|SAVEPOINT|RELEASE|SET|SHOW|RESET|` +
		`DISCARD|DEALLOCATE|CLOSE|PREPARE|LISTEN|UNLISTEN)\b[^(]*$|^\s*SELECT\s+1\s*;?\s*$`)
	written = regexp.MustCompile(`(?i)\b(insert)\s+into\s+([\w."$]+)|\b(delete)\s+from\s+(?:only\s+)?([\w."$]+)|` +
		`\b(merge)\s+into\s+(?:only\s+)?([\w."$]+)|` +
		`\b(update)\s+(?:only\s+)?([\w."$]+)(?:\s+(?:as\s+)?\w+)?\s+set\b|\b(copy)\s+([\w."$]+)`)
	read   = regexp.MustCompile(`(?i)\b(?:from|join)\s+(?:only\s+)?([a-z_"][\w."$]*)`)
	digits = regexp.MustCompile(`[0-9]+`)
	// temporary tables, by their schema, with or without what is done to them before it.
	temporary = regexp.MustCompile(`(?i)^(?:[a-z]+ )?"?pg_temp"?\.`)
)

// Tables that name an operation.
const (
	writesNamed = 4
	readsNamed  = 3
)

// names takes from a statement what an operation is called by.
func (b *burst) names(text string) {
	if text == "" {
		return
	}
	b.WithText = true
	text = sqltext.WithoutStrings(text[:min(len(text), textMost)])
	if control.MatchString(text) {
		return
	}
	b.Other = true
	add := func(to *[]string, word string) {
		if temporary.MatchString(word) { // which say how an operation is done, and have names of the moment
			return
		}
		word = digits.ReplaceAllString(strings.ReplaceAll(word, `"`, ""), "N")
		if !slices.Contains(*to, word) {
			*to = append(*to, word)
		}
	}
	for _, m := range written.FindAllStringSubmatch(text, -1) {
		for i := 1; i < len(m); i += 2 {
			if m[i] != "" && len(b.Writes) <= writesNamed {
				add(&b.Writes, strings.ToLower(m[i])+" "+m[i+1])
			}
		}
	}
	for _, m := range read.FindAllStringSubmatch(text, -1) {
		if len(b.Reads) <= readsNamed {
			add(&b.Reads, m[1])
		}
	}
}

// name of an operation: the application's own where statements carry one, else what it writes, else what it reads; ""
// if it only checks a connection.
func (b *burst) name() string {
	some := func(all []string, most int) string {
		if len(all) > most {
			return strings.Join(all[:most], ", ") + " …"
		}
		return strings.Join(all, ", ")
	}
	switch {
	case b.Tag != "":
		return b.Tag
	case len(b.Writes) > 0:
		return some(b.Writes, writesNamed)
	case len(b.Reads) > 0:
		return "read " + some(b.Reads, readsNamed)
	case b.Other || b.Failed:
		return "statements without a table"
	case b.WithText || b.Statements == 0:
		return ""
	}
	return b.User // log_duration alone: no texts
}

// tagKeys of comments that programs add to statements, and how they are joined.
var tagKeys = [][]string{{"controller", "action"}, {"operation"}, {"op"}, {"route"}, {"action"}, {"controller"},
	{"job"}}

// tagOf a statement is the name that the application gave the operation in a comment: /*action='order',…*/ or
// /*controller:orders,action:create*/.
func tagOf(text string) string {
	if !strings.Contains(text, "/*") {
		return ""
	}
	pairs := map[string]string{}
	if len(text) > textMost { // comments stand at one of its ends
		text = text[:textMost/2] + " " + text[len(text)-textMost/2:]
	}
	for _, m := range comment.FindAllStringSubmatch(text, -1) {
		for _, pair := range strings.Split(m[1], ",") {
			at := strings.IndexAny(pair, "=:")
			if at < 0 {
				continue
			}
			pairs[strings.TrimSpace(pair[:at])] = strings.Trim(strings.TrimSpace(pair[at+1:]), "'")
		}
	}
	for _, keys := range tagKeys {
		var parts []string
		for _, key := range keys {
			if pairs[key] != "" {
				parts = append(parts, pairs[key])
			}
		}
		if len(parts) == len(keys) {
			return strings.Join(parts, "#")
		}
	}
	return ""
}
