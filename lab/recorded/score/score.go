// Package score scores production from its log alone: Apdex of each operation and hour, what the database and locks
// had of it. Nothing is replayed, nothing is installed on the server.
package score

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"plimsoll/lab/load/apdex"
	"plimsoll/lab/recorded/lines"
	"plimsoll/lab/recorded/pglog"
	"plimsoll/lab/recorded/techlog"
	"plimsoll/lab/recorded/timings"
	"plimsoll/lab/stats"
)

// Schema of the JSON: it changes when readers would break.
const Schema = 1

// ErrNoCalls says that a log has no operations to score.
var ErrNoCalls = errors.New("no CALL event with a context: nothing says what users did")

// ErrNoStatements says that a PostgreSQL log has no statements with their durations.
var ErrNoStatements = errors.New("no statement with its duration: nothing says what users did")

// ErrNoLog says that there is no file of a log.
var ErrNoLog = errors.New("no log there: neither files named by the hour, as rphost_1234/26112810.log, nor " +
	"exports of timings (.xml), nor a PostgreSQL server's .csv, .json or .log")

// Source of a score.
type Source string

// Sources that are read.
const (
	TechLog    Source = "1c"
	PostgreSQL Source = "postgresql"
	OfRegister Source = "1c-register"
)

// Options of a score.
type Options struct {
	Paths   []string
	Zone    *time.Location
	Targets map[string]time.Duration // by operation
	// Target of operations that Targets does not name; zero: proposed from the data.
	Target time.Duration
	// Of PostgreSQL's logs: log_line_prefix of the format stderr, nil: it is found out; the pause that begins another
	// operation, zero: GapDefault; the only database that counts, empty: all.
	Prefix   *pglog.Prefix
	Gap      time.Duration
	Database string
	// Shown gives what an operation is called in the result, of a name that pauses found; nil: the name itself.
	Shown func(name string) string
	// Resume is the file that keeps what was counted, so that the log is read on from there; empty: it is read from its
	// beginning, and nothing is kept.
	Resume string
	// Progress gets the bytes read so far and those of all files.
	Progress func(read, all int64)
}

// Result of a score.
type Result struct {
	Schema     int            `json:"schema"`
	Source     Source         `json:"source"`
	From       time.Time      `json:"from"`
	To         time.Time      `json:"to"`
	Files      int            `json:"files"`
	Bytes      int64          `json:"bytes"`
	Events     int64          `json:"events"`
	Unread     lines.Unread   `json:"unread"`
	TickMS     *float64       `json:"clock_tick_ms"` // null: a millisecond or finer, or too little to say
	Calls      int64          `json:"calls"`
	Apdex      float64        `json:"apdex"`
	Interval   apdex.Interval `json:"apdex_interval"`
	Beyond4T   float64        `json:"share_beyond_4t"`
	Proposed   bool           `json:"targets_proposed"` // some of them, at least
	Operations []Operation    `json:"operations"`       // the most frustrated calls first
	Hours      []Hour         `json:"hours"`
	Unscored   Unscored       `json:"unscored"`
	Locks      Locks          `json:"locks"`
	// Pauses that divide operations, of a PostgreSQL log or one without calls; null: calls do.
	Pauses *Pauses `json:"pauses"`
	// Register of timings that the score is of; absent: it is of a log.
	Register *Register `json:"register,omitempty"`
	// Resumed: the log was read on from where it was read last; absent: it was read from its beginning.
	Resumed *Resumed `json:"resumed,omitempty"`
}

// Pauses divide the statements of a session into operations.
type Pauses struct {
	GapMS float64 `json:"gap_ms"` // a longer one begins another operation
	// Near is the share of pauses between half the gap and twice as much: another gap would divide there otherwise.
	Near float64 `json:"share_near_gap"`
	// LeastMS is the shortest statement's duration: a server may log only longer ones.
	LeastMS float64 `json:"shortest_statement_ms"`
}

// Unscored is what belongs to no operation.
type Unscored struct {
	Calls      int64   `json:"calls_without_context"`
	CallsS     float64 `json:"calls_without_context_s"`
	Statements int64   `json:"statements_of_no_call"`
	OfAll      int64   `json:"statements"`
}

// Locks are those that the application server manages.
type Locks struct {
	Waits     int64   `json:"waits"`
	WaitsS    float64 `json:"waits_s"`
	Timeouts  int64   `json:"timeouts"`
	Deadlocks int64   `json:"deadlocks"`
}

