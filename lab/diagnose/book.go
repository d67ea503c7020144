package diagnose

import (
	"context"
	"slices"
	"strings"
	"time"

	"plimsoll/ground/postgres/sqltext"
	"plimsoll/ground/postgres/waits"
)

// look is what the sampler saw at one moment: the active sessions, each weighted with the time that the look covers.
type look struct {
	at       time.Time
	covers   time.Duration
	still    time.Duration // before it nobody made progress, for so long
	sessions []waits.Session
	timeline Timeline // nil: none
	excuse   logExcuse
}

// Timeline knows which key operation a session serves.
type Timeline interface {
	// Look at who serves what now. It is called with each sample and ends with its context.
	Look(ctx context.Context)
	// Operation that a session served at the last look: by its process, or by its application_name.
	Operation(pid int, application string) (name string, known bool)
}

// operation that the session served; empty: unknown.
func (l look) operation(s waits.Session) string {
	if l.timeline == nil {
		return ""
	}
	name, known := l.timeline.Operation(s.PID, s.Application)
	if !known {
		return ""
	}
	return name
}

// lockLook is who blocked whom at one moment.
type lockLook struct {
	at         time.Duration // since the beginning
	covers     time.Duration
	blocked    []waits.Blocked
	sessions   map[int]waits.Session // the active sessions at that moment
	background map[int]waits.Process // and the server's own processes, a moment before
}

// Bounds of what is stored, whatever the server does: names beyond them are added up as "others".
const (
	namesMost      = 200
	storiesMost    = 100
	treeLinesMost  = 12
	statementWidth = 160
	others         = "(others)"
)

// amounts are seconds by name, of a bounded number of names.
type amounts map[string]float64

// add seconds to a name, and say under which name they are kept.
func (a amounts) add(name string, seconds float64) (kept string) {
	if _, known := a[name]; !known && len(a) >= namesMost {
		name = others
	}
	a[name] += seconds
	return name
}

// waited is what sessions waited for in one event, and the statements that did.
type waited struct {
	seconds                              float64
	statements, applications, operations amounts
	pairs                                map[userOf]float64 // bounded as statements and applications are
}

// userOf is an application and its statement.
type userOf struct{ application, statement string }

// book is everything that was sampled. Its size does not grow with time.
type book struct {
	looks       int
	seconds     float64 // covered by looks
	unobserved  float64 // between looks that came too late
	short, long gaps    // of idle transactions that have ended
	open        map[int]openGap
	copying     float64 // in idle transactions of programs that copy whole databases
	events      map[eventKey]*waited
	stretches   stretches
	verbs       amounts // active time by the first word of the statement
	longRunning amounts // active time of statements that take long by themselves
	most        int     // active sessions at once, at most
	stories     map[string]*story
	lockLooks   int
	stalls      []stall
	still       map[Culprit]float64   // seconds
	normalized  map[string]normalized // statements without their values, by their text
	fullTexts   map[string]string     // the same in full, the longest of those that begin so
	behindGaps  amounts               // waits for locks while another session rests behind the same statement
	idling      map[int]bool          // sessions of the last look that wait for their clients
	users       map[roleIn]float64    // active time by database and role
	runners     map[string]runners    // who sends a statement
	// checkpointing: the checkpointer is at work. What sessions wait for disk and log is kept apart meanwhile.
	checkpointing       bool
	checkpoint, between transfers
	excused             map[logExcuse]float64 // seconds of the waits for the log
	// active sessions of the first and of the last look: for how long they had been at their statement.
	first, last map[int]time.Duration
}

// eventKey is a wait event; for an idle transaction it is the gap between statements, whatever the server calls it.
type eventKey struct {
	class waits.Class
	event waits.Event
	gap   bool
}

func newBook() *book {
	return &book{events: map[eventKey]*waited{}, verbs: amounts{}, longRunning: amounts{}, stories: map[string]*story{},
		open: map[int]openGap{}, still: map[Culprit]float64{}, normalized: map[string]normalized{},
		fullTexts: map[string]string{}, idling: map[int]bool{}, excused: map[logExcuse]float64{},
		users: map[roleIn]float64{}, runners: map[string]runners{}, behindGaps: amounts{}}
}

