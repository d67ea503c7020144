package diagnose

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/waits"
	"plimsoll/lab/diagnose/client"
	"plimsoll/lab/diagnose/statement"
)

// sent is what a role sends to a database, as pg_stat_statements counts its calls.
type sent struct {
	user           roleIn
	duties         map[*client.Duty]float64
	reads, writes  float64 // calls of work
	begins, ends   float64
	writers        amounts // calls by statement
	rowsOfWriters  amounts
	example        map[*client.Duty]string
	bracketsSingle bool // each of its transactions has one statement, which reads
}

// work of a role, in calls.
func (s *sent) work() float64 { return s.reads + s.writes }

// sentBy role and database, of those that were met at work; none where calls are not counted.
func (m *measured) sentBy() []*sent {
	all := map[roleIn]*sent{}
	for _, l := range slices.Concat(m.statements, m.inside.Others()) {
		user := sender(&l)
		if _, met := m.book.users[user]; !met || l.Calls == nil || *l.Calls <= 0 || l.Nested != nil && *l.Nested {
			continue
		}
		s := all[user]
		if s == nil {
			s = &sent{user: user, duties: map[*client.Duty]float64{}, writers: amounts{}, rowsOfWriters: amounts{},
				example: map[*client.Duty]string{}}
			all[user] = s
		}
		s.add(&l, m.duty(l.Text))
	}
	const near = 1.2
	sorted := slices.SortedFunc(maps.Values(all), func(a, b *sent) int {
		return cmp.Or(cmp.Compare(a.user.role, b.user.role), cmp.Compare(a.user.database, b.user.database))
	})
	for _, s := range sorted {
		if s.begins > 0 && s.work() <= near*s.begins && s.writes < s.reads/10 {
			s.bracketsSingle = true
			s.duties[client.Brackets] = s.begins + s.ends
			s.example[client.Brackets] = "BEGIN"
		}
	}
	return sorted
}

// sender of a statement that is counted.
func sender(l *statement.Account) roleIn {
	database, role := l.Sender()
	return roleIn{database, role}
}

func (s *sent) add(l *statement.Account, d *client.Duty) {
	calls, rows, text := *l.Calls, valueOr(l.PerCall.Rows, 0)**l.Calls, normalizedText(l.Text)
	switch {
	case d != nil:
		if calls > s.duties[d] {
			s.example[d] = text
		}
		s.duties[d] += calls
	case client.Brackets.Is(text):
		if begins("BEGIN", "START")(text) {
			s.begins += calls
		} else {
			s.ends += calls
		}
	case unplanned(text):
		if fetches(text) {
			s.reads += calls
		}
	case begins("SELECT", "VALUES", "TABLE")(text):
		s.reads += calls
	default:
		s.writes += calls
		kept := s.writers.add(text, calls)
		s.rowsOfWriters.add(kept, rows)
	}
}

