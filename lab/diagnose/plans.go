package diagnose

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/postgres/counters"
	"plimsoll/lab/diagnose/plan"
	"plimsoll/lab/diagnose/statement"
)

// Plans are asked for of the statements that carry the time, twice: in the middle and at the end.
const (
	plansMost      = 5
	firstPlansPart = 0.4 // of the diagnosis
)

// plansName of the source.
const plansName = "plans of statements"

// planned is what was asked for so far.
type planned struct {
	first, last []*plan.Plan
	questions   []plan.Question
	tables      map[string]*plan.Table // of the plans, and of the statements
	volatile    map[string]bool        // functions that the statements name
	missing     []Source
}

// Sessions of this database and what they run or ran last: the statements as they are sent, and by whom.
const sentSQL = `SELECT coalesce(usename, ''), query FROM pg_stat_activity WHERE datname = current_database()
	AND backend_type = 'client backend' AND pid <> pg_backend_pid() AND application_name <> $1 AND query <> ''
	AND octet_length(query) < (SELECT setting::int - 1 FROM pg_settings WHERE name = 'track_activity_query_size')
	ORDER BY state = 'active' DESC, query_start DESC LIMIT 2000`

// lookAtPlans of the statements that have taken most time until now.
func (w *watch) lookAtPlans(ctx context.Context, conn *pgx.Conn, ledgers []statement.Account) ([]*plan.Plan, error) {
	w.mu.Lock()
	top := parts(w.book.texts(), plansMost)
	w.mu.Unlock()
	asker, why, err := plan.NewAsker(ctx, conn, w.trusted)
	if err != nil {
		return nil, err
	}
	if why != "" {
		w.missPlans(plansName, why)
		return nil, nil
	}
	if err := w.askFor(ctx, conn, top, ledgers); err != nil {
		return nil, err
	}
	var all []*plan.Plan
	for _, q := range w.planned.questions {
		p, err := asker.Ask(ctx, q)
		switch {
		case ctx.Err() != nil || conn.IsClosed():
			return all, err
		case err != nil:
			w.missPlans("plan of "+normalizedText(q.Text), hinted(err))
		default:
			all = append(all, p)
		}
	}
	return all, nil
}

// firstPlans are those of the first look.
func (w *watch) firstPlans(ctx context.Context) error {
	first, err := w.lookAtPlans(ctx, w.slow, nil)
	w.mu.Lock()
	w.planned.first = first
	w.mu.Unlock()
	return err
}

// hinted says what right is missing.
func hinted(err error) string {
	if strings.HasPrefix(err.Error(), "permission denied") {
		return err.Error() + " (GRANT pg_read_all_data TO the user shows plans of queries, membership in the role " +
			"that " +
			"runs it those of all statements)"
	}
	return err.Error()
}

func (w *watch) missPlans(name, why string) {
	if !slices.Contains(w.planned.missing, Source{name, why}) {
		w.planned.missing = append(w.planned.missing, Source{name, why})
	}
}

// askFor the statements with most of the time that are not asked for yet.
func (w *watch) askFor(ctx context.Context, conn *pgx.Conn, top []Part, ledgers []statement.Account) error {
	wanted := map[string]bool{}
	for _, one := range top {
		if one.Share >= noteFrom.Value && !unplanned(one.Name) {
			wanted[wholeKey(matched(one.Name), ledgers)] = true
		}
	}
	for _, q := range w.planned.questions {
		delete(wanted, q.Key)
	}
	rows, err := conn.Query(ctx, sentSQL, ownName)
	if err != nil {
		return fmt.Errorf("read the sessions' statements: %w", err)
	}
	var role, text string
	if _, err = pgx.ForEachRow(rows, []any{&role, &text}, func() error {
		if key := wholeKey(matched(text), ledgers); wanted[key] {
			delete(wanted, key)
			w.planned.questions = append(w.planned.questions, plan.Question{Key: key, Text: text, Role: role})
		}
		return nil
	}); err != nil {
		return fmt.Errorf("read the sessions' statements: %w", err)
	}
	for _, l := range ledgers { // as the server keeps them, where no session shows them in full
		key := matched(l.Text)
		asked := slices.ContainsFunc(w.planned.questions, func(q plan.Question) bool { return q.Key == key })
		if l.Sent() != "" && l.Role != "" && !asked && (wanted[key] || l.Share >= problemFrom.Value) &&
			len(w.planned.questions) < 2*plansMost && !unplanned(l.Text) {
			delete(wanted, key)
			w.planned.questions = append(w.planned.questions, plan.Question{Key: key, Text: l.Sent(), Role: l.Role})
		}
	}
	for key := range wanted {
		w.missPlans("plan of "+normalizedText(key), "no session shows the whole statement, and the server does not "+
			"count it")
	}
	return nil
}

