package score

import (
	"context"
	"errors"
	"io"
	"regexp"
	"strings"
	"time"

	"plimsoll/lab/recorded/lines"
	"plimsoll/lab/recorded/techlog"
)

// Statements that belong to no call are forgotten beyond this number for each client: calls are not that long.
const statementsMost = 20_000

// collector reads logs and counts calls, by operation and hour.
type collector struct {
	operations map[string]*collected
	clock      techlog.Clock
	counted
}

// counted of a log so far. A log that is read on keeps it as it is.
type counted struct {
	First      time.Time    `json:"first"`
	Last       time.Time    `json:"last"`
	Events     int64        `json:"events"`
	Calls      int64        `json:"calls"`
	Unread     lines.Unread `json:"unread"`
	Timeouts   int64        `json:"timeouts"`
	Deadlocks  int64        `json:"deadlocks"`
	Statements int64        `json:"statements"`
	StatementS float64      `json:"statements_s"`
	OfNoCall   int64        `json:"of_no_call"`
	// Calls without a context are the cluster's own: they say no operation.
	Without  int64   `json:"without_context"`
	WithoutS float64 `json:"without_context_s"`
	// Of a register of timings.
	Targets map[string]time.Duration `json:"targets,omitempty"`
	PerUnit int64                    `json:"per_unit,omitempty"`
}

func newCollector() *collector {
	return &collector{operations: map[string]*collected{},
		counted: counted{Unread: lines.Unread{Examples: []lines.Example{}}}}
}

// collected of one operation.
type collected struct {
	hours map[time.Time]*hour
}

// hour of an operation.
type hour struct {
	Took durations `json:"took"`
	// Lost did not end well: their locks timed out or deadlocked. They are not in Took.
	Lost       int64   `json:"lost,omitempty"`
	Timeouts   int64   `json:"timeouts,omitempty"`
	Deadlocks  int64   `json:"deadlocks,omitempty"`
	Exceptions int64   `json:"exceptions,omitempty"`
	Statements int64   `json:"statements,omitempty"`
	LockWaits  int64   `json:"lock_waits,omitempty"`
	TimeS      float64 `json:"s"`
	DatabaseS  float64 `json:"database_s"`
	LockS      float64 `json:"lock_s,omitempty"`
}

// client of a server process, and what it did since its last call ended.
type client struct{ events []inner }

type inner struct {
	At   time.Time     `json:"at"`
	Took time.Duration `json:"took"`
	Kind kind          `json:"kind"`
}

type kind int

const (
	statement kind = iota
	lockWait
	timeout
	deadlock
	exception
)

// database events are DBPOSTGRS, DBMSSQL, DBORACLE, DB2 …, but not DBCOPIES.
var database = regexp.MustCompile(`^DB(POSTGRS|MSSQL|ORACLE|2|V8DBENG|DA)$`)

// IsStatement says whether an event is a statement that a database carried out.
func IsStatement(e *techlog.Event) bool { return database.MatchString(e.Name) }

// file reads one log of one process, with its clients as they were.
func (c *collector) file(ctx context.Context, r *techlog.Reader, clients map[string]*client) error {
	defer func() { c.Unread.Add(r.Unread) }()
	for n := 0; ; n++ {
		if n%1000 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		c.event(clients, &e)
	}
}

func (c *collector) event(clients map[string]*client, e *techlog.Event) {
	c.Events++
	c.clock.See(e)
	c.see(e.Start())
	c.see(e.At)
	id := e.Value("t:clientID")
	of := clients[id]
	if of == nil {
		of = &client{}
		clients[id] = of
	}
	switch {
	case e.Name == "CALL":
		c.call(e, of)
	case IsStatement(e):
		c.Statements++
		c.StatementS += e.Duration.Seconds()
		c.keep(of, e, statement)
	case e.Name == "TLOCK" && e.Value("WaitConnections") != "":
		c.keep(of, e, lockWait)
	case e.Name == "TTIMEOUT":
		c.Timeouts++
		c.keep(of, e, timeout)
	case e.Name == "TDEADLOCK":
		c.Deadlocks++
		c.keep(of, e, deadlock)
	case e.Name == "EXCP":
		c.keep(of, e, exception)
	}
}

// see a moment of the log.
func (c *collector) see(at time.Time) {
	if c.First.IsZero() || at.Before(c.First) {
		c.First = at
	}
	if at.After(c.Last) {
		c.Last = at
	}
}

func (c *collector) keep(of *client, e *techlog.Event, what kind) {
	if len(of.events) >= statementsMost {
		c.OfNoCall += of.count(statement)
		of.events = of.events[:0]
	}
	of.events = append(of.events, inner{e.At, e.Duration, what})
}

func (c *client) count(what kind) (n int64) {
	for _, e := range c.events {
		if e.Kind == what {
			n++
		}
	}
	return n
}

// EndedBefore says whether something of a client ended before its call began. Microseconds do not count: on a coarse
// clock they are serial numbers of events, and that of a call's end is larger than those of its first statements.
func EndedBefore(end, began time.Time) bool {
	return end.Truncate(time.Millisecond).Before(began.Truncate(time.Millisecond))
}

// call counts a call that ended, with what its client did since it began.
func (c *collector) call(e *techlog.Event, of *client) {
	name := OperationOf(e)
	if name == "" {
		c.Without++
		c.WithoutS += e.Duration.Seconds()
		return // what happened in it may be of a call around it
	}
	c.Calls++
	h := c.hourOf(name, e.Start())
	lost := false
	for _, one := range of.events {
		if EndedBefore(one.At, e.Start()) {
			if one.Kind == statement {
				c.OfNoCall++
			}
			continue
		}
		switch one.Kind {
		case statement:
			h.Statements++
			h.DatabaseS += one.Took.Seconds()
		case lockWait:
			h.LockWaits++
			h.LockS += one.Took.Seconds()
		case timeout:
			h.Timeouts++
			lost = true
		case deadlock:
			h.Deadlocks++
			lost = true
		case exception:
			h.Exceptions++
		}
	}
	of.events = of.events[:0]
	h.TimeS += e.Duration.Seconds()
	if lost {
		h.Lost++
		return
	}
	h.Took[shortened(e.Duration)]++
}

// hourOf an operation, in which something began.
func (c *collector) hourOf(name string, began time.Time) *hour {
	op := c.operations[name]
	if op == nil {
		op = &collected{map[time.Time]*hour{}}
		c.operations[name] = op
	}
	at := began.UTC().Truncate(time.Hour) // times of one log may have many zones, and one hour is one
	h := op.hours[at]
	if h == nil {
		h = &hour{Took: durations{}}
		op.hours[at] = h
	}
	return h
}

// formCall is the beginning of the context of a call that a form made: "Form.Call : ", in the language of the server.
var formCall = regexp.MustCompile(`^(Форма\.Вызов|Form\.Call|ОбщаяФорма\.Вызов|CommonForm\.Call) : (.+)$`)

// position of the code in a line of a context: " : 123 : the statement".
var position = regexp.MustCompile(` : \d+ : .*$`)

// OperationOf a call is what it carries out for its user: what the outermost line of its context names, else the method
// of a background job or a service; "" for the cluster's own calls, which have neither.
func OperationOf(e *techlog.Event) string {
	if lines := e.Context(); len(lines) > 0 {
		line := lines[0]
		if m := formCall.FindStringSubmatch(line); m != nil {
			line = m[2]
		}
		return strings.TrimSpace(position.ReplaceAllString(line, ""))
	}
	if module, method := e.Value("Module"), e.Value("Method"); module != "" && method != "" {
		return module + "." + method
	}
	return ""
}