// statementsWithoutWork: a program sends more beside its work than work.
var statementsWithoutWork = cause{
	name:  "statements-that-do-no-work",
	waste: true,
	find: func(m *measured) (*Finding, string) {
		var most *sent
		var calls, largest float64 // beside the work
		for _, s := range m.sentBy() {
			n := 0.0
			for d, one := range s.duties {
				if d != client.Savepoints || !m.namesSavepoints() {
					n += one
				}
			}
			if weight := n * min(dutiesEach.Value, n/max(1, s.work())); weight > largest {
				most, calls, largest = s, n, weight
			}
		}
		texts, by := m.dutiesSampled(most)
		share := 0.0
		for _, text := range texts {
			share += m.shareWithGaps(text)
		}
		if share == 0 && most == nil {
			return nil, ""
		}
		f := &Finding{Price: &share, explains: texts, toLog: true, there: true, partial: true,
			Statements: m.book.full(texts),
			Mechanism: "Each statement crosses the network, is parsed, and ends a transaction of its own where none " +
				"is open. A program waits for each, also for one that does nothing for its users.",
			Excluded: []string{"not the statements that do the work: each of these is quick, and there are many"}}
		who := "A program"
		if len(by) > 0 {
			who = by[0].Name
		}
		f.Title = who + " sends statements that do no work"
		if t := m.inside.Totals; most != nil && t != nil && t.LastedS > 0 {
			each, perS := calls/max(1, most.work()), calls/t.LastedS
			f.grave = each >= dutiesEach.Value && perS >= dutiesPerS.Value
			m.tellDuties(f, most)
			if each >= 1 {
				f.Title = fmt.Sprintf("%s sends %.1f statements that do no work for each one that does: %s", who, each,
					strings.Join(dutiesOf(most), ", "))
			}
		} else {
			for _, text := range texts[:min(3, len(texts))] {
				d := m.dutyOf(text, most)
				f.Evidence = append(f.Evidence, d.Name+": "+text)
				f.Next = append(f.Next, d.Cure)
			}
		}
		f.Evidence = append(f.Evidence, fmt.Sprintf("they take %s of the sessions' time, with their commits and the "+
			"gaps behind them; the round trips of those that are transactions of their own are the clients' time alone",
			human.Percent(share)))
		f.Next = append(slices.Compact(f.Next), "pgbouncer, or the driver's pool: what does it send when it hands a "+
			"connection out, and when it takes it back?")
		if f.grave || share >= problemFrom.Value {
			m.addRepeated(texts)
		}
		return f, ""
	},
}

// namesSavepoints says that they have a finding of their own, as those do that write: whenever it is asked, whatever
// problems explain by then.
func (m *measured) namesSavepoints() bool {
	unexplained := *m
	unexplained.explained, unexplained.explainedLog = nil, nil
	f, _ := savepoints.find(&unexplained)
	return f != nil && priceOf(*f) >= noteFrom.Value
}

// dutyOf a statement of the samples; nil: it is work. BEGIN and COMMIT are one of who sends them around single reads.
func (m *measured) dutyOf(text string, most *sent) *client.Duty {
	if most != nil && most.bracketsSingle && client.Brackets.Is(text) && m.roleOf(text) == most.user {
		return client.Brackets
	}
	d := m.duty(nonEmpty(m.book.fullTexts[text], text))
	if d == client.Savepoints && m.namesSavepoints() {
		return nil
	}
	return d
}

// duty of a text, remembered: each operation of a run is judged by the same texts.
func (m *measured) duty(text string) *client.Duty {
	if m.duties == nil {
		m.duties = map[string]*client.Duty{}
	}
	d, known := m.duties[text]
	if !known {
		d = client.DutyOf(text)
		m.duties[text] = d
	}
	return d
}

// dutiesSampled are the statements of the samples that do no work, the costliest first, and who sends them.
func (m *measured) dutiesSampled(most *sent) (texts []string, by []Part) {
	times, who := amounts{}, amounts{}
	for key, w := range m.book.events {
		if key.class == waits.Lock {
			continue
		}
		for pair, seconds := range w.pairs {
			if copiers[pair.application] {
				continue // what it reads of the catalogs is its work
			}
			if pair.statement != others && m.dutyOf(pair.statement, most) != nil {
				times.add(pair.statement, seconds)
				who.add(pair.application, seconds)
			}
		}
	}
	for _, one := range parts(times, len(times)) {
		texts = append(texts, one.Name)
	}
	return texts, parts(who, partsKept)
}

// dutiesOf what a role sends beside its work, by calls, as the begin of their names.
func dutiesOf(s *sent) (all []string) {
	for _, d := range byCalls(s) {
		name, _, _ := strings.Cut(d.Name, " (")
		if _, within, found := strings.Cut(d.Name, " ("); found {
			name = strings.TrimSuffix(within, ")")
		}
		all = append(all, name)
	}
	const shown = 3
	return all[:min(shown, len(all))]
}

func byCalls(s *sent) []*client.Duty {
	return slices.SortedFunc(maps.Keys(s.duties), func(a, b *client.Duty) int {
		return compareDown(s.duties[a], s.duties[b], a.Name, b.Name)
	})
}

