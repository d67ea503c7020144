package onec

import "time"

// Journal hears what a player does, as the log of a 1C server would have it. All users call it at once.
type Journal interface {
	Statement(Statement)
	Call(Call)
}

// Statement that was sent to the database, and what became of it.
type Statement struct {
	User    int
	Process uint32 // of the session, on the database's server
	// Numbered: the server knows the number of its session. The platform's does from a session's first transaction on,
	// and from when it hands the session to others.
	Numbered     bool
	Transaction  bool // it is part of one
	Text         string
	Began, Ended time.Time
	Rows         int64 // returned or changed, of the last one in the text
	Tuples       bool  // it returns rows
	Err          error
}

// Call is an operation that a user had carried out.
type Call struct {
	User         int
	Operation    string // its id
	Began, Ended time.Time
	Err          error
}
