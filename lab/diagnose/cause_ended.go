package diagnose

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/counters"
	"plimsoll/ground/postgres/waits"
)

// ending is a setting that ends what takes longer, with an error. What was done until then is lost.
type ending struct {
	name, state string // the setting, and the SQLSTATE of its error
	title       string
	met         func(l lengths) time.Duration // what the setting limits
	classes     []waits.Class                 // that its time is in; nil: all
	// session: its client loses the connection, and the time of its whole transactions.
	session bool
}

var endings = []ending{
	{name: statementTimeout, state: "57014", title: "Statements are cancelled by statement_timeout",
		met: func(l lengths) time.Duration { return l.atWork }},
	{name: lockTimeout, state: "55P03", title: "Statements that wait for a lock are cancelled by lock_timeout",
		met: func(l lengths) time.Duration { return l.locked }, classes: inLocks},
	{name: transactionTimeout, state: "25P04", title: "Sessions are ended by transaction_timeout",
		met: func(l lengths) time.Duration { return l.open }, session: true},
	{name: idleTimeout, state: "25P03", title: "Sessions are ended by idle_in_transaction_session_timeout",
		met: func(l lengths) time.Duration { return l.gap }, session: true},
	{name: "idle_session_timeout", state: "57P05", session: true},
	{name: tempFileLimit, state: "53400", title: "Statements fail, since their temporary files exceed temp_file_limit"},
}

// endsWork is the ending of a setting; nil: it ends nothing.
func endsWork(name string) *ending {
	if i := slices.IndexFunc(endings, func(e ending) bool { return e.name == name }); i >= 0 {
		return &endings[i]
	}
	return nil
}

// ended work: what one setting ends.
type ended struct {
	ending
	setting         Setting
	limit           time.Duration // 0: it limits no time of a statement or a transaction
	n               float64       // how often, at most
	taken, lost     float64       // seconds of the samples, and those of them that were thrown away
	met             time.Duration
	texts           []string
	counted, logged bool
}

// endedByLimit: statements, transactions or sessions are ended by a limit that is shorter than what they need.
var endedByLimit = cause{
	name:  "ended-by-a-limit",
	waste: true,
	find: func(m *measured) (*Finding, string) {
		if m.settings == nil {
			return nil, noSettings
		}
		e := m.mostEnded()
		if e == nil {
			return nil, ""
		}
		f := &Finding{Price: new(e.lost / max(m.ledger.TotalS, 1e-9)), explains: e.texts, toLog: true, there: true,
			partial: true, Statements: m.book.full(e.texts),
			Title: fmt.Sprintf("%s = %s of %s", e.title, e.setting.Value, e.setting.Of),
			Mechanism: "What takes longer than the limit ends with an error. What it has read, computed or waited " +
				"for until then is thrown away, and most programs ask for it again.",
			Evidence: e.evidence(m),
			Excluded: []string{"neither a lack of processors nor a slow disk: it ends at the limit, however long it " +
				"would need"},
			Next: []string{fmt.Sprintf("what is the limit for? %s without a unit is in %s", e.name, e.unit()),
				fmt.Sprintf("ALTER ROLE … SET %s = …    for the role whose work needs more, and only for it; or make "+
					"that work shorter", e.name)}}
		// Errors harm whoever asked, whatever time they take.
		f.grave = e.n >= endedLeast.Value && 2*e.lost >= e.taken
		if e.session && (f.grave || *f.Price >= problemFrom.Value) {
			m.addRepeated(e.texts)
		}
		return f, ""
	},
}

func (e *ended) unit() string {
	if e.name == tempFileLimit {
		return "kB"
	}
	return "milliseconds"
}

func (e *ended) evidence(m *measured) (lines []string) {
	lines = []string{e.setting.text()}
	if e.limit > 0 {
		lines = append(lines, fmt.Sprintf("the limit is %s; the samples met none of it for longer than %s",
			human.Duration(e.limit), human.Duration(e.met.Round(100*time.Microsecond))))
	}
	what := "transactions were rolled back or lost meanwhile"
	switch {
	case e.logged:
		what = "such errors are in the server's log"
	case e.session:
		what = "sessions were ended by an error meanwhile (sessions_fatal in pg_stat_database)"
	}
	lines = append(lines, fmt.Sprintf("%.0f %s; %s of the time is thrown away so", e.n, what,
		human.Percent(e.lost/max(m.ledger.TotalS, 1e-9))))
	if e.counted {
		lines = append(lines, "pg_stat_statements counts what ends as it should: hardly any call of it does")
	}
	return append(lines, "most in: "+e.texts[0])
}