// unplanned statements have no plan, such as COMMIT.
func unplanned(text string) bool {
	return !begins("SELECT", "WITH", "INSERT", "UPDATE", "DELETE", "MERGE", "VALUES", "TABLE")(text)
}

// readPlans at the end: the second look, and what the catalogs know of the tables, also of those that were read whole.
func (w *watch) readPlans(ctx context.Context, conn *pgx.Conn, in *statement.Inside, names []string) error {
	var here []statement.Account
	for _, l := range in.Accounts {
		if in.Here(l) {
			here = append(here, l)
		}
	}
	last, err := w.lookAtPlans(ctx, conn, here)
	if err != nil {
		return err
	}
	for _, p := range last {
		names = append(names, p.Names()...)
	}
	for _, l := range here {
		names = append(names, l.Tables...)
	}
	tables, err := plan.Tables(ctx, conn, names)
	if err != nil {
		return err
	}
	for _, t := range tables { // what partitions belong to
		if t.Parent != "" && tables[t.Parent] == nil {
			names = append(names, t.Parent)
		}
	}
	if tables, err = plan.Tables(ctx, conn, names); err != nil {
		return err
	}
	words := map[string]bool{}
	for _, l := range here {
		maps.Copy(words, statement.Words(l.Text))
	}
	volatile, err := plan.Volatile(ctx, conn, slices.Sorted(maps.Keys(words)))
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.planned.last, w.planned.tables, w.planned.volatile = last, tables, volatile
	return nil
}

// remark on a statement of the samples.
type remark struct {
	plan.Remark
	texts []string
	plan  *plan.Plan // nil: read from the text
}

// addPlans to the measured, read for what makes them slow.
func (m *measured) addPlans(w *planned, s *sources) {
	s.missing = append(s.missing, w.missing...)
	m.plans = w.last
	if m.log != nil {
		m.plans = slices.Concat(m.plans, slowestLogged(m.log.plans))
		m.changes = plan.LoggedChanges(m.log.plans, matched)
	}
	m.changes = append(m.changes, plan.Changes(plan.TwoLooks, w.first, w.last, matched, plan.Generic, plan.Custom)...)
	read := map[string]bool{}
	for _, p := range m.plans {
		key := matched(p.Statement)
		read[key] = true
		p.Remarks = []plan.Remark{}
		p.Read(m.planContext(w, m.ledgerOf(key), p, w.sent(key)))
		for _, r := range p.Remarks {
			m.remarks = append(m.remarks, remark{r, m.sampledAs(p.Statement), p})
		}
	}
	for i := range m.statements {
		l := &m.statements[i]
		if key := matched(l.Text); !read[key] && len(l.Tables) > 0 {
			c := m.planContext(w, l, nil, l.Text)
			for name := range c.Tables {
				if !slices.Contains(l.Tables, name) {
					delete(c.Tables, name)
				}
			}
			for _, r := range plan.ReadText(c) {
				m.remarks = append(m.remarks, remark{r, m.sampledAs(l.Text), nil})
			}
		}
	}
}

// slowestLogged plan of each statement.
func slowestLogged(all []*plan.Plan) (some []*plan.Plan) {
	by := map[string]*plan.Plan{}
	for _, p := range all {
		if key := matched(p.Statement); by[key] == nil || *p.MS > *by[key].MS {
			by[key] = p
		}
	}
	for _, p := range by {
		some = append(some, p)
	}
	slices.SortFunc(some, func(a, b *plan.Plan) int {
		return cmp.Or(cmp.Compare(*b.MS, *a.MS), strings.Compare(a.Statement, b.Statement))
	})
	return some[:min(plansMost, len(some))]
}

