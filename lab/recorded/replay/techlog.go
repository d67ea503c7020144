package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"

	"plimsoll/lab/load/onec"
	"plimsoll/lab/recorded/pglog"
	"plimsoll/lab/recorded/score"
	"plimsoll/lab/recorded/techlog"
)

// Statements of a client that wait for their call's end, which says what they are part of. Beyond these they are played
// as of no call: memory must not grow with one that never ends.
const (
	heldMost      = 5_000
	heldBytesMost = 16 << 20
)

// OtherDBMS is the reason of statements that PostgreSQL did not get.
const OtherDBMS = "of another database server than PostgreSQL"

// techReader makes statements of a technological log.
type techReader struct {
	*stage
	to       *order
	recorded *score.Sessions
	r        *Result
	clients  map[string]*caller
	numbered map[string]string    // sessions by their number on the database's server
	ended    map[string]time.Time // of each session's last statement
	within   map[string]within    // transactions of sessions
	sessions int
	nameless int // of them
	calls    int64
}

// within a transaction, as the statements say or only their fields.
type within int

const (
	outside within = iota
	begunByText
	begunByField
)

// caller is a client of a server process.
type caller struct {
	id       string
	nameless string // its session that the server has no number of yet
	last     string // its session of the statement before
	held     []statement
	bytes    int
	failed   bool   // the last of held failed, and its exception comes
	state    string // of an exception that came before its statement
	managed  bool   // a managed lock of the call was lost
}

// readTechlog reads a 1C server's log: order what can be replayed, count the rest.
func (s *stage) readTechlog(ctx context.Context, files []techlog.File, to *order, recorded *score.Sessions,
	r *Result) error {
	t := &techReader{stage: s, to: to, recorded: recorded, r: r, clients: map[string]*caller{},
		numbered: map[string]string{}, ended: map[string]time.Time{}, within: map[string]within{}}
	s.greeting = onec.Greeting
	s.binder = newBinder(true)
	var all, read int64
	for _, f := range files {
		all += f.Bytes
	}
	began, clock := time.Now(), techlog.Clock{}
	for _, f := range files {
		in, file, err := f.Open(func(n int) { read += int64(n) })
		if err != nil {
			return err
		}
		err = t.file(ctx, in, f.Process, &clock, func() {
			share := float64(read) / float64(max(all, 1))
			s.Progress("read", share, leftOf(began, share))
		})
		r.Unread.Add(in.Unread)
		if err = errors.Join(err, file.Close()); err != nil {
			return err
		}
	}
	for _, c := range t.clients {
		if err := t.flush(c, nil); err != nil {
			return err
		}
	}
	f := &s.outcome.fidelity
	f.RowsCompared, f.Sessions, f.Unnumbered = true, t.sessions, t.nameless
	if tick := clock.Tick(); tick > 0 {
		ms := float64(tick) / float64(time.Millisecond)
		f.ClockTickMS, s.order.slack = &ms, tick
	}
	return nil
}

func (t *techReader) file(ctx context.Context, in *techlog.Reader, process string, clock *techlog.Clock,
	step func()) error {
	for n := 0; ; n++ {
		if n%10_000 == 0 {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			t.recorded.Tidy()
			step()
		}
		e, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		clock.See(&e)
		id := process + " " + e.Value("t:clientID")
		c := t.clients[id]
		if c == nil {
			c = &caller{id: id}
			t.clients[id] = c
		}
		if err := t.event(c, &e); err != nil {
			return err
		}
	}
}

func (t *techReader) event(c *caller, e *techlog.Event) error {
	managed := &t.outcome.fidelity.Managed
	switch {
	case score.IsStatement(e):
		return t.statement(c, e)
	case e.Name == "CALL":
		return t.call(c, e)
	case e.Name == "EXCP":
		c.exception(e)
	case e.Name == "SDBL":
		return t.boundary(c, e)
	case e.Name == "TLOCK":
		managed.Locks++
		if e.Value("WaitConnections") != "" {
			managed.Waits++
		}
	case e.Name == "TTIMEOUT":
		managed.Timeouts++
		c.managed = true
	case e.Name == "TDEADLOCK":
		managed.Deadlocks++
		c.managed = true
	}
	return nil
}