// mostEnded is the setting that throws most away; nil: none does.
func (m *measured) mostEnded() (best *ended) {
	groups := map[string]*ended{}
	for _, text := range slices.Sorted(maps.Keys(m.book.runners)) {
		r := m.book.runners[text]
		for name, s := range m.ownOf(r.user) {
			kind := endsWork(name)
			if kind == nil || text == others {
				continue
			}
			e := groups[name+" "+s.Of]
			if e == nil {
				e = &ended{ending: *kind, setting: s, limit: timeOfSetting(s.Value)}
				if name == tempFileLimit {
					e.limit = 0
				}
				e.n, e.logged = m.timesEnded(e)
				groups[name+" "+s.Of] = e
			}
			m.addEnded(e, text, r)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		e := groups[key]
		if m.judgeEnded(e); e.lost > 0 && (best == nil || best.lost < e.lost) {
			best = e
		}
	}
	return best
}

// timesEnded is how often a limit of this kind ended something, at most: as the log says, or else as what is counted of
// all errors allows.
func (m *measured) timesEnded(e *ended) (n float64, logged bool) {
	if m.log != nil && !m.log.Cut && m.log.Errors[e.state] > 0 {
		return float64(m.log.Errors[e.state]), true
	}
	column := "xact_rollback"
	if e.session {
		column = "sessions_fatal"
	}
	return valueOr(m.delta.Sum(counters.Databases, "", column), 0), false
}

// reaches says that something was met near the limit, and never far beyond it: who is cancelled is told a moment later.
// A session that is ended is met until it has a processor, and its end is counted by itself.
func (e *ended) reaches(met time.Duration) bool {
	const near, beyond = 0.7, 1.1 // parts of the limit
	const late = 50 * time.Millisecond
	limit := float64(e.limit)
	return float64(met) >= near*limit && (e.session || float64(met) <= beyond*limit+float64(late))
}

// addEnded a statement of the samples, if it comes near the limit.
func (m *measured) addEnded(e *ended, text string, r runners) {
	taken := m.book.secondsIn(text, e.classes, e.session)
	if taken == 0 {
		return
	}
	lost := taken
	switch {
	case e.name == tempFileLimit:
		if m.inside.Totals != nil {
			lost = m.unfinished(text)
		} else if !slices.Contains(m.spilled(), text) {
			return
		}
		if lost == 0 {
			return
		}
	case e.limit == 0 || e.ending.met == nil:
		return
	default:
		met := e.ending.met(r.met)
		if !e.session && !e.reaches(met) {
			return // of a session, any statement of its transactions may be the last
		}
		e.met = max(e.met, met)
		if e.name == statementTimeout && m.inside.Totals != nil && !unplanned(text) {
			lost, e.counted = m.unfinished(text), true
		}
	}
	e.taken, e.lost = e.taken+taken, e.lost+lost
	e.texts = append(e.texts, text)
}

// judgeEnded sets what was lost to nothing where the limit does not explain it.
func (m *measured) judgeEnded(e *ended) {
	each := e.limit.Seconds()
	switch {
	case e.name == tempFileLimit:
		// Each failure has written half of the limit at least.
		written := valueOr(m.delta.Sum(counters.Databases, "", "temp_bytes"), 0)
		if written < e.n*sizeOf(e.setting.Value, 1<<10)/2 {
			e.lost = 0
		}
		each = e.lost / max(1, e.n) // as long as it takes
	case e.session:
		if !e.reaches(e.met) {
			e.lost = 0
		}
		each *= 2 // with the statements before
	}
	if e.lost = min(e.lost, e.n*each); len(e.texts) == 0 || e.n < 1 || e.lost < endedPart.Value*e.taken {
		e.lost = 0
	}
	slices.SortStableFunc(e.texts, func(a, b string) int {
		return cmp.Compare(m.book.secondsIn(b, nil, true), m.book.secondsIn(a, nil, true))
	})
}

// secondsIn some classes, nil: all, of a statement of the samples, with the gaps behind it or without.
func (b *book) secondsIn(text string, classes []waits.Class, gaps bool) (seconds float64) {
	for key, w := range b.events {
		if (gaps || !key.gap) && (classes == nil || slices.Contains(classes, key.class)) {
			seconds += w.statements[text]
		}
	}
	return seconds
}

// executing are the classes of what the server counts as execution; a commit comes after it.
var executing = append(slices.Clone(work), waits.Lock, waits.Sleep, waits.Extension)

// unfinished is the time of a statement's samples beyond what the server counts of its calls, which are those that
// end as they should; 0: that is not most of it, or not known.
func (m *measured) unfinished(text string) float64 {
	const half = 0.5
	t := m.inside.Totals
	if t == nil || t.LastedS <= 0 || unplanned(text) {
		return 0
	}
	taken, all := m.book.secondsIn(text, executing, false), m.alikeOf(text)
	part := min(1, m.ledger.ObservedS/t.LastedS)
	lost := taken - all.executionS*part
	// A short call is parsed and planned for as long as it runs.
	if lost < half*taken || 1000*lost < planningLeast.Value*all.calls*part ||
		m.book.runners[text].met.atWork.Seconds() > half*m.ledger.ObservedS {
		return 0 // of a call that is still under way nothing is counted
	}
	return lost
}

// sessionsCut: sessions end by an error of their own, or somebody ends them. Their clients lose what they were at.
var sessionsCut = cause{
	name: "sessions-ended",
	find: func(m *measured) (*Finding, string) {
		grew := func(column string) float64 { return valueOr(m.delta.Sum(counters.Databases, "", column), 0) }
		fatal, killed, made := grew("sessions_fatal"), grew("sessions_killed"), grew("sessions")
		if fatal+killed < endedLeast.Value || fatal+killed < rollbacksLeast.Value*made {
			return nil, ""
		}
		if limited, _ := endedByLimit.find(m); limited != nil && limited.grave {
			return nil, "" // that says why
		}
		return &Finding{Title: fmt.Sprintf("Sessions are ended otherwise than by their clients: %.0f by an error, "+
			"%.0f by somebody (pg_terminate_backend)", fatal, killed),
			Mechanism: "A session that ends so takes its open transaction and its prepared statements with it. Its " +
				"client gets an error, connects anew, and does its work again.",
			Evidence: []string{fmt.Sprintf("%.0f sessions began meanwhile, and %.0f were lost by their clients "+
				"(pg_stat_database)", made, grew("sessions_abandoned"))},
			Excluded: []string{"a price: what was lost is not counted"},
			Next: []string{"the server's log has each as FATAL, with its reason (%e in log_line_prefix is its " +
				"SQLSTATE)", "timeouts that end sessions: " + idleTimeout + ", " + transactionTimeout +
				", idle_session_timeout"}}, ""
	},
}

// connectionsLimited: a role or a database has all the connections that it may have.
var connectionsLimited = cause{
	name: "connection-limit",
	find: func(m *measured) (*Finding, string) {
		if m.settings == nil || m.pools == nil || m.pools.looks == 0 {
			return nil, ""
		}
		made := valueOr(m.delta.PerSecond(m.delta.Sum(counters.Databases, "", "sessions")), 0)
		for _, s := range m.settings.Differ {
			limit := number(s.Value)
			if s.Name != connectionLimit || limit < 0 {
				continue
			}
			most, mean := m.pools.held(func(c connected) bool {
				return s.Of == "role "+c.user ||
					s.Of == "database "+c.database
			})
			if most < limit || mean < limit/2 {
				continue
			}
			refused := 0
			if m.log != nil {
				refused = m.log.Errors[tooManyConnections]
			}
			// A pool that is as large keeps its connections; those that come and go are others', or refused ones.
			f := &Finding{grave: refused > 0 || made >= connectsPerS.Value && mean < limit,
				Title: fmt.Sprintf("%s has all of its connections (CONNECTION LIMIT %s): more are refused",
					upperFirst(s.Of), s.Value),
				Mechanism: "A role or a database may have a limit of its own. Who connects beyond it gets an error, " +
					"however many connections the server has left.",
				Evidence: []string{fmt.Sprintf("%.1f of %.0f connections at %d looks, on average", mean, limit,
					m.pools.looks), fmt.Sprintf("%.0f new sessions a second", made)},
				Excluded: []string{"not the limit of the whole server (max_connections)"},
				Next: []string{"ALTER ROLE … CONNECTION LIMIT -1, or ALTER DATABASE … CONNECTION LIMIT -1; or as " +
					"many as its programs need", "a pool of as many in front of it: who finds none waits, and gets " +
					"no error"}}
			if refused > 0 {
				f.Evidence = append(f.Evidence, fmt.Sprintf("the server's log has SQLSTATE %s %d times",
					tooManyConnections, refused))
			}
			return f, ""
		}
		return nil, ""
	},
}

// tooManyConnections is the SQLSTATE of who is refused.
const tooManyConnections = "53300"

// held connections of some, at most at one look, and on average of all looks.
func (p *pools) held(of func(connected) bool) (most, mean float64) {
	for key, c := range p.of {
		if of(key) {
			most, mean = most+float64(c.most), mean+c.all/float64(max(1, p.looks))
		}
	}
	return most, mean
}
