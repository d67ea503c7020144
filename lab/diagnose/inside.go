package diagnose

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"plimsoll/ground/postgres/sqltext"
	"plimsoll/ground/postgres/waits"
	"plimsoll/lab/diagnose/plan"
	"plimsoll/lab/diagnose/statement"
)

// lookInside the statements that carry the time: what the server counted of them since a reading, and what runs within
// them. Some tables were read whole.
func (w *watch) lookInside(ctx context.Context, before *statement.Reading, whole []string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endWithin)
	defer cancel()
	in, err := w.insideSince(ctx, before, whole)
	if err != nil {
		in = &statement.Inside{Missing: []statement.Missing{{Name: statement.Counters, Why: err.Error()}}}
	}
	w.mu.Lock()
	w.inside = in
	w.mu.Unlock()
}

func (w *watch) insideSince(ctx context.Context, before *statement.Reading, whole []string) (*statement.Inside,
	error) {
	conn, done, err := w.lastConnection(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	after, err := statement.Read(ctx, conn)
	if err != nil {
		return nil, err
	}
	in := statement.Between(before, after)
	w.mu.Lock()
	sampled := w.book.texts()
	w.mu.Unlock()
	if in.Totals == nil {
		in.Accounts = sampledLedgers(sampled, w.book)
	}
	if err := in.Describe(ctx, conn); err != nil {
		return nil, err
	}
	var texts []string
	for text := range sampled {
		texts = append(texts, nonEmpty(w.book.fullTexts[text], text))
	}
	if err := in.FindHidden(ctx, conn, texts); err != nil {
		return nil, err
	}
	if err := w.readPredicateLocks(ctx, conn); err != nil {
		return nil, err
	}
	return in, w.readPlans(ctx, conn, in, whole)
}

// sampledMost statements have a ledger where the server does not count them.
const sampledMost = 10

func sampledLedgers(sampled amounts, b *book) (all []statement.Account) {
	for _, one := range parts(sampled, sampledMost) {
		all = append(all, statement.Sampled(nonEmpty(b.fullTexts[one.Name], one.Name), one.S, one.Share))
	}
	return all
}

// costliest statements of the samples, in full as far as the server shows them.
func (b *book) costliest(most int) []Part {
	all := append([]Part{}, parts(b.texts(), most)...)
	for i := range all {
		all[i].Name = nonEmpty(b.fullTexts[all[i].Name], all[i].Name)
	}
	return all
}

// PlanOf a statement; nil: there is none.
func (d *Diagnosis) PlanOf(statement string) *plan.Plan {
	key := matched(statement)
	for _, p := range d.Plans {
		if sameStatement(matched(p.Statement), key) {
			return p
		}
	}
	return nil
}

// texts are the statements of the samples and their time, without the gaps behind them.
func (b *book) texts() amounts {
	all := amounts{}
	for key, w := range b.events {
		if key.gap {
			continue
		}
		for text, seconds := range w.statements {
			if text != others {
				all[text] += seconds
			}
		}
	}
	return all
}

// matchWidth of a statement tells it apart: a sample has its beginning alone.
const matchWidth = 150

var placeholders = strings.NewReplacer("$?", "?", "-?", "?", "+?", "?", "( ", "(", " )", ")", " ,", ",")

const listedValue = `[-+]? ?\$?\?`

// valueList of a text: one with other values, or more of them, is the same list. PostgreSQL 18 keeps the first of two
// values or more. A list that does not end is where the server cut the text.
var valueList = regexp.MustCompile(`(?i)(\bin ?\( ?|\barray ?\[ ?)(` + listedValue + `)(?: ?, ?(?:` + listedValue +
	`|…))+ ?(?:([)\]])|,? ?…?$)`)

// listGoesOn ends a text that was cut within its list.
const listGoesOn = ", …"

// extracted is what of a time a text asks for: a sample has it as a word, and the server keeps it as a value.
var extracted = regexp.MustCompile(`(?i)\bextract ?\( ?(?:\w+|\$?\?) from\b`)

// shortLists makes the lists of a text without values as long as any other.
func shortLists(text string) string { return valueList.ReplaceAllString(text, "$1$2"+listGoesOn+"$3") }

// matched is what a statement has in common whether a sample, the server's counters or its log show it.
func matched(text string) string {
	text = placeholders.Replace(strings.TrimRight(sqltext.WithoutValues(text), "; "))
	text = extracted.ReplaceAllString(text, "extract(? from")
	if text = shortLists(text); !strings.HasSuffix(text, listGoesOn) {
		text = strings.TrimRight(text, "; …")
	}
	if r := []rune(text); len(r) > matchWidth {
		text = string(r[:matchWidth])
	}
	return text
}

// sameStatement says so of two that are matched: what stands behind the list in which one of them was cut is not known.
func sameStatement(a, b string) bool {
	begins := func(cut, whole string) bool {
		return strings.HasSuffix(cut, listGoesOn) && strings.HasPrefix(whole, cut)
	}
	return a == b || begins(a, b) || begins(b, a)
}

// wholeKey of a statement that may be cut within a list: that of the costliest of these that begin so.
func wholeKey(key string, all []statement.Account) string {
	if !strings.HasSuffix(key, listGoesOn) {
		return key
	}
	whole, most := key, -1.0
	for i := range all {
		if l := &all[i]; l.S > most && (l.Nested == nil || !*l.Nested) && sameStatement(key, matched(l.Text)) {
			whole, most = matched(l.Text), l.S
		}
	}
	return whole
}

// sampledAs are the statements of the samples that are this one.
func (m *measured) sampledAs(text string) (all []string) {
	if m.byMatch == nil {
		m.byMatch = map[string][]string{}
		for _, one := range parts(m.book.texts(), len(m.book.texts())) {
			key := wholeKey(matched(one.Name), m.statements)
			m.byMatch[key] = append(m.byMatch[key], one.Name)
		}
	}
	return m.byMatch[wholeKey(matched(text), m.statements)]
}

// alike is what the server counted of statements that the samples cannot tell apart.
type alike struct{ calls, executionS float64 }

// alikeOf a statement: those of other roles and databases, and with longer lists. Their samples are one.
func (m *measured) alikeOf(text string) alike {
	if m.byAlike == nil {
		m.byAlike = map[string]alike{}
		for _, l := range slices.Concat(m.statements, m.inside.Others()) {
			if l.Calls == nil || l.Nested != nil && *l.Nested {
				continue
			}
			key := matched(l.Text)
			one := m.byAlike[key]
			m.byAlike[key] = alike{one.calls + *l.Calls, one.executionS + l.S}
		}
	}
	return m.byAlike[wholeKey(matched(text), m.statements)]
}

// addStatements to the measured: the ledgers, with what their samples waited for.
func (m *measured) addStatements(in *statement.Inside, s *sources) {
	if in == nil {
		return
	}
	for _, one := range in.Missing {
		s.miss(one.Name, one.Why)
	}
	if t := in.Totals; t != nil && t.Evicted != nil && *t.Evicted > 0 {
		s.miss("some statements", "pg_stat_statements gave up rarely used ones meanwhile: pg_stat_statements.max is "+
			"too small")
	}
	m.inside = *in
	m.statements = slices.Clone(in.Accounts)
	for i := range m.statements {
		m.addSamples(&m.statements[i])
	}
}

func (m *measured) addSamples(l *statement.Account) {
	texts := m.sampledAs(l.Text)
	times := amounts{}
	for key, w := range m.book.events {
		if key.gap {
			continue
		}
		for _, text := range texts {
			if seconds := w.statements[text]; seconds > 0 {
				times[waitName(key.class)] += seconds
			}
		}
	}
	for _, one := range parts(times, len(times)) {
		l.Waits = append(l.Waits, statement.Part(one))
		if one.Name == waitName(waits.Running) {
			l.ProcessorS = new(l.S * one.Share)
		}
	}
	if len(l.Waits) == 0 && l.Source == statement.FromCounters { // too short, or too rare for a sample
		if rest := l.PartOf("executing") + l.PartOf("planning") + l.PartOf("compiling (JIT)"); rest > 0 {
			l.ProcessorS = new(l.S * rest)
		}
	}
}

// waitName of a class; that of sessions without a wait is not split here.
func waitName(class waits.Class) string {
	if class == waits.Running {
		return "no wait"
	}
	return nonEmpty(lineNames[string(class)], string(class))
}

// within says what a ledger knows of a statement of the samples, as evidence.
func (m *measured) within(text string) (lines []string) {
	for i := range m.statements {
		if l := &m.statements[i]; slices.Contains(m.sampledAs(l.Text), text) && (l.Nested == nil || !*l.Nested) {
			lines = append(lines, l.Says()...)
			break
		}
	}
	return append(lines, m.remarksOn(text)...)
}