// databaseOf an event: "server\base".
func databaseOf(e *techlog.Event) string {
	name := e.Value("DataBase")
	return name[strings.LastIndexAny(name, `\/`)+1:]
}

func (t *techReader) statement(c *caller, e *techlog.Event) error {
	text, database := e.Value("Sql"), databaseOf(e)
	if e.Name == "DBPOSTGRS" && text != "" {
		if err := t.found(database); err != nil {
			return err
		}
	}
	t.outcome.fidelity.Read++
	values, whole := parameters(e.Value("Prm"))
	switch {
	case e.Name != "DBPOSTGRS":
		t.outcome.leaveOut(OtherDBMS, nil)
		return nil
	case text == "":
		t.outcome.leaveOut(NoText, nil)
		return nil
	case database != t.Database:
		t.outcome.leaveOut(OtherBase, nil)
		return nil
	case copyIn.MatchString(text):
		t.outcome.leaveOut(NoData, nil)
		return nil
	case !whole || len(values) < highest(text):
		t.outcome.leaveOut(NoValues, nil)
		return nil
	}
	st := statement{Session: t.session(c, e.Value("dbpid"), text), Database: database, Begun: e.Start(),
		Took: e.Duration, Text: t.Mask.Statement(text, values, true), Values: values, Rows: rowsOf(e)}
	if strings.HasPrefix(e.Value("Result"), "PGRES_FATAL") || strings.HasPrefix(e.Value("Result"), "PGRES_BAD") {
		st.State, c.failed, c.state = cmp.Or(c.state, unknownState), c.state == "", ""
	} else {
		c.failed, c.state = false, ""
	}
	return t.inTransaction(c, &st, e.Value("Trans"))
}

// rowsOf a statement.
func rowsOf(e *techlog.Event) int64 {
	for _, name := range []string{"RowsAffected", "Rows"} {
		if n, err := strconv.ParseInt(e.Value(name), 10, 64); err == nil && n >= 0 {
			return n
		}
	}
	return unknownRows
}

// opens matches what a 1C server sends first on a new connection.
var opens = regexp.MustCompile(`(?i)^\s*SET\s+client_min_messages\b`)

// session of a statement by its number on the database's server. The log has none until the first transaction of a
// session: what its client sends until then belongs to the session whose number comes next. The same number again at
// the beginning of a session is another one, since servers use numbers again.
func (t *techReader) session(c *caller, number, text string) string {
	opening := opens.MatchString(text)
	switch {
	case number == "" && (c.nameless == "" || opening):
		t.sessions++
		t.nameless++
		c.nameless = fmt.Sprintf("%d of %s", t.sessions, c.id)
	case number == "":
	case t.numbered[number] == "" && c.nameless != "" && !opening:
		t.numbered[number], c.nameless = c.nameless, ""
		t.nameless--
	case t.numbered[number] == "" || opening:
		t.sessions++
		t.numbered[number] = fmt.Sprintf("%d as %s", t.sessions, number)
	}
	c.last = c.nameless
	if number != "" {
		c.last = t.numbered[number]
	}
	return c.last
}

var (
	begins = regexp.MustCompile(`(?i)^\s*(BEGIN|START\s+TRANSACTION)\b`)
	finish = regexp.MustCompile(`(?i)^\s*(COMMIT|END|ABORT|ROLLBACK)\b`)
	toSave = regexp.MustCompile(`(?i)^\s*ROLLBACK\s+(TRANSACTION\s+|WORK\s+)?TO\b`)
)

// inTransaction keeps a statement, and before it the boundary of its transaction where the log has that only as a
// field: servers log one or the other.
func (t *techReader) inTransaction(c *caller, st *statement, field string) error {
	is := t.within[st.Session]
	switch {
	case begins.MatchString(st.Text):
		t.within[st.Session] = begunByText
	case finish.MatchString(st.Text) && !toSave.MatchString(st.Text):
		t.within[st.Session] = outside
	case field == "1" && is == outside:
		if err := t.make(c, st.Session, "BEGIN", st.Begun); err != nil {
			return err
		}
		t.within[st.Session] = begunByField
	case field == "0" && is == begunByField:
		if err := t.make(c, st.Session, "COMMIT", st.Begun); err != nil {
			return err
		}
		t.within[st.Session] = outside
	}
	return t.keep(c, *st)
}

