package temptable

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Pool is the assumed state of the temp tables of one connection. Not for concurrent use.
type Pool struct {
	options     Options
	tables      map[string]*Table   // by relation; those that do not exist are only in the notes
	families    map[string][]*Table // by hash of the structure, by ordinal
	size        int                 // tables that exist
	lent        map[*Table]struct{}
	clock       int64
	expected    int64 // rows of a table in this transaction, at most, as far as known beforehand
	notes       []note
	marks       []mark
	stale       bool // the server must be asked
	invalidated bool // in this transaction: its rollback makes the pool stale again
	Counters    Counters
}

// NewPool is the pool of a connection without temp tables.
func NewPool(options Options) *Pool {
	return &Pool{options: options.WithDefaults(), tables: map[string]*Table{}, families: map[string][]*Table{},
		lent: map[*Table]struct{}{}}
}

// Size is how many tables exist.
func (p *Pool) Size() int { return p.size }

// Tables that exist, in order of their names.
func (p *Pool) Tables() []*Table {
	var existing []*Table
	for _, t := range p.tables {
		if t.exists {
			existing = append(existing, t)
		}
	}
	slices.SortFunc(existing, byName)
	return existing
}

// Relations are their names.
func (p *Pool) Relations() (names []string) {
	for _, t := range p.Tables() {
		names = append(names, t.relation)
	}
	return names
}

func byName(a, b *Table) int { return cmp.Compare(a.relation, b.relation) }

// Lent are the tables in use, in order of their names.
func (p *Pool) Lent() []*Table {
	return slices.SortedFunc(maps.Keys(p.lent), byName)
}

// Orders are statements to be executed, in order, before a lent table is used.
type Orders struct {
	DDL   []string // DROP and CREATE: text that is sent once
	Clear []*Table // tables with leftover rows
}

// Lend returns a table of each structure, and adds the statements that must be sent first to the orders.
func (p *Pool) Lend(structures []Structure) (lent []*Table, orders Orders) {
	for _, s := range structures {
		t := p.free(s)
		if t != nil {
			p.Counters.Reused++
			if !t.empty() {
				p.Counters.Truncates++
				orders.Clear = append(orders.Clear, t)
				p.note(t, state{exists: true})
			}
		} else {
			t = p.create(s, &orders)
		}
		p.clock++
		t.used = p.clock
		p.note(t, state{exists: true, lent: true, kept: t.kept})
		lent = append(lent, t)
	}
	return lent, orders
}

func (p *Pool) free(s Structure) *Table {
	for _, t := range p.families[s.hash] {
		if t.exists && !t.lent {
			return t
		}
	}
	return nil
}

func (p *Pool) create(s Structure, orders *Orders) *Table {
	if p.size >= p.options.Max {
		// a table that is cleared in the same flush is lent already, and so is never the oldest
		if oldest := p.oldest(); oldest != nil {
			orders.DDL = append(orders.DDL, p.drop(oldest))
		}
	}
	t := p.vacant(s.hash)
	p.Counters.Created++
	orders.DDL = append(orders.DDL, t.create(s)...)
	return t
}

// vacant is the lowest ordinal without a table.
func (p *Pool) vacant(hash string) *Table {
	ordinal := 1
	for _, t := range p.families[hash] {
		if !t.exists {
			return t
		}
		if t.ordinal == ordinal {
			ordinal++
		}
	}
	return p.enter(hash, ordinal)
}

func (p *Pool) enter(hash string, ordinal int) *Table {
	t := &Table{relation: relation(hash, ordinal), hash: hash, ordinal: ordinal}
	p.tables[t.relation] = t
	family := append(p.families[hash], t)
	slices.SortFunc(family, func(a, b *Table) int { return cmp.Compare(a.ordinal, b.ordinal) })
	p.families[hash] = family
	return t
}

// oldest free table. Walking over all takes microseconds, little compared with the DROP that follows.
func (p *Pool) oldest() (oldest *Table) {
	for _, t := range p.tables {
		if t.exists && !t.lent && (oldest == nil || t.used < oldest.used) {
			oldest = t
		}
	}
	return oldest
}

func (p *Pool) drop(t *Table) string {
	p.Counters.Dropped++
	p.note(t, state{})
	return "DROP TABLE " + t.Name()
}

// Evict drops up to n free tables, least recently used first: this is how a connection that will be closed gets rid of
// its tables in small steps.
func (p *Pool) Evict(n int) (ddl []string) {
	for len(ddl) < n {
		t := p.oldest()
		if t == nil {
			break
		}
		ddl = append(ddl, p.drop(t))
	}
	return ddl
}

// Excess is how many tables beyond the maximum could be dropped now.
func (p *Pool) Excess() int { return max(0, p.size-p.options.Max) }

