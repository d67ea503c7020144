package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/counters"
	"plimsoll/ground/postgres/waits"
	"plimsoll/lab/diagnose/event"
	"plimsoll/lab/diagnose/statement"
)

// NoReason is the finding that says for which part of the time none was found. It is a note: a healthy server spends
// its time on something, too.
const NoReason = "no-reason-found"

// covered is the time that findings are about.
type covered struct {
	shares     map[waits.Class]float64
	statements map[string]bool // in the classes of work
	logged     map[string]bool // and in the log
}

// cover what a finding is about.
func (m *measured) cover(c cause, f *Finding) {
	if m.covered.shares == nil {
		m.covered = covered{map[waits.Class]float64{}, map[string]bool{}, map[string]bool{}}
	}
	for _, sql := range f.explains {
		m.covered.statements[sql] = true
		m.covered.logged[sql] = m.covered.logged[sql] || f.toLog
	}
	m.covered.shares[waits.Lock] += m.behindStatements(f.explains)
	if len(f.explains) > 0 || f.Price == nil {
		return
	}
	for _, class := range c.classes {
		m.covered.shares[class] += *f.Price
	}
}

// behindStatements is the share of the time that sessions wait for locks which some statements hold.
func (m *measured) behindStatements(statements []string) (share float64) {
	for _, s := range m.stories {
		if !s.Root.Client && slices.Contains(statements, s.Root.Statement) {
			share += s.Share
		}
	}
	return share
}

// bare is the part of the time in a class that no finding is about, and what it is spent on.
type bare struct {
	class      waits.Class
	share      float64
	events     []Part
	statements []Part
}

// bareTime of all classes that take a tenth of the time, the largest first.
func (m *measured) bareTime() (all []bare) {
	total := m.ledger.TotalS
	by, statements := map[waits.Class]amounts{}, map[waits.Class]amounts{}
	for key, w := range m.book.events {
		if by[key.class] == nil {
			by[key.class], statements[key.class] = amounts{}, amounts{}
		}
		name := key.event.String()
		if key.gap {
			name = "between the statements of a transaction"
		}
		for sql, seconds := range w.statements {
			if m.isCovered(sql, key.class) && !key.gap {
				continue
			}
			by[key.class].add(name, seconds)
			statements[key.class].add(sql, seconds)
		}
	}
	for class, events := range by {
		b := bare{class: class, events: parts(events, partsKept), statements: parts(statements[class], partsKept)}
		for _, seconds := range events {
			b.share += seconds / total
		}
		if b.share -= m.covered.shares[class]; b.share >= problemFrom.Value {
			all = append(all, b)
		}
	}
	slices.SortFunc(all, func(a, b bare) int {
		return compareDown(a.share, b.share, string(a.class), string(b.class))
	})
	return all
}

func (m *measured) isCovered(sql string, class waits.Class) bool {
	if class == waits.WAL {
		return m.covered.logged[sql]
	}
	return slices.Contains(work, class) && m.covered.statements[sql]
}

// withoutReason is a tenth of the time, or more, that no finding is about; nil: there is none.
func (m *measured) withoutReason() *Finding {
	if m.ledger.TotalS <= 0 {
		return nil
	}
	all := m.bareTime()
	if len(all) == 0 {
		return nil
	}
	f := &Finding{Name: NoReason, Level: Note, Price: new(0.0), Excluded: []string{},
		Mechanism: "No cause that this program knows was found for it. What it is spent on is usual work, or has a " +
			"reason that the figures do not show."}
	for _, b := range all {
		*f.Price += b.share
		f.Evidence = append(f.Evidence, b.says(m)...)
		if why := m.clientsWithoutProcessors(b.share); b.class == waits.Client && why != "" {
			f.Evidence = append(f.Evidence, why)
		}
		f.Next = append(f.Next, m.tries(b)...)
	}
	if *f.Price > 1 {
		f.Price = new(1.0)
	}
	f.Evidence = append(f.Evidence, m.usualFigures())
	f.Title = fmt.Sprintf("No reason was found for %s of the time, most of it %s", human.Percent(*f.Price),
		all[0].name())
	f.Applications = m.payersOfBare(all)
	slices.Sort(f.Next)
	f.Next = slices.Compact(f.Next)
	return f
}

func (b bare) name() string {
	if b.class == waits.Running {
		return "processor time"
	}
	return "in " + nonEmpty(lineNames[string(b.class)], string(b.class))
}

func (b bare) says(m *measured) (lines []string) {
	texts := []string{}
	for _, e := range b.events[:min(3, len(b.events))] {
		texts = append(texts, e.Name+" "+human.Percent(e.Share))
	}
	lines = append(lines, fmt.Sprintf("%s of the time is %s without a finding: %s", human.Percent(b.share), b.name(),
		strings.Join(texts, ", ")))
	for _, s := range b.statements[:min(3, len(b.statements))] {
		if s.Share >= problemFrom.Value {
			lines = append(lines, fmt.Sprintf("%s of it: %s", human.Percent(s.Share), s.Name))
			if b.class == waits.Running {
				lines = append(lines, m.hasText(s.Name)...)
			}
		}
	}
	return lines
}

// tries are what a person can do to find the reason.
func (m *measured) tries(b bare) []string {
	switch {
	case b.class == waits.Running:
		all := []string{"EXPLAIN (ANALYZE, BUFFERS) the statement above: how many rows and pages for each row that " +
			"it returns?",
			"perf top -p PID    on the server's machine: which function of the server takes the processor?"}
		for _, lacks := range m.inside.Missing {
			if lacks.Name == statement.Counters {
				all = append(all, "let the server count statements, and diagnose again. Now it does not: "+lacks.Why)
			}
		}
		return all
	case b.class == waits.WAL:
		return []string{"pg_test_fsync -s 2    on the disk of pg_wal: is the flush as quick as the disk can?"}
	case b.class == waits.Client && len(b.events) > 0:
		return []string{"count the statements of a transaction: each costs a round trip (plimsoll prove C16)"}
	}
	var all []string
	for _, e := range b.events[:min(1, len(b.events))] {
		kind, name, _ := strings.Cut(e.Name, ":")
		if meaning, known := event.Of(waits.Event{Type: kind, Name: name}); known {
			all = append(all, meaning.Ask, "what helps: "+meaning.Cure)
		}
	}
	return all
}

// usualFigures of the server's work, as far as they are counted.
func (m *measured) usualFigures() string {
	perTransaction := func(view, column string) *float64 {
		n, all := m.delta.Sum(view, "", column), m.bothPerSecond(counters.Databases, "xact_commit", "xact_rollback")
		if n == nil || all == nil || *all <= 0 || m.delta.For <= 0 {
			return nil
		}
		return new(*n / (*all * m.delta.For.Seconds()))
	}
	hits := perTransaction(counters.Databases, "blks_hit")
	read := perTransaction(counters.Databases, "tup_returned")
	return fmt.Sprintf("a transaction reads %s rows and touches %s pages in memory, on average of all databases",
		text(read, "%.0f"), text(hits, "%.0f"))
}

// payersOfBare are the applications that spend it, where several share the server.
func (m *measured) payersOfBare(all []bare) []Part {
	if !m.shared() {
		return nil
	}
	times := amounts{}
	for key, w := range m.book.events {
		if !slices.ContainsFunc(all, func(b bare) bool { return b.class == key.class }) {
			continue
		}
		for pair, seconds := range w.pairs {
			if !m.isCovered(pair.statement, key.class) {
				times.add(pair.application, seconds)
			}
		}
	}
	return parts(times, partsKept)
}