// sent text of a question; empty: none was asked.
func (w *planned) sent(key string) string {
	for _, q := range w.questions {
		if q.Key == key {
			return q.Text
		}
	}
	return ""
}

// ledgerOf a statement of a client; nil: there is none.
func (m *measured) ledgerOf(key string) *statement.Account {
	for i := range m.statements {
		if l := &m.statements[i]; matched(l.Text) == key && (l.Nested == nil || !*l.Nested) {
			return l
		}
	}
	return nil
}

func (m *measured) planContext(w *planned, l *statement.Account, p *plan.Plan, text string) plan.Context {
	const workMem, hashMem = 4 << 20, 2 // PostgreSQL's own
	c := plan.Context{Tables: map[string]*plan.Table{}, Text: text, WorkMem: workMem, HashMem: hashMem,
		Scanned: func(table string) bool {
			return m.readWhole(table) && m.touchesAll(l, table) || m.indexWhole(l, table)
		}, Settings: m.settingsOf(m.roleOf(text)), Volatile: w.volatile}
	for name, t := range w.tables {
		c.Tables[name] = t
	}
	if l != nil {
		c.Rows, c.RowsRead, c.MeanMS = l.PerCall.Rows, l.PerCall.RowsRead, l.MeanMS
		if l.Calls == nil {
			c.RowsRead = m.rowsEach(l.Tables)
		}
	}
	if p != nil {
		if bytes := memoryOf(p.Settings["work_mem"]); bytes > 0 {
			c.WorkMem = bytes
		}
		if times, err := strconv.ParseFloat(p.Settings["hash_mem_multiplier"], 64); err == nil {
			c.HashMem = times
		}
	}
	return c
}

// rowsEach are the rows read of tables for each transaction of the server: a call of a statement that alone reads them
// has as many at least, unless transactions have many calls; nil: not known.
func (m *measured) rowsEach(tables []string) *float64 {
	rows := 0.0
	for _, table := range tables {
		for _, column := range []string{"seq_tup_read", "idx_tup_fetch"} {
			rows += valueOr(m.delta.Grew(counters.Tables, table, column), 0)
		}
	}
	perS := m.transactions()
	if perS == nil || *perS <= 0 || m.delta.For <= 0 {
		return nil
	}
	return new(rows / (*perS * m.delta.For.Seconds()))
}

// memoryOf a setting as the server writes it; 0: it is none.
func memoryOf(text string) float64 {
	units := map[string]float64{"kB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}
	for unit, bytes := range units {
		if n, is := strings.CutSuffix(text, unit); is {
			if x, err := strconv.ParseFloat(n, 64); err == nil {
				return x * bytes
			}
		}
	}
	return 0
}

// touchesAll says that a call of a statement touches enough blocks to have read a table as a whole, as far as they are
// counted: another statement may have read it so.
func (m *measured) touchesAll(l *statement.Account, table string) bool {
	pages := m.delta.Now(counters.Tables, table, "relpages")
	if l == nil || l.PerCall.Blocks == nil || pages == nil {
		return true
	}
	return *l.PerCall.Blocks >= *pages/2
}

// indexWhole says that a statement reads most entries of an index of a table in each call: where it needs no other
// column, that is a whole scan of a smaller table.
func (m *measured) indexWhole(l *statement.Account, table string) bool {
	const most = 0.5
	entries := 0.0
	for _, key := range m.delta.Keys(counters.Indexes) {
		if strings.HasPrefix(key, table+".") {
			entries += valueOr(m.delta.Grew(counters.Indexes, key, "tup_read"), 0)
		}
	}
	if l != nil && l.Calls != nil {
		each := entries / max(1, *l.Calls)
		return each >= rowsPerScan.Value && each >= most*valueOr(m.delta.Now(counters.Tables, table, "reltuples"), 0)
	}
	perS := m.transactions() // of which it is one each time, or more
	return perS != nil && *perS > 0 && entries >= rowsPerScan.Value**perS*m.ledger.ObservedS
}

// readWhole says that a table was read as a whole meanwhile.
func (m *measured) readWhole(table string) bool {
	scans := m.delta.Grew(counters.Tables, table, "seq_scan")
	rows := m.delta.Grew(counters.Tables, table, "seq_tup_read")
	return scans != nil && rows != nil && *scans >= 1 && *rows >= rowsPerScan.Value**scans
}