// Filling says that rows are being sent to a lent table; Filled, how many arrived.
func (p *Pool) Filling(t *Table) {
	s := t.state
	s.pending++
	s.fills++
	p.note(t, s)
	p.Expect(s.fills)
}

// Expect says that a table may get so many rows in this transaction.
func (p *Pool) Expect(rows int64) { p.expected = max(p.expected, rows) }

// Filled ends Filling.
func (p *Pool) Filled(t *Table, rows int64) {
	s := t.state
	s.pending--
	s.rows += rows
	p.note(t, s)
}

// Touched receives the text of statements: lent tables that it may write to may have rows from now on. Writes inside
// functions are not visible in the text. The table counted by Filling is excluded; it may be nil.
func (p *Pool) Touched(sql string, counted *Table) {
	for from := 0; ; {
		at := strings.Index(sql[from:], Prefix)
		if at < 0 {
			return
		}
		at += from
		from = at + len(Prefix)
		t := p.tables[mentioned.FindString(sql[at:])]
		if t != nil && t != counted && t.lent && !t.touched && !reads(sql, at) {
			s := t.state
			s.touched = true
			p.note(t, s)
		}
	}
}

// reads: the name at this position follows FROM or JOIN, but not DELETE FROM. In all other cases, comments included, it
// may be written.
func reads(sql string, at int) bool {
	words := strings.Fields(strings.ToLower(strings.TrimSuffix(sql[:at], Schema+".")))
	if n := len(words); n == 0 || strings.Contains(sql, "/*") || strings.Contains(sql, "--") {
		return false
	} else {
		return words[n-1] == "join" || words[n-1] == "from" && n > 1 && words[n-2] != "delete"
	}
}

// Step is what to do with a returned table.
type Step int

const (
	Skip     Step = iota // it is empty
	Truncate             // it has rows, or nobody checks
	Probe                // ask the server, then call Probed
	Erase                // it has few rows: DELETE
)

// Return says what must be sent for a table whose use has ended. But for Probe it is free from now on.
func (p *Pool) Return(t *Table) Step {
	if !t.lent {
		return Skip
	}
	switch n, known := t.Rows(); {
	case p.options.Clearing == Always:
		p.returned(known && n == 0)
		return p.cleared(t, Truncate)
	case p.options.Clearing == Ask || !known:
		p.Counters.Probes++
		return Probe
	case n == 0:
		p.returned(true)
		return p.cleared(t, Skip)
	case p.options.Clearing == Delete && t.hasRoom():
		p.returned(false)
		return p.cleared(t, Erase)
	default:
		p.returned(false)
		return p.cleared(t, Truncate)
	}
}

func (p *Pool) returned(empty bool) {
	p.Counters.Returned++
	if empty {
		p.Counters.Empty++
	}
}

// Probed receives the result of a probe.
func (p *Pool) Probed(t *Table, hasRow bool) Step {
	p.returned(!hasRow)
	if hasRow || p.options.Clearing == Delete && !t.hasRoom() {
		return p.cleared(t, Truncate)
	}
	return p.cleared(t, Skip)
}

func (p *Pool) cleared(t *Table, by Step) Step {
	after := state{exists: true, kept: t.afterUse()}
	switch by {
	case Skip:
		p.Counters.Skipped++
	case Erase:
		p.Counters.Deletes++
	default:
		p.Counters.Truncates++
		after.kept = kept{}
	}
	p.note(t, after)
	return by
}

// Gather says whether statistics of a filled table are to be gathered now, and notes that they are. Where DELETE keeps
// them, they are gathered again only when a use has had several times the rows that they are of.
func (p *Pool) Gather(t *Table) bool {
	switch {
	case p.options.Clearing != Delete:
		return true
	case t.Analyzed() && max(p.expected, t.most) <= rowsAlike*max(rowsFew, t.of):
		return false
	}
	s := t.state
	s.gathered, s.fresh = true, true
	p.note(t, s)
	return true
}

// Statistics are taken for right up to rowsAlike times the rows that they are of, which are at least rowsFew.
const rowsAlike, rowsFew = 4, 25

// Abandon ends all uses without clearing: the tables are cleared before they are lent again.
func (p *Pool) Abandon() {
	for _, t := range p.Lent() {
		s := t.state
		s.lent = false
		p.note(t, s)
	}
}

// forget removes tables that neither exist nor are in the notes.
func (p *Pool) forget() {
	maps.DeleteFunc(p.tables, func(_ string, t *Table) bool { return !t.exists })
	for hash, family := range p.families {
		family = slices.DeleteFunc(family, func(t *Table) bool { return !t.exists })
		if p.families[hash] = family; len(family) == 0 {
			delete(p.families, hash)
		}
	}
}
