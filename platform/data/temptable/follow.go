package temptable

// note is a change that can be undone.
type note struct {
	table  *Table
	before state
}

// mark is a savepoint.
type mark struct {
	name string
	at   int // number of notes at that time
}

func (p *Pool) note(t *Table, after state) {
	if t.state == after {
		return
	}
	p.notes = append(p.notes, note{t, t.state})
	p.change(t, after)
}

func (p *Pool) change(t *Table, after state) {
	switch {
	case after.exists && !t.exists:
		p.size++
	case !after.exists && t.exists:
		p.size--
	}
	t.state = after
	if t.lent {
		p.lent[t] = struct{}{}
	} else {
		delete(p.lent, t)
	}
}

func (p *Pool) undo(down int) {
	for len(p.notes) > down {
		last := p.notes[len(p.notes)-1]
		p.notes = p.notes[:len(p.notes)-1]
		p.change(last.table, last.before)
	}
}

// end of the transaction. Only a transaction that created or dropped tables has something to forget.
func (p *Pool) end() {
	p.notes, p.marks, p.expected = p.notes[:0], nil, 0
	if p.size != len(p.tables) {
		p.forget()
	}
}

// Committed follows COMMIT.
func (p *Pool) Committed() {
	p.end()
	p.invalidated = false
}

// RolledBack follows ROLLBACK of the transaction, whoever sent it.
func (p *Pool) RolledBack() {
	p.undo(0)
	p.end()
	p.stale = p.stale || p.invalidated
	p.invalidated = false
}

// Savepoint precedes SAVEPOINT; what it returns follows. Later notes may be made between the two.
func (p *Pool) Savepoint(name string) (reached func()) {
	at := len(p.notes)
	return func() { p.marks = append(p.marks, mark{name, at}) }
}

// RolledBackTo follows ROLLBACK TO: the savepoint stays, later ones are gone. Tables are lent as they were then: later
// loans are undone, and later returns too, with the rows.
func (p *Pool) RolledBackTo(name string) {
	i := p.find(name)
	if i < 0 {
		return // the server will have reported it
	}
	p.marks = p.marks[:i+1]
	p.undo(p.marks[i].at)
	p.stale = p.stale || p.invalidated
}

// Released follows RELEASE: the savepoint and later ones are gone, the changes since then stay.
func (p *Pool) Released(name string) {
	if i := p.find(name); i >= 0 {
		p.marks = p.marks[:i]
	}
}

func (p *Pool) find(name string) int {
	for i := len(p.marks) - 1; i >= 0; i-- {
		if p.marks[i].name == name {
			return i
		}
	}
	return -1
}

// Invalidate says that something happened that the pool did not see.
func (p *Pool) Invalidate() { p.stale, p.invalidated = true, true }

// Stale says that the server must be asked before the next use: send ExistingSQL and pass the result to SetExisting.
func (p *Pool) Stale() bool { return p.stale }

// ExistingSQL lists the tables of the pool that this session has.
const ExistingSQL = `SELECT relname::text FROM pg_class WHERE relnamespace = pg_my_temp_schema() AND relname ^@ '` +
	Prefix + `' AND relkind = 'r'`

// SetExisting adopts the server's list of existing tables. Their content is then unknown; a table in use stays in use
// if it exists.
func (p *Pool) SetExisting(relations []string) {
	existing := map[string]bool{}
	for _, name := range relations {
		hash, ordinal, ours := parse(name)
		if !ours {
			continue
		}
		existing[name] = true
		t := p.tables[name]
		if t == nil {
			t = p.enter(hash, ordinal)
		}
		p.note(t, state{exists: true, lent: t.lent, touched: true})
	}
	for name, t := range p.tables {
		if !existing[name] {
			p.note(t, state{})
		}
	}
	p.stale, p.invalidated = false, true // what was learned here is undone with the transaction
}
