package diagnose

import (
	"slices"
	"time"

	"plimsoll/ground/postgres/waits"
)

// roleIn is a role in a database, by their numbers: settings may be its own.
type roleIn struct{ database, role uint32 }

// addUser counts the time in which a session of a role works, in this and other databases.
func (b *book) addUser(s waits.Session, key eventKey, seconds float64) {
	if key.gap || !slices.Contains(working, key.class) {
		return
	}
	user := roleIn{s.Database, s.Role}
	if _, known := b.users[user]; !known && len(b.users) >= namesMost {
		user = roleIn{}
	}
	b.users[user] += seconds
}

// runners of a statement: one of the roles that send it, its sessions as far as they were met, how often its
// transaction had begun with it, or with another statement, and how long it was met at most.
type runners struct {
	user         roleIn
	sessions     map[int]bool
	first, later int
	met          lengths
}

// lengths of what a session was met in, at most, by the server's own clock.
type lengths struct {
	atWork time.Duration // of a statement
	locked time.Duration // of a statement that waits for a lock
	gap    time.Duration // behind it, within its transaction
	open   time.Duration // of the transaction
}

func (l *lengths) meet(s waits.Session) {
	switch {
	case s.Idle():
		l.gap = max(l.gap, s.InState)
	case s.Class() == waits.Lock:
		l.locked = max(l.locked, s.InState)
		fallthrough
	default:
		l.atWork = max(l.atWork, s.InState)
	}
	l.open = max(l.open, s.InXact)
}

// sessionsMost of a statement are told apart.
const sessionsMost = 200

func (b *book) addRunner(s waits.Session, text string) {
	r, known := b.runners[text]
	if !known {
		if len(b.runners) >= namesMost {
			return
		}
		r = runners{user: roleIn{s.Database, s.Role}, sessions: map[int]bool{}}
	}
	if len(r.sessions) < sessionsMost {
		r.sessions[s.PID] = true
	}
	if (s.InXact - s.InState).Seconds() < firstWithin.Value {
		r.first++
	} else {
		r.later++
	}
	r.met.meet(s)
	b.runners[text] = r
}

// working are the classes that a setting of the planner, of memory or of the log can change.
var working = append(slices.Clone(work), waits.WAL, waits.Standby)

// transfers are the seconds that sessions waited for disk and log, in so many seconds.
type transfers struct{ seconds, waited float64 }

// during is where waits are counted now: while a checkpoint runs, or between two.
func (b *book) during() *transfers {
	if b.checkpointing {
		return &b.checkpoint
	}
	return &b.between
}

// roleOf those who send a statement of the samples; 0: not known.
func (m *measured) roleOf(text string) roleIn {
	for _, one := range m.sampledAs(text) {
		if r, known := m.book.runners[one]; known {
			return r.user
		}
	}
	return roleIn{}
}

// ownOf are the settings of a role in a database that are not the server's, by name: the most special ones.
func (m *measured) ownOf(user roleIn) map[string]Setting {
	all := map[string]Setting{}
	if m.settings == nil {
		return all
	}
	for _, s := range m.settings.Differ {
		if s.table != "" || !s.holds(user) {
			continue
		}
		if one, known := all[s.Name]; !known || s.rank() >= one.rank() {
			all[s.Name] = s
		}
	}
	return all
}

// settingsOf a role in a database that are not the server's, by name.
func (m *measured) settingsOf(user roleIn) map[string]string {
	all := map[string]string{}
	for name, s := range m.ownOf(user) {
		all[name] = s.Value
	}
	return all
}

// byCheckpoint is how much more sessions waited for disk and log while a checkpoint ran than between two, in seconds;
// not known where one ran nearly all the time, or never.
func (b *book) byCheckpoint() (more float64, known bool) {
	const least = 2 // seconds of each: two looks at the checkpointer
	if b.checkpoint.seconds < least || b.between.seconds < least {
		return 0, false
	}
	usual := b.between.waited / b.between.seconds
	return max(0, b.checkpoint.waited-usual*b.checkpoint.seconds), true
}