// boundary of a transaction that the log only has as an event of the language level.
func (t *techReader) boundary(c *caller, e *techlog.Event) error {
	end := map[string]string{"CommitTransaction": "COMMIT", "RollbackTransaction": "ROLLBACK"}[e.Value("Func")]
	if end == "" || t.within[c.last] != begunByField {
		return nil
	}
	t.within[c.last] = outside
	return t.make(c, c.last, end, e.Start())
}

func (t *techReader) make(c *caller, session, text string, at time.Time) error {
	return t.keep(c, statement{Session: session, Database: t.Database, Begun: at, Text: text, Rows: unknownRows,
		Made: true})
}

// keep a statement until its call ends. It begins after the one before it of its session, whatever the clock says.
func (t *techReader) keep(c *caller, st statement) error {
	end, before := st.end(), t.ended[st.Session]
	if st.Begun.Before(before) {
		st.Begun = before
	}
	if !before.IsZero() {
		st.Pause = st.Begun.Sub(before)
	}
	t.ended[st.Session] = end
	if t.r.From.IsZero() || st.Begun.Before(t.r.From) {
		t.r.From = st.Begun
	}
	if end.After(t.r.To) {
		t.r.To = end
	}
	c.held, c.bytes = append(c.held, st), c.bytes+len(st.Text)
	if len(c.held) < heldMost && c.bytes < heldBytesMost {
		return nil
	}
	return t.flush(c, nil)
}

// sqlState stands before the server's words in the description of an exception.
var sqlState = regexp.MustCompile(`(?:^|[^0-9A-Z])([0-9A-Z]{5}): (?:ERROR|FATAL|PANIC|ОШИБКА|ВАЖНО|ПАНИКА)`)

// exception of a client tells the SQLSTATE of its statement that failed.
func (c *caller) exception(e *techlog.Event) {
	state := unknownState
	if m := sqlState.FindStringSubmatch(e.Value("Descr")); m != nil {
		state = m[1]
	}
	if c.failed && len(c.held) > 0 {
		c.held[len(c.held)-1].State, c.failed = state, false
	} else if state != unknownState {
		c.state = state
	}
}

// call ended: what its client did since it began belongs to it.
func (t *techReader) call(c *caller, e *techlog.Event) error {
	name := t.Mask.Text(score.OperationOf(e))
	if name == "" {
		return nil // of the cluster; what happened in it may be of a call around it
	}
	t.calls++
	of := &call{Number: t.calls, Managed: c.managed, Call: score.Call{Name: name, Began: e.Start(), Took: e.Duration,
		Lost: c.managed}}
	for i := range c.held {
		if st := &c.held[i]; !st.Made && of.has(st) {
			of.Statements++
			of.Database += st.Took
			of.Lost = of.Lost || lostLock(st.State)
		}
	}
	t.recorded.Call(of.Call)
	if of.Statements == 0 {
		if t.outcome.sessions != nil {
			t.outcome.sessions.Call(of.Call) // there is nothing to play of it
		}
	} else {
		t.outcome.fidelity.Calls.Read++
	}
	c.managed = false
	return t.flush(c, of)
}

// has says whether a statement belongs to the call.
func (c *call) has(st *statement) bool { return !score.EndedBefore(st.end(), c.Began) }

// flush what a client did; what is not of the call, if there is one, is divided by pauses.
func (t *techReader) flush(c *caller, of *call) error {
	for _, st := range c.held {
		switch {
		case st.Made:
		case of != nil && of.has(&st):
			st.Call = *of
		default:
			st.Operation = t.recorded.Pause(&pglog.Entry{At: st.end(), Session: c.id, Database: st.Database,
				Severity: "LOG"}, pglog.Statement{Kind: pglog.Simple, Text: st.Text, Duration: st.Took})
		}
		t.left[st.Session]++
		if err := t.to.add(st); err != nil {
			return err
		}
	}
	c.held, c.bytes, c.failed = c.held[:0], 0, false
	return nil
}
