// Package diagnose finds where the time of a database's sessions goes and why: attached to any PostgreSQL from 15 on
// with the rights of pg_monitor, it writes nothing.
//
//	attach ──▶ counters ──▶ samples, locks, horizon, machine … ──▶ counters ──▶ ledger ──▶ causes, ranked by price
//	                        until the time is over or Ctrl-C                    └────────▶ contradictions
package diagnose

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/host/cpu"
	"plimsoll/ground/postgres"
	"plimsoll/ground/postgres/counters"
	"plimsoll/ground/postgres/waits"
	"plimsoll/ground/problem"
	"plimsoll/lab/diagnose/client"
	"plimsoll/lab/diagnose/plan"
	"plimsoll/lab/diagnose/statement"
)

// Schema of the JSON. It changes with every incompatible change.
const Schema = "plimsoll-diagnose-1"

// Defaults of Options, and the bounds of its rate.
const (
	DurationDefault = 2 * time.Minute
	RateDefault     = 20
	RateMin         = 1
	RateMax         = 100
)

// Options of a diagnosis.
type Options struct {
	DSN      string
	Duration time.Duration
	Rate     int // samples in a second
	// Timeline, if set, knows which operation a session served.
	Timeline Timeline
	Software string
	// Trusted are roles that may have made functions which planning a statement runs with the rights of the DSN's user.
	Trusted []string
	// Root of the files that show the topology; empty: this machine's. A test plants others.
	Root string
	// Interim is called with what was found so far, every few seconds. May be nil.
	Interim func(*Diagnosis)
	// Progress is called with the progress so far. May be nil.
	Progress func(elapsed time.Duration, sessionsAtWork int)
}

// Diagnosis is the answer.
type Diagnosis struct {
	Schema   string    `json:"schema"`
	Software string    `json:"software"`
	Started  time.Time `json:"started"`
	AskedS   float64   `json:"asked_s"`
	LastedS  float64   `json:"lasted_s"`
	// Stopped says why it ended early; empty: it did not.
	Stopped  string    `json:"stopped,omitempty"`
	Server   Server    `json:"server"`
	Ledger   Ledger    `json:"ledger"`
	Findings []Finding `json:"findings"`
	// Statements that carry the time, each with what it is spent on.
	Statements []statement.Account `json:"statements"`
	// StatementTotals of all that the server counts; null: it counts none.
	StatementTotals *statement.Totals `json:"statement_totals"`
	// HiddenReads of tables that no statement of a client names.
	HiddenReads []statement.Hidden `json:"hidden_reads"`
	// Plans of the statements that carry the time, and those of them that changed.
	Plans       []*plan.Plan  `json:"plans"`
	PlanChanges []plan.Change `json:"plan_changes"`
	Clients     client.Half   `json:"clients"`
	// Operations of a run, each by the sessions that served it.
	Operations []Operation `json:"operations,omitempty"`
	// Against another system, if one was named.
	Against *Against `json:"against,omitempty"`
	// Sampled are the statements of the samples that took most time, of all sessions.
	Sampled []Part `json:"-"`
	// Attributed is the share of the sessions' time whose operation is known, at the looks that a timeline comes with.
	Attributed     float64         `json:"-"`
	Healthy        []string        `json:"healthy"`
	Stories        []Story         `json:"lock_stories"`
	Contradictions []Contradiction `json:"contradictions"`
	Host           *Host           `json:"host"`
	Background     []Background    `json:"background"`
	Settings       *Settings       `json:"settings"`
	Log            *ServerLog      `json:"server_log"`
	Standstills    []Standstill    `json:"standstills"`
	Rates          []Rate          `json:"rates"`
	Unavailable    []Source        `json:"unavailable"`
	Cost           Cost            `json:"cost"`
	Limits         []*Limit        `json:"limits"`
}

// Server that was diagnosed.
type Server struct {
	Version     string  `json:"version"`
	Database    string  `json:"database"`
	Here        bool    `json:"here"` // its processes are visible on this machine
	RoundTripMS float64 `json:"round_trip_ms"`
	ConnectMS   float64 `json:"connect_ms"`
	Sessions    int     `json:"sessions"` // of clients, at most at once
	SessionsMax int     `json:"max_connections"`
}

// Rate is a figure of the server's statistics per second; null: not measured.
type Rate struct {
	Name string   `json:"name"`
	PerS *float64 `json:"per_s"`
}

// Run diagnoses. It also returns what was gathered if it is stopped or the connection is lost.
func Run(ctx context.Context, o Options) (*Diagnosis, error) {
	a, err := attach(ctx, o.DSN)
	if err != nil {
		return nil, err
	}
	defer a.close(ctx)
	w := &watch{attached: a, every: time.Second / time.Duration(max(RateMin, o.Rate)), timeline: o.Timeline,
		book: newBook(), operations: map[string]*book{}, holders: map[string]waits.Holder{}, heart: newHeart(),
		trusted: o.Trusted, clients: client.NewBook()}
	defer w.heart.stop()
	before, err := counters.Read(ctx, a.slow, a.server)
	if err != nil {
		return nil, err
	}
	statements, err := statement.Read(ctx, a.slow)
	if err != nil {
		return nil, err
	}
	if server, err := postgres.Inspect(ctx, o.DSN); err == nil && server.Postmaster != 0 {
		w.host = newHostWatch(server.Postmaster, cmp.Or(o.Root, "/"))
	}
	postmaster := 0
	if w.host != nil {
		postmaster = w.host.postmaster
		if file, err := cpu.OpenSchedule(postgres.PID(a.fast)); err == nil {
			w.session = file
			defer file.Close()
		}
	}
	w.log, w.logErr = openLog(ctx, a.slow, postmaster)
	own, _ := cpu.Own()
	backends := w.backends()
	w.began = time.Now()
	if o.Interim != nil {
		w.interim = func(ctx context.Context) error { return w.reportInterim(ctx, o, before) }
	}
	lost := w.run(ctx, o.Duration, o.Progress)
	w.end()
	lasted := time.Since(w.began)
	cost := w.ownCost(lasted, own, backends)
	after, err := w.after(ctx, lost)
	if err != nil {
		return nil, err
	}
	delta := counters.Between(before, after)
	w.lookInside(ctx, statements, scannedTables(delta))
	var s sources
	w.readLast(ctx, &s)
	d := w.conclude(delta, w.readLogLast(ctx, &s), s, o)
	d.AskedS, d.LastedS, d.Cost = o.Duration.Seconds(), lasted.Seconds(), cost
	return d, d.stop(ctx, lost)
}

