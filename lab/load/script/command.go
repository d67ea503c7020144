package script

// command of a script.
type command struct {
	line int
	verb string // "sql", "set", "sleep", "if", "startpipeline", "syncpipeline", "endpipeline"

	name       string     // of the variable that \set assigns
	expression Expression // set

	sleep sleep

	sql    string   // as written
	bound  string   // with $1, $2, … for the variables
	params []string // their names, in order
	get    string   // "gset", "aset" or nothing
	prefix string   // of the variables it sets

	branches []branch // if
}

// branch of an \if; the condition of \else is always true.
type branch struct {
	condition Expression
	body      []command
}

type sleep struct {
	variable string // or, when empty,
	number   int64
	unit     string
}

// Script is a key operation in SQL.
type Script struct {
	text     string
	commands []command
	Pipeline bool // it has a pipeline, which the simple protocol lacks
}

// Text is the script as written.
func (s *Script) Text() string { return s.text }

// HasSQL says whether the script sends anything to a database.
func (s *Script) HasSQL() bool { return hasSQL(s.commands) }

func hasSQL(all []command) bool {
	for _, c := range all {
		if c.verb == "sql" {
			return true
		}
		for _, b := range c.branches {
			if hasSQL(b.body) {
				return true
			}
		}
	}
	return false
}
