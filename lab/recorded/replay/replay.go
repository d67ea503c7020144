package replay

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/lab/recorded/lines"
	"plimsoll/lab/recorded/mask"
	"plimsoll/lab/recorded/pglog"
	"plimsoll/lab/recorded/score"
	"plimsoll/lab/recorded/techlog"
)

// Schema of the JSON: it changes when readers would break.
const Schema = 1

// Options of a replay.
type Options struct {
	Paths    []string
	Zone     *time.Location
	Prefix   *pglog.Prefix
	Database string // of the log; empty: that of its first statement
	DSN      string // where it is played; empty: DSNOf the log's database
	DSNOf    func(database string) string
	// Speed is 1 at the pace of the log, 4 four times as fast, 0 as fast as its sessions can.
	Speed float64
	// State is the folder in which statements are ordered.
	State string
	// Patience is how long sessions may take after the last statement has begun.
	Patience time.Duration
	// Score of the log and of the replay.
	Gap     time.Duration
	Target  time.Duration
	Targets map[string]time.Duration
	// Mask replaces personal data in all that is kept, and sent; nil: nothing is masked. MaskBase: the base is masked
	// by it first, so that statements find there what they look for.
	Mask     *mask.Mask
	MaskBase bool
	// Progress hears what is done, and how much of it.
	Progress func(what string, share float64, left time.Duration)
}

// PatienceDefault of Options.
const PatienceDefault = time.Minute

// Result of a replay.
type Result struct {
	Schema   int          `json:"schema"`
	Database string       `json:"database"`
	From     time.Time    `json:"from"` // of the log
	To       time.Time    `json:"to"`
	Speed    float64      `json:"speed"`
	LastedS  float64      `json:"lasted_s"`
	Stopped  string       `json:"stopped,omitempty"`
	Unread   lines.Unread `json:"unread"`
	Fidelity Fidelity     `json:"fidelity"`
	// Recorded is the score of the log, Replayed that of the replay; null: as fast as possible there is none.
	Recorded *score.Result `json:"recorded"`
	Replayed *score.Result `json:"replayed"`
}

// ErrNothing says that a log has no statement to replay.
var ErrNothing = errors.New("no statement of it can be replayed")

// Run a replay. If it is stopped, it says what was done until then.
func Run(ctx context.Context, o Options) (r *Result, err error) {
	o.complete()
	s := &stage{Options: o, players: map[string]*player{}, left: map[string]int64{}, outcome: newOutcome(o.Mask),
		binder: newBinder(false)}
	read, err := s.reader()
	if err != nil {
		return nil, err
	}
	if o.DSN != "" { // before a log of an hour is read
		if err := s.openable(ctx); err != nil {
			return nil, err
		}
	}
	r = &Result{Schema: Schema, Speed: o.Speed}
	s.found = func(database string) error {
		s.Database, r.Database, s.found = database, database, func(string) error { return nil }
		return s.prepare(ctx)
	}
	if o.Database != "" {
		if err := s.found(o.Database); err != nil {
			return nil, err
		}
	}
	ordered, err := newOrder(o.State)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, ordered.remove()) }()
	recorded := score.NewSessions(score.Options{Gap: o.Gap, Target: o.Target, Targets: o.Targets, Shown: s.Mask.Text})
	if s.Speed > 0 { // without a pace there is no latency to score
		s.outcome.timed = true
		s.outcome.sessions = score.NewSessions(score.Options{Gap: s.Gap, Target: s.Target})
	}
	if err := read(ctx, ordered, recorded, r); err != nil {
		return nil, err
	}
	if ordered.n == 0 {
		return nil, ErrNothing
	}
	if err := s.found(s.Database); err != nil { // of a log that names none
		return nil, err
	}
	for i, e := range r.Unread.Examples {
		r.Unread.Examples[i].Why = s.Mask.Message(e.Why)
	}
	s.score(recorded, r)
	return r, s.play(ctx, ordered, r)
}