// end the gaps that are still open.
func (w *watch) end() {
	w.book.end()
	for _, b := range w.operations {
		b.end()
	}
}

// endWithin bounds the last look at the statistics, also after Ctrl-C.
const endWithin = 20 * time.Second

// after is the second reading. Without a connection there is none, and the statistics are missing.
func (w *watch) after(ctx context.Context, lost error) (*counters.Reading, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endWithin)
	defer cancel()
	if w.book.looks == 0 && lost != nil {
		return nil, lost
	}
	conn, done, err := w.lastConnection(ctx)
	if err != nil {
		return counters.Lost(err.Error()), nil
	}
	defer done()
	r, err := counters.Read(ctx, conn, w.server)
	if err != nil {
		return counters.Lost(err.Error()), nil
	}
	return r, nil
}

// lastConnection for what is read at the end: a cancelled statement has closed its own.
func (w *watch) lastConnection(ctx context.Context) (conn *pgx.Conn, done func(), err error) {
	if !w.slow.IsClosed() {
		return w.slow, func() {}, nil
	}
	if conn, err = connect(ctx, w.slow.Config().ConnString()); err != nil {
		return nil, nil, err
	}
	return conn, func() { conn.Close(context.WithoutCancel(ctx)) }, nil
}

// readLogLast reads the log also after Ctrl-C, and not over a connection that is lost.
func (w *watch) readLogLast(ctx context.Context, s *sources) *ServerLog {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endWithin)
	defer cancel()
	return w.readLog(ctx, s)
}

func (d *Diagnosis) stop(ctx context.Context, lost error) error {
	switch {
	case lost != nil:
		d.Stopped = "the connection was lost: " + lost.Error()
		return problem.New(problem.Failure, errors.New(d.Stopped), "what was seen until then is reported")
	case ctx.Err() != nil:
		d.Stopped = "stopped by the user"
		return problem.New(problem.Interrupted, errors.New("stopped early; what was seen until then is "+
			"reported"), "")
	}
	return nil
}

// conclude computes the diagnosis from what was gathered.
func (w *watch) conclude(delta *counters.Delta, written *ServerLog, s sources, o Options) *Diagnosis {
	w.mu.Lock()
	defer w.mu.Unlock()
	cpu, method := w.host.processor()
	m := &measured{ledger: w.book.ledger(cpu, method), stories: w.book.sortedStories(), delta: delta, book: w.book,
		holders: w.holders, census: w.census, connectS: w.connectS, roundTripS: w.roundTripS, server: w.server,
		wakesS: w.heart.wakes(), queued: cpu.queued(), log: written, settings: w.settings,
		tables: w.planned.tables, volatile: w.planned.volatile,
		talking: w.talking / float64(max(1, w.background.looks))}
	if m.host = w.host.host(&s); m.host == nil {
		s.miss("machine", "the server runs elsewhere, or in a container whose processes are not visible here")
	}
	m.background = w.background.list(m.host)
	for _, view := range delta.Views() {
		if why := delta.Why(view); why != "" {
			s.miss(view, why)
		}
	}
	if !w.server.TimesIO {
		s.miss("time of reads and writes", "track_io_timing is off")
	}
	if !w.server.TimesWAL {
		s.miss("time of the log's writes and flushes", "track_wal_io_timing is off")
	}
	if !w.server.TimesWaits && w.canTimeWaits {
		s.miss("exact time of waits", "track_wait_timing is off")
	}
	m.addTimed()
	m.addMeanings()
	m.addReadObjects(&s)
	m.addStatements(w.inside, &s)
	m.addPlans(&w.planned, &s)
	m.addClients(w)
	d := &Diagnosis{Schema: Schema, Software: o.Software, Started: w.began,
		Server: Server{w.version, w.database, w.host != nil, 1000 * w.roundTripS, 1000 * w.connectS, w.census.All,
			w.census.AllAllowed},
		Ledger: m.ledger, Stories: m.stories, Host: m.host, Log: written,
		Background: m.background, Settings: w.settings,
		Standstills: w.book.standstills(), Rates: m.rates(), Statements: append([]statement.Account{},
			m.statements...), StatementTotals: m.inside.Totals, HiddenReads: append([]statement.Hidden{},
			m.inside.Hidden...), Plans: append([]*plan.Plan{}, m.plans...), PlanChanges: append([]plan.Change{},
			m.changes...), Clients: m.half,
		Limits: limits}
	d.Findings, d.Healthy = judge(m, &s)
	d.Operations, d.Sampled = w.ofOperations(m, delta), w.book.costliest(statementsOfEach)
	d.Attributed = w.servedS / max(w.servedS+w.unknownS, 1e-9)
	d.Contradictions = contradict(m)
	d.Unavailable = s.missing
	return d
}
