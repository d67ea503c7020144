package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/lab/diagnose/construct"
	"plimsoll/lab/diagnose/statement"
)

// reasonsOf a statement's processor time: what its text has and what the catalogs know of the names in it, the most
// specific first. They are candidates: figures must say that there is something to find.
func (m *measured) reasonsOf(l *statement.Account) []construct.Construct {
	text := m.textOf(l)
	all := construct.In(text)
	usual := slices.IndexFunc(all, func(c construct.Construct) bool { return c.Weight < construct.Avoidable })
	if usual < 0 {
		usual = len(all)
	}
	return slices.Insert(all, usual, m.factsOf(l, text)...)
}

// reasons of a statement of the samples.
func (m *measured) reasons(sampled string) []construct.Construct {
	if l := m.accountOf(sampled); l != nil {
		return m.reasonsOf(l)
	}
	return construct.In(nonEmpty(m.book.fullTexts[sampled], sampled))
}

// toldMost reasons of one statement are told in a finding.
const toldMost = 3

// mostSpecific of these: usual ones only where there are no others.
func mostSpecific(all []construct.Construct) []construct.Construct {
	telling := tellingOf(all)
	if len(telling) == 0 {
		telling = all
	}
	return telling[:min(toldMost, len(telling))]
}

// tellingOf these are those that cost far more than they show.
func tellingOf(all []construct.Construct) (found []construct.Construct) {
	for _, c := range all {
		if c.Weight > construct.Usual {
			found = append(found, c)
		}
	}
	return found
}

// listOf names: a, b and c.
func listOf(all []construct.Construct) string {
	var names []string
	for _, c := range all {
		names = append(names, c.Name)
	}
	if last := len(names) - 1; last > 0 {
		return strings.Join(names[:last], ", ") + " and " + names[last]
	}
	return strings.Join(names, "")
}

// tell why each may take the time, and what to do.
func (f *Finding) tell(all []construct.Construct) {
	for _, c := range all {
		f.Evidence = append(f.Evidence, c.Name+": "+c.Why)
		f.Next = append(f.Next, c.Instead)
	}
}

// tellText adds what the statement of a finding has that who knows SQL writes in another way: a table may be read as a
// whole, or a file written, because of it.
func (m *measured) tellText(f *Finding) {
	if len(f.explains) == 0 {
		return
	}
	var all []construct.Construct
	for _, c := range m.reasons(f.explains[0]) {
		if c.Weight == construct.Avoidable {
			all = append(all, c)
		}
	}
	if all = all[:min(2, len(all))]; len(all) > 0 {
		f.Title += "; the statement has " + listOf(all)
		f.tell(all)
	}
}

// hasText is what a statement of the samples has, as evidence.
func (m *measured) hasText(sampled string) []string {
	all := m.reasons(sampled)
	if len(all) == 0 {
		return nil
	}
	const shown = 6
	return []string{"its text has: " + listOf(all[:min(shown, len(all))])}
}

// costlyOperations: no finding explains the time of a statement, its rows may explain it or not, and its text has what
// multiplies work.
var costlyOperations = cause{
	name: "costly-operation",
	find: func(m *measured) (*Finding, string) {
		var best *Finding
		for i := range m.statements {
			l := &m.statements[i]
			e := m.excessOf(l)
			if e == nil || m.narrowed(l.Text) || len(l.Tables) == 0 && len(l.Own) > 0 {
				continue // an application in functions has a finding of its own
			}
			price := e.use.share // with the queue for a processor, as that of work beyond the rows
			if price < problemFrom.Value || 1000*e.seconds/e.calls < costlyMS.Value &&
				m.book.longRunning[e.use.largest] == 0 || best != nil && *best.Price >= price {
				continue
			}
			has := tellingOf(m.reasonsOf(l))
			if has = has[:min(toldMost, len(has))]; len(has) == 0 {
				continue
			}
			best = &Finding{Price: &price, explains: e.use.statements, Statements: m.book.full(e.use.statements),
				there: true, partial: true,
				Title: "A statement takes " + human.Percent(price) + " of the time by itself, and it has " +
					listOf(has),
				Mechanism: "It does not wait, and no other reason was found. Its text has what multiplies the work " +
					"of its rows; a plan with its times says whether that takes it.",
				Evidence: append([]string{fmt.Sprintf("%s of the time is spent on, or waiting for a processor: %s",
					human.Percent(price), e.use.largest), e.says()}, m.within(e.use.largest)...),
				Excluded: []string{"it waits for no lock, disk or client"}}
			best.tell(has)
			best.Next = append(best.Next,
				"EXPLAIN (ANALYZE, BUFFERS) it: which line has most of the time, rows and loops?")
		}
		return best, ""
	},
}