// take adds a look. Each session counts with the time that the look covers: time adds up, numbers of waits do not.
func (b *book) take(l look) {
	b.looks++
	b.remember(l)
	covers := l.covers.Seconds()
	b.seconds += covers
	b.most = max(b.most, len(l.sessions))
	b.stretches.next(covers)
	b.close(l)
	b.takeGapsAndLocks(l)
	during := b.during()
	during.seconds += covers
	for _, s := range l.sessions {
		key := eventKey{s.Class(), s.Wait, s.Idle()}
		if key.gap {
			key.event = waits.Event{}
			if copiers[s.Application] {
				b.copying += covers
			} else {
				b.gap(s, l)
			}
		}
		if key.class == waits.Idle {
			continue // client sessions never idle this way; nobody waits for it
		}
		w := b.events[key]
		if w == nil {
			w = &waited{statements: amounts{}, applications: amounts{}, operations: amounts{},
				pairs: map[userOf]float64{}}
			b.events[key] = w
		}
		parsed := b.normalize(s.Query)
		text := parsed.text
		w.seconds += covers
		b.addUser(s, key, covers)
		b.addRunner(s, text)
		if key.class == waits.WAL || key.class == waits.IO {
			during.waited += covers
		}
		if key.class == waits.WAL {
			b.excused[l.excuse] += covers
		}
		user := nonEmpty(s.Application, s.User)
		b.stretches.add(key.class, w.statements.add(text, covers), covers)
		w.applications.add(user, covers)
		w.addPair(userOf{user, text}, covers)
		if name := l.operation(s); name != "" {
			w.operations.add(name, covers)
		}
		if s.InState.Seconds() >= longStatement.Value && !key.gap && slices.Contains(work, key.class) {
			b.longRunning.add(text, covers)
		}
		if !key.gap {
			b.verbs.add(parsed.verb, covers)
		}
	}
}

// takeGapsAndLocks: a session waits for a lock that a statement needs, and another one rests within its transaction
// behind the same statement. Looks at the locks are rarer, and a short queue moves while they are taken.
func (b *book) takeGapsAndLocks(l look) {
	var resting map[string]bool
	for _, s := range l.sessions {
		if s.Idle() && s.InState.Seconds() < gapLong.Value {
			if resting == nil {
				resting = map[string]bool{}
			}
			resting[b.normalize(s.Query).text] = true
		}
	}
	if resting == nil {
		return
	}
	for _, s := range l.sessions {
		if s.Class() != waits.Lock {
			continue
		}
		if text := b.normalize(s.Query).text; resting[text] {
			b.behindGaps.add(text, l.covers.Seconds())
		}
	}
}

// remember who is at a statement, and for how long.
func (b *book) remember(l look) {
	if b.last == nil {
		b.first, b.last = map[int]time.Duration{}, map[int]time.Duration{}
	}
	clear(b.last)
	for _, s := range l.sessions {
		if s.Idle() {
			continue
		}
		b.last[s.PID] = s.InState
		if b.looks == 1 {
			b.first[s.PID] = s.InState
		}
	}
}

// underWay is the sampled time of statements that have not ended, less the time before the samples of those that have.
func (b *book) underWay() (seconds float64) {
	for _, since := range b.last {
		seconds += min(since.Seconds(), b.seconds)
	}
	for pid, before := range b.first {
		if since, still := b.last[pid]; !still || since.Seconds() < b.seconds {
			seconds -= before.Seconds()
		}
	}
	return seconds
}

// addPair of an application and its statement; what is beyond the bound is of others.
func (w *waited) addPair(pair userOf, seconds float64) {
	if _, known := w.pairs[pair]; !known && len(w.pairs) >= namesMost {
		pair = userOf{others, others}
	}
	w.pairs[pair] += seconds
}

// copiers are PostgreSQL's own programs that copy a database within one transaction. What they do between two
// statements is a part of the copy, not a slow network.
var copiers = map[string]bool{"pg_dump": true, "pg_dumpall": true, "pg_basebackup": true}

// gaps between the statements of transactions: how many were sampled, and how long they were. A longer gap is more
// likely to be sampled.
type gaps struct {
	n       int
	seconds float64 // covered by their samples
	lengths float64
}

// openGap belongs to a session that still waits for its client.
type openGap struct {
	since           time.Time
	seconds, length float64
	still           time.Duration // nobody made progress meanwhile: that is not the client's
}

// sameGap is how far the start of one gap may seem to move: the server's clock and ours are read at different moments.
const sameGap = 50 * time.Millisecond