// Operation and its score.
type Operation struct {
	Name     string  `json:"name"`
	TargetS  float64 `json:"target_s"`
	Proposed bool    `json:"target_proposed"`
	Figures
	Hours []Hour `json:"hours"`
}

// Hour of an operation, or of all.
type Hour struct {
	Hour time.Time `json:"hour"`
	Figures
}

// Figures of calls. Times are those of calls that ended well; a call whose lock timed out or deadlocked counts as
// frustrated.
type Figures struct {
	N        int64          `json:"n"`
	Zones    apdex.Counts   `json:"zones"`
	Apdex    float64        `json:"apdex"`
	Interval apdex.Interval `json:"apdex_interval"`
	P50S     float64        `json:"p50_s"`
	P95S     float64        `json:"p95_s"`
	Beyond4T float64        `json:"share_beyond_4t"`
	// Of the calls' time, as far as the log has statements and locks.
	Database   float64 `json:"share_in_database"`
	Waiting    float64 `json:"share_waiting_for_locks"`
	Statements float64 `json:"statements_per_call"`
	LockWaits  int64   `json:"lock_waits"`
	Timeouts   int64   `json:"lock_timeouts"`
	Deadlocks  int64   `json:"deadlocks"`
	Exceptions int64   `json:"exceptions"`
}

// Read scores a log.
func Read(ctx context.Context, o Options) (*Result, error) {
	o.Zone = cmp.Or(o.Zone, time.Local)
	of, err := o.source()
	if err != nil {
		return nil, err
	}
	var bytes, read int64
	for _, f := range of.files {
		bytes += f.bytes
	}
	step := func(n int) {
		read += int64(n)
		if o.Progress != nil {
			o.Progress(read, bytes)
		}
	}
	var resumed *Resumed
	if o.Resume != "" {
		resumed, err = of.resume(ctx, o, step)
	} else {
		err = of.all(ctx, step)
	}
	if err != nil {
		return nil, err
	}
	of.end()
	if of.Calls == 0 && of.Statements > 0 && of.again != nil {
		if o.Resume != "" {
			return nil, ErrResumeCalls
		}
		of = of.again()
		if err := of.all(ctx, func(int) {}); err != nil {
			return nil, err
		}
		of.end()
	}
	if of.Calls == 0 {
		return nil, of.nothing
	}
	r := of.result(o, len(of.files), bytes)
	of.describe(r)
	r.Resumed = resumed
	return r, nil
}

// all files from their beginning.
func (of *source) all(ctx context.Context, step func(int)) error {
	for n := range of.files {
		if err := of.read(ctx, n, nil, step); err != nil {
			return err
		}
	}
	return nil
}

// logFile of a log.
type logFile struct {
	path  string
	bytes int64
	whole bool // nothing will follow: it is compressed, or its server writes another one
}

// source is the files of a log and how to read them.
type source struct {
	*collector
	sessions *sessions // nil: calls are operations
	files    []logFile
	// read a file, from where it was left; nil: from its beginning, and it is whole.
	read     func(ctx context.Context, file int, from *keptFile, step func(int)) error
	end      func()
	nothing  error // says that they have no operations
	describe func(*Result)
	// again reads the same by pauses, where no call says what users did; nil: there is no other way.
	again func() *source
}