// prepare the database, when it is known which one.
func (s *stage) prepare(ctx context.Context) (err error) {
	if s.DSN == "" {
		s.DSN = s.DSNOf(s.Database)
		if err := s.openable(ctx); err != nil {
			return err
		}
	}
	if s.config, err = pgx.ParseConfig(s.DSN); err != nil {
		return fmt.Errorf("read --dsn: %w", err)
	}
	if s.Mask == nil {
		return nil
	}
	if s.MaskBase {
		s.Progress("mask", 0, 0)
		if s.outcome.fidelity.MaskedInBase, err = s.Mask.Base(ctx, s.DSN); err != nil {
			return err
		}
	}
	return s.Mask.Learn(ctx, s.DSN)
}

func (o *Options) complete() {
	if o.Zone == nil {
		o.Zone = time.Local
	}
	if o.Patience == 0 {
		o.Patience = PatienceDefault
	}
	if o.Gap == 0 {
		o.Gap = score.GapDefault
	}
	if o.Progress == nil {
		o.Progress = func(string, float64, time.Duration) {}
	}
}

// reading is how a log is read: what can be replayed is ordered, the rest counted.
type reading func(ctx context.Context, to *order, recorded *score.Sessions, r *Result) error

// reader of the paths: a technological log if they are named so, else that of a PostgreSQL server.
func (s *stage) reader() (reading, error) {
	of1C, err := techlog.Files(s.Paths, s.Zone)
	if err == nil && len(of1C) > 0 {
		return func(ctx context.Context, to *order, recorded *score.Sessions, r *Result) error {
			return s.readTechlog(ctx, of1C, to, recorded, r)
		}, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	files, err := pglog.Files(s.Paths, s.Prefix, s.Zone)
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: %w", strings.Join(s.Paths, ", "), score.ErrNoLog)
	}
	return func(ctx context.Context, to *order, recorded *score.Sessions, r *Result) error {
		return s.read(ctx, files, to, recorded, r)
	}, nil
}

// read a PostgreSQL server's log.
func (s *stage) read(ctx context.Context, files []pglog.File, to *order, recorded *score.Sessions, r *Result) error {
	var all, done int64
	for _, f := range files {
		all += f.Bytes
	}
	ended := logged{}
	began := time.Now()
	for _, f := range files {
		in, file, err := f.Open(func(n int) { done += int64(n) }, s.Zone)
		if err != nil {
			return err
		}
		err = s.readFile(ctx, in, to, recorded, r, ended, func() {
			share := float64(done) / float64(max(all, 1))
			s.Progress("read", share, leftOf(began, share))
		})
		r.Unread.Add(in.Unread)
		if err = errors.Join(err, file.Close()); err != nil {
			return err
		}
	}
	s.outcome.fidelity.Sessions = len(s.left)
	s.order.slack = time.Millisecond // of its clock
	return nil
}

// logged is how far each session is in the log.
type logged map[string]*loggedEnd

// loggedEnd of what a session did last, and the pauses of its program since its last statement.
type loggedEnd struct {
	at    time.Time
	pause time.Duration
}

func (l logged) of(session string) *loggedEnd {
	end := l[session]
	if end == nil {
		end = &loggedEnd{}
		l[session] = end
	}
	return end
}

// next thing of the session, and when it begins: behind what ended before it, since the clock of the log has
// milliseconds alone and cuts off what is beyond them.
func (l *loggedEnd) next(begun time.Time, took time.Duration) time.Time {
	if begun.Before(l.at) {
		begun = l.at
	}
	if !l.at.IsZero() {
		l.pause += begun.Sub(l.at)
	}
	l.at = begun.Add(took)
	return begun
}

func leftOf(began time.Time, share float64) time.Duration {
	if share <= 0 {
		return 0
	}
	return time.Duration(float64(time.Since(began)) * (1 - share) / share)
}