// gap of an idle transaction.
func (b *book) gap(s waits.Session, l look) {
	since := l.at.Add(-s.InState)
	g, known := b.open[s.PID]
	if known && since.Sub(g.since) > sameGap {
		b.settle(s.PID)
		known = false
	}
	if !known {
		g = openGap{since: since}
	}
	g.seconds += l.covers.Seconds()
	g.still += min(l.still, s.InState)
	g.length = max(g.length, (s.InState - g.still).Seconds())
	b.open[s.PID] = g
}

// close ends the gaps of sessions that continued.
func (b *book) close(l look) {
	if len(b.open) == 0 {
		return
	}
	clear(b.idling)
	for _, s := range l.sessions {
		if s.Idle() {
			b.idling[s.PID] = true
		}
	}
	for pid := range b.open {
		if !b.idling[pid] {
			b.settle(pid)
		}
	}
}

// settle records a gap: of a network or a program, or of a client that hangs.
func (b *book) settle(pid int) {
	g := b.open[pid]
	delete(b.open, pid)
	kind := &b.short
	if g.length >= gapLong.Value {
		kind = &b.long
	}
	kind.n++
	kind.seconds += g.seconds
	kind.lengths += g.length
}

// end the gaps that are still open.
func (b *book) end() {
	for pid := range b.open {
		b.settle(pid)
	}
}

// mean length of the sampled gaps; nil if there was none.
func (g gaps) mean() *time.Duration {
	if g.n == 0 {
		return nil
	}
	d := time.Duration(g.lengths / float64(g.n) * float64(time.Second))
	return &d
}

func nonEmpty(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return "?"
}

// normalizedText is a statement without its values, so that equal statements add up and a report holds no user data;
// its beginning, if it is long, and of long lists, too.
func normalizedText(sql string) string {
	sql = shortLists(sqltext.WithoutValues(sql))
	if r := []rune(sql); len(r) > statementWidth {
		sql = string(r[:statementWidth-1]) + sqltext.CutMark
	}
	return nonEmpty(sql, "")
}

// normalizedMost statements are remembered: the texts of most loads repeat, unless they contain their values.
const normalizedMost = 500

// normalized is a statement without its values, and its verb.
type normalized struct{ text, verb string }

// normalize a statement, remembered: normalizing costs more than the rest of a sample.
func (b *book) normalize(sql string) normalized {
	p, known := b.normalized[sql]
	if !known {
		if len(b.normalized) >= normalizedMost {
			clear(b.normalized)
		}
		text := normalizedText(sql)
		p = normalized{text, verb(text)}
		b.normalized[sql] = p
		// Of those that are one but for their lists, the one with the longest is shown.
		if full, kept := b.fullTexts[text]; kept || len(b.fullTexts) < normalizedMost {
			if own := sqltext.WithoutValues(sql); len(own) > len(full) {
				b.fullTexts[text] = own
			}
		}
	}
	return p
}

// full texts of the first of these, as far as the server shows them.
func (b *book) full(texts []string) (all []string) {
	const most = 5
	for _, text := range texts[:min(most, len(texts))] {
		all = append(all, nonEmpty(b.fullTexts[text], text))
	}
	return all
}

// verb is the first word of a statement; for one that creates or drops something, also the second.
func verb(sql string) string {
	words := strings.Fields(strings.ToUpper(sql))
	switch {
	case len(words) == 0:
		return "?"
	case len(words) > 1 && definitions[words[0]]:
		return words[0] + " " + words[1]
	}
	return words[0]
}

var definitions = map[string]bool{"CREATE": true, "DROP": true, "ALTER": true, "TRUNCATE": true}

// define is the active time of statements that change the catalogs. Where they make indexes alone, they read tables,
// and
// the catalogs change little.
func (b *book) define() (seconds float64) {
	tables := false
	for name, s := range b.verbs {
		first, what, _ := strings.Cut(name, " ")
		if definitions[first] {
			seconds += s
			tables = tables || what != "INDEX" && what != "UNIQUE"
		}
	}
	if !tables {
		return 0
	}
	return seconds
}

// secondsOf is the time of a class, in seconds.
func (b *book) secondsOf(class waits.Class) (seconds float64) {
	for key, w := range b.events {
		if key.class == class {
			seconds += w.seconds
		}
	}
	return seconds
}

// idle is the time of idle transactions.
func (b *book) idle() (seconds float64) {
	for key, w := range b.events {
		if key.gap {
			seconds += w.seconds
		}
	}
	return seconds
}

// total of all sessions, in seconds.
func (b *book) total() (seconds float64) {
	for _, w := range b.events {
		seconds += w.seconds
	}
	return seconds
}