// source of the paths: a technological log if they are named so, else exports of a register, else the log of a
// PostgreSQL server.
func (o Options) source() (*source, error) {
	c := newCollector()
	files, err := techlog.Files(o.Paths, o.Zone)
	if err == nil && len(files) > 0 {
		s := c.techlog(files)
		s.again = func() *source { return newCollector().techlogByPauses(o, files) }
		return s, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	exports, err := timings.Files(o.Paths)
	if err != nil || len(exports) > 0 {
		return c.register(exports, o.Zone), err
	}
	others, err := pglog.Files(o.Paths, o.Prefix, o.Zone)
	switch {
	case err != nil:
		return nil, err
	case len(others) == 0:
		return nil, fmt.Errorf("%s: %w", strings.Join(o.Paths, ", "), ErrNoLog)
	}
	return c.postgres(o, others), nil
}

func (c *collector) techlog(files []techlog.File) *source {
	pending := int64(0) // statements of files that may go on
	s := &source{collector: c, end: func() { c.OfNoCall += pending }, nothing: ErrNoCalls,
		describe: func(r *Result) { r.Source = TechLog },
		read: func(ctx context.Context, n int, from *keptFile, step func(int)) error {
			r, file, err := files[n].OpenAt(from.place(), step)
			if err != nil {
				return err
			}
			clients := from.clientsOf()
			r.Growing = from.growing()
			err = c.file(ctx, r, clients)
			if err == nil && !r.Growing {
				c.OfNoCall += left(clients)
				clients = nil
			}
			if from != nil {
				from.left(r.Reader, err)
				from.keepClients(clients)
				pending += left(clients)
			}
			return errors.Join(err, file.Close())
		}}
	for _, f := range files {
		s.files = append(s.files, logFile{path: f.Path, bytes: f.Bytes})
	}
	s.followed(func(int) string { return "" })
	return s
}

// left are the statements of clients that belong to no call yet.
func left(clients map[string]*client) (n int64) {
	for _, c := range clients {
		n += c.count(statement)
	}
	return n
}

// techlogByPauses makes operations of a log without calls, as of a PostgreSQL server's.
func (c *collector) techlogByPauses(o Options, files []techlog.File) *source {
	s, sessions := c.techlog(files), &sessions{collector: c, gap: cmp.Or(o.Gap, GapDefault), divided: newDivided()}
	s.end = sessions.end
	s.describe = func(r *Result) {
		sessions.describe(r)
		r.Source = TechLog
	}
	s.read = func(ctx context.Context, n int, _ *keptFile, step func(int)) error {
		r, file, err := files[n].Open(step)
		if err != nil {
			return err
		}
		return errors.Join(sessions.techlogFile(ctx, r, files[n].Process), file.Close())
	}
	return s
}

func (c *collector) postgres(o Options, files []pglog.File) *source {
	sessions := &sessions{collector: c, gap: cmp.Or(o.Gap, GapDefault), database: o.Database, divided: newDivided()}
	s := &source{collector: c, sessions: sessions, end: sessions.end, nothing: ErrNoStatements,
		describe: sessions.describe,
		read: func(ctx context.Context, n int, from *keptFile, step func(int)) error {
			r, file, err := files[n].OpenAt(from.place(), step, o.Zone)
			if err != nil {
				return err
			}
			r.Growing = from.growing()
			err = sessions.file(ctx, r)
			if from != nil {
				from.left(r.Reader, err)
			}
			return errors.Join(err, file.Close())
		}}
	for _, f := range files {
		s.files = append(s.files, logFile{path: f.Path, bytes: f.Bytes})
	}
	s.followed(func(n int) string { return string(files[n].Format) })
	return s
}

// followed finds the files that nothing will be added to: their server writes a later one in the same folder, of the
// same kind, or they are compressed.
func (of *source) followed(kindOf func(file int) string) {
	later := map[string]bool{}
	for n, f := range slices.Backward(of.files) {
		key := kindOf(n) + " " + filepath.Dir(f.path)
		of.files[n].whole = later[key] || lines.Compressed(f.path)
		later[key] = true
	}
}

func (c *collector) result(o Options, files int, bytes int64) *Result {
	r := &Result{Schema: Schema, From: c.First, To: c.Last, Files: files, Bytes: bytes, Events: c.Events,
		Unread: c.Unread, Calls: c.Calls,
		Unscored: Unscored{c.Without, c.WithoutS, c.OfNoCall, c.Statements},
		Locks:    Locks{Timeouts: c.Timeouts, Deadlocks: c.Deadlocks}}
	if tick := c.clock.Tick(); tick > 0 {
		ms := float64(tick) / float64(time.Millisecond)
		r.TickMS = &ms
	}
	calm := c.calmHours()
	all := map[time.Time]*group{}
	whole := newGroup()
	for _, name := range slices.Sorted(maps.Keys(c.operations)) { // sums depend on the order in their last digits
		op := c.operations[name]
		target, proposed := cmp.Or(o.Targets[name], c.Targets[name], o.Target), false
		if target == 0 {
			target, proposed = op.propose(calm), true
			r.Proposed = true
		}
		shown := Operation{Name: name, TargetS: target.Seconds(), Proposed: proposed}
		own := newGroup()
		for _, at := range slices.SortedFunc(maps.Keys(op.hours), time.Time.Compare) {
			h, one := op.hours[at], newGroup()
			one.add(h, target)
			shown.Hours = append(shown.Hours, Hour{at.In(c.First.Location()), one.figures()})
			if all[at] == nil {
				all[at] = newGroup()
			}
			for _, g := range []*group{own, whole, all[at]} {
				g.add(h, target)
			}
		}
		byHour(shown.Hours)
		shown.Figures = own.figures()
		r.Operations = append(r.Operations, shown)
	}
	for at, g := range all {
		r.Hours = append(r.Hours, Hour{at.In(c.First.Location()), g.figures()})
	}
	byHour(r.Hours)
	slices.SortFunc(r.Operations, func(a, b Operation) int {
		return cmp.Or(cmp.Compare(b.Zones.Frustrated, a.Zones.Frustrated), cmp.Compare(b.N, a.N),
			cmp.Compare(a.Name, b.Name))
	})
	f := whole.figures()
	r.Apdex, r.Interval, r.Beyond4T = f.Apdex, f.Interval, f.Beyond4T
	r.Locks.Waits, r.Locks.WaitsS = f.LockWaits, whole.LockS
	return r
}

func byHour(hours []Hour) {
	slices.SortFunc(hours, func(a, b Hour) int { return a.Hour.Compare(b.Hour) })
}

// group adds up hours of operations, whose targets differ.
type group struct {
	hour
	zones apdex.Counts
}

func newGroup() *group { return &group{hour: hour{Took: durations{}}} }

func (g *group) add(h *hour, target time.Duration) {
	g.zones.Add(h.Took.zones(target))
	g.zones.Frustrated += h.Lost
	g.Took.add(h.Took)
	g.Lost += h.Lost
	g.Timeouts += h.Timeouts
	g.Deadlocks += h.Deadlocks
	g.Exceptions += h.Exceptions
	g.Statements += h.Statements
	g.LockWaits += h.LockWaits
	g.TimeS += h.TimeS
	g.DatabaseS += h.DatabaseS
	g.LockS += h.LockS
}

func (g *group) figures() Figures {
	f := Figures{N: g.zones.N(), Zones: g.zones, Interval: g.zones.Interval(), LockWaits: g.LockWaits,
		Timeouts: g.Timeouts, Deadlocks: g.Deadlocks, Exceptions: g.Exceptions,
		Database: share(g.DatabaseS, g.TimeS), Waiting: share(g.LockS, g.TimeS)}
	f.Apdex, _ = g.zones.Score()
	if f.N > 0 {
		f.Beyond4T = float64(g.zones.Frustrated) / float64(f.N)
		f.Statements = float64(g.Statements) / float64(f.N)
	}
	if times := g.Took.percentiles(50, 95); len(times) == 2 {
		f.P50S, f.P95S = times[0].Seconds(), times[1].Seconds()
	}
	return f
}

// share of a whole. Statements of one call may run side by side, and clocks tick, so a part may exceed it.
func share(part, whole float64) float64 {
	if whole <= 0 {
		return 0
	}
	return math.Min(part/whole, 1)
}

// calmHours are the half of the hours with the fewest calls.
func (c *collector) calmHours() map[time.Time]bool {
	calls := map[time.Time]float64{}
	for _, op := range c.operations {
		for at, h := range op.hours {
			calls[at] += float64(h.Took.n() + h.Lost)
		}
	}
	middle, calm := stats.Median(slices.Collect(maps.Values(calls))), map[time.Time]bool{}
	for at, n := range calls {
		calm[at] = n <= middle
	}
	return calm
}

// Of its calm hours a proposed target leaves out the slowest calls, and is never below what a person notices.
const (
	proposedPercentile = 90
	proposedLeast      = 100 * time.Millisecond
	// proposedFrom calls in calm hours; with fewer all hours count.
	proposedFrom = 20
)

// propose a target: what nine of ten calls of the calm hours keep, rounded up. So the score says how much worse the
// others are than these, not how good these are.
func (c *collected) propose(calm map[time.Time]bool) time.Duration {
	inCalm, all := durations{}, durations{}
	for at, h := range c.hours {
		all.add(h.Took)
		if calm[at] {
			inCalm.add(h.Took)
		}
	}
	if inCalm.n() < proposedFrom {
		inCalm = all
	}
	times := inCalm.percentiles(proposedPercentile)
	if len(times) == 0 {
		return proposedLeast
	}
	return roundUp(max(times[0], proposedLeast))
}

// roundUp to two significant digits.
func roundUp(d time.Duration) time.Duration {
	unit := time.Microsecond
	for d/unit >= 100 {
		unit *= 10
	}
	return (d + unit - 1).Truncate(unit)
}