func (s *stage) readFile(ctx context.Context, in *pglog.Reader, to *order, recorded *score.Sessions, r *Result,
	ended logged, step func()) error {
	for n := 0; ; n++ {
		if n%10_000 == 0 {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			recorded.Tidy()
			step()
		}
		e, ok, err := next(in)
		if err != nil || !ok {
			return err
		}
		var operation int64
		if e.Database == s.Database || s.Database == "" {
			operation = recorded.Entry(&e)
		}
		st, why := of(&e)
		if st == nil && why == "" {
			if took, timed := e.Timed(); timed { // its parsing or binding is no pause of the program
				ended.of(e.Session).next(e.Start(took), took.Duration)
			}
			continue
		}
		if e.Database != "" { // the first that a statement says
			if err := s.found(e.Database); err != nil {
				return err
			}
		}
		s.outcome.fidelity.Read++
		switch {
		case e.Database != s.Database && e.Database != "":
			s.outcome.leaveOut(OtherBase, nil)
			continue
		case st == nil:
			s.outcome.leaveOut(why, nil)
			continue
		}
		last := ended.of(st.Session)
		st.Begun = last.next(st.Begun, st.Took)
		st.Pause, last.pause = last.pause, 0
		if r.From.IsZero() || st.Begun.Before(r.From) {
			r.From = st.Begun
		}
		if e.At.After(r.To) {
			r.To = e.At
		}
		st.Text = s.Mask.Statement(st.Text, st.Values, false)
		st.Operation = operation
		s.left[st.Session]++
		if err := to.add(*st); err != nil {
			return err
		}
	}
}

// score the log, whose targets the replay has too. Without a pace there is no latency to score.
func (s *stage) score(recorded *score.Sessions, r *Result) {
	if s.Speed == 0 {
		return
	}
	if r.Recorded = recorded.Result(); r.Recorded == nil {
		s.outcome.sessions = nil
		return
	}
	targets := maps.Clone(s.Targets)
	if targets == nil {
		targets = map[string]time.Duration{}
	}
	for _, op := range r.Recorded.Operations {
		targets[op.Name] = time.Duration(op.TargetS * float64(time.Second))
	}
	s.outcome.sessions.Target(targets)
}

// play what was ordered.
func (s *stage) play(ctx context.Context, ordered *order, r *Result) error {
	running, cut := context.WithCancel(ctx)
	defer cut()
	s.began, s.first = time.Now(), r.From
	length := r.To.Sub(r.From)
	given := int64(0)
	err := ordered.each(func(st statement) error {
		if given%100 == 0 {
			share := st.Begun.Sub(r.From).Seconds() / max(length.Seconds(), 1e-9)
			left := leftOf(s.began, share)
			if s.Speed > 0 {
				left = time.Duration(float64(r.To.Sub(st.Begun)) / s.Speed)
			}
			s.Progress("replay", share, left)
		}
		err := s.give(running, st)
		if err == nil && !st.Made {
			given++
		}
		return err
	})
	s.end(ctx, cut)
	if ctx.Err() != nil {
		err = nil
		r.Stopped = "by the user"
	}
	if left := ordered.n - given; left > 0 {
		s.outcome.fidelity.LeftOut[Unfinished] += left
	}
	r.LastedS = time.Since(s.began).Seconds()
	r.Fidelity = s.outcome.done()
	r.Fidelity.Found, r.Fidelity.Bound = s.binder.found, s.binder.bound
	if s.outcome.sessions != nil {
		r.Replayed = s.outcome.sessions.Result()
	}
	return err
}

// errFound ends reading when the database is known.
var errFound = errors.New("the database is known")

// DatabaseOf a log is that of its first statement.
func DatabaseOf(ctx context.Context, o Options) (name string, err error) {
	o.complete()
	s := &stage{Options: o, left: map[string]int64{}, outcome: newOutcome(nil)}
	s.found = func(database string) error {
		name = database
		return errFound
	}
	read, err := s.reader()
	if err != nil {
		return "", err
	}
	err = read(ctx, &order{}, score.NewSessions(score.Options{}), &Result{})
	if err == nil {
		err = ErrNothing
	}
	if errors.Is(err, errFound) {
		err = nil
	}
	return name, err
}
