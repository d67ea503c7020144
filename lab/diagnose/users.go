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
