package diagnose

import (
	"slices"

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

// runners of a statement: one of the roles that send it, its sessions as far as they were met, and how often its
// transaction had begun with it, or with another statement.
type runners struct {
	user         roleIn
	sessions     map[int]bool
	first, later int
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

// settingsOf a role in a database that are not the server's, the most special ones.
func (m *measured) settingsOf(user roleIn) map[string]string {
	all, ranks := map[string]string{}, map[string]int{}
	if m.settings == nil {
		return all
	}
	for _, s := range m.settings.Differ {
		if s.table != "" || !s.holds(user) {
			continue
		}
		rank := 1
		if s.user.role != 0 {
			rank += 2
		}
		if s.user.database != 0 {
			rank++
		}
		if rank >= ranks[s.Name] {
			all[s.Name], ranks[s.Name] = s.Value, rank
		}
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