// tellDuties of a role, by their kinds.
func (m *measured) tellDuties(f *Finding, s *sent) {
	for _, d := range byCalls(s) {
		f.Evidence = append(f.Evidence, fmt.Sprintf("%.1f for each statement of work, %.0f a second: %s, as in: %s",
			s.duties[d]/max(1, s.work()), s.duties[d]/m.inside.Totals.LastedS, d.Name, s.example[d]))
		f.Next = append(f.Next, d.Cure)
	}
	const shown = 4
	f.Evidence, f.Next = f.Evidence[:min(shown, len(f.Evidence))], f.Next[:min(shown, len(f.Next))]
}

// writeWithEachRead: those who only read also write a row each time, so that all of them wait for a commit.
var writeWithEachRead = cause{
	name:    "write-with-each-read",
	classes: inLog,
	find: func(m *measured) (*Finding, string) {
		var best *Finding
		for _, s := range m.sentBy() {
			text, calls := s.mainWriter()
			if calls < beginsLeast.Value || calls < writesEach.Value*s.reads || s.reads < writesEach.Value*calls {
				continue
			}
			for _, sampled := range m.sampledAs(text) {
				f := m.commitsOfReads(sampled)
				if f == nil || best != nil && *best.Price >= *f.Price {
					continue
				}
				f.Evidence = append([]string{fmt.Sprintf("%.0f calls, beside %.0f calls that read; nothing else of "+
					"its role writes as often", calls, s.reads)}, f.Evidence...)
				best = f
			}
		}
		return best, ""
	},
}

// commitsOfReads is a finding of a statement that commits by itself, from an application that reads; nil: it does not.
func (m *measured) commitsOfReads(sampled string) *Finding {
	r, logged := m.book.runners[sampled], m.book.flushedIn(sampled)
	application := m.readsToo(sampled)
	if logged == 0 || r.later > r.first || application == "" || m.known(sampled, waits.WAL) {
		return nil
	}
	// What other programs on the disk or the processors add to a wait has findings of its own.
	own := (1 - m.othersOnDisk()) * (1 - m.logWait().starved)
	return &Finding{explains: []string{sampled}, toLog: true, partial: true, Statements: m.book.full([]string{sampled}),
		Price: new((logged*own + m.book.secondsIn(sampled, work, false)) / max(m.ledger.TotalS, 1e-9)),
		Title: fmt.Sprintf("%s writes a row with nearly each read, and waits for its commit: %s", application, sampled),
		Mechanism: "A transaction that only reads ends at once. One that writes, were it the time of a visit or a " +
			"counter, writes log and waits until that is on disk; it leaves a dead row and entries of indexes, too.",
		Evidence: []string{fmt.Sprintf("%s of the sessions' waits for the log are its commits'; %s",
			human.Percent(logged/max(m.book.secondsOf(waits.WAL), 1e-9)), m.flushText())},
		Excluded: []string{"not what is read: without that write it would commit nothing"},
		Next: []string{"note it in the program's memory or in a queue, and write what came together in one " +
			"statement, now and then", "only where it is older than some minutes: UPDATE … WHERE seen < now() - " +
			"interval '5 min'",
			"SET LOCAL synchronous_commit = off    for that statement alone loses the last notes before a crash, and " +
				"no other data"}}
}

// mainWriter is the statement that has nearly all writing calls of a role, each of a row or two; calls 0: none.
func (s *sent) mainWriter() (text string, calls float64) {
	const nearly, rowsMost = 0.9, 2
	for _, one := range parts(s.writers, 1) {
		if one.S >= nearly*s.writes && s.rowsOfWriters[one.Name] <= rowsMost*one.S {
			return one.Name, one.S
		}
	}
	return "", 0
}

// readsToo is the application that sends a statement, if it also reads; empty: none does.
func (m *measured) readsToo(sampled string) string {
	sends, reads := map[string]bool{}, map[string]bool{}
	for _, w := range m.book.events {
		for pair := range w.pairs {
			if pair.statement == sampled {
				sends[pair.application] = true
			} else if begins("SELECT")(pair.statement) && !m.mayWrite(pair.statement) &&
				m.dutyOf(pair.statement, nil) == nil {
				reads[pair.application] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(sends)) {
		if reads[name] && name != others {
			return name
		}
	}
	return ""
}
