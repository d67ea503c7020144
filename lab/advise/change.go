package advise

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Kind of a change.
type Kind string

// Kinds: a setting of the whole server, or SQL in the database with SQL that undoes it.
const (
	Setting Kind = "setting"
	SQL     Kind = "sql"
)

// Change that --apply makes.
type Change struct {
	Kind Kind `json:"kind"`
	// Name and Value of a setting.
	Name  string `json:"name,omitempty"`
	Value string `json:"value,omitempty"`
	// SQL that makes the change, and SQL that undoes it; empty: there is nothing to undo.
	SQL  string `json:"sql,omitempty"`
	Undo string `json:"undo,omitempty"`
	// Restart: the setting takes effect only after a restart of the server.
	Restart bool `json:"restart,omitempty"`
	// Index that SQL makes or drops, as SQL names it. What a build left unfinished is removed before the next one.
	Index string `json:"index,omitempty"`
	// Library that must exist before the setting may name it: a server with a missing one does not start.
	Library string `json:"library,omitempty"`
}

// set a server's setting.
func (s *server) set(name, value string) Change {
	return Change{Kind: Setting, Name: name, Value: value, Restart: s.settings[name].Context == "postmaster"}
}

func (c Change) text() string {
	if c.Kind == SQL {
		return c.SQL
	}
	return fmt.Sprintf("ALTER SYSTEM SET %s = %s", c.Name, literals(c.Name, c.Value))
}

// lists are the settings whose value is a list of names: PostgreSQL wants each quoted by itself.
var lists = []string{"shared_preload_libraries", "session_preload_libraries", "local_preload_libraries",
	"temp_tablespaces", "search_path", "unix_socket_directories"}

func literals(name, value string) string {
	if !slices.Contains(lists, name) {
		return literal(value)
	}
	var all []string
	for _, item := range strings.Split(value, ",") {
		if item = strings.Trim(strings.TrimSpace(item), `"`); item != "" {
			all = append(all, literal(item))
		}
	}
	if len(all) == 0 {
		return "DEFAULT" // an empty name, which '' would be here, keeps a server from starting
	}
	return strings.Join(all, ", ")
}

// withLibrary adds one to a list of libraries.
func withLibrary(list, library string) string {
	for _, item := range strings.Split(list, ",") {
		if strings.Trim(strings.TrimSpace(item), `"`) == library {
			return list
		}
	}
	if strings.TrimSpace(list) == "" {
		return library
	}
	return list + "," + library
}

func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// complete adds the commands that follow from the changes.
func (s *server) complete(a *Advice) {
	if s.Standby {
		a.onPrimary()
	}
	s.whereItCounts(a)
	restart, reload := false, false
	var undo []string
	for _, c := range a.Changes {
		a.Do = append(a.Do, c.text())
		restart = restart || c.Restart
		reload = reload || c.Kind == Setting && !c.Restart
		if c.Kind == SQL && c.Undo != "" {
			undo = append(undo, c.Undo)
		}
	}
	switch {
	case restart:
		a.Do = append(a.Do, "restart the server")
	case reload:
		a.Do = append(a.Do, "SELECT pg_reload_conf()")
	}
	if a.Revert == "" && a.Applicable() {
		a.Revert = "plimsoll advise --revert"
		if len(undo) > 0 {
			a.Revert += "; manually: " + strings.Join(undo, "; ")
		}
	}
	if a.Prove == "" {
		a.Prove = s.prove(a.Changes)
	}
	if a.Do == nil {
		a.Do = []string{}
	}
}

// nearer are places that override ALTER SYSTEM, which then has no effect.
var nearer = map[string]string{"database": "ALTER DATABASE … SET", "user": "ALTER ROLE … SET",
	"database user": "ALTER ROLE … IN DATABASE … SET", "command line": "the server's command line",
	"environment variable": "the server's environment"}

// whereItCounts leaves to a person what ALTER SYSTEM would set without effect.
func (s *server) whereItCounts(a *Advice) {
	vain := slices.ContainsFunc(a.Changes, func(c Change) bool { return nearer[s.settings[c.Name].Source] != "" })
	if !vain {
		return
	}
	for _, c := range a.Changes {
		if place := nearer[s.settings[c.Name].Source]; place != "" {
			a.Do = append(a.Do, fmt.Sprintf("set %s = %s where it is set now, by %s: ALTER SYSTEM has no effect",
				c.Name, c.Value, place))
		} else {
			a.Do = append(a.Do, c.text())
		}
	}
	a.Prove = cmp.Or(a.Prove, s.prove(a.Changes))
	a.Changes, a.Revert = nil, cmp.Or(a.Revert, "restore the old value there")
}

// onPrimary leaves to a person what a standby cannot do.
func (a *Advice) onPrimary() {
	for _, c := range a.Changes {
		if c.Kind == SQL {
			a.Do = append(a.Do, "on the primary: "+c.SQL)
		}
	}
	a.Changes = slices.DeleteFunc(a.Changes, func(c Change) bool { return c.Kind == SQL })
}

// prove is the comparison of the server as it is with the changed one.
func (s *server) prove(changes []Change) string {
	var flags []string
	server, statements := false, []string{}
	for _, c := range changes {
		if c.Kind == SQL {
			statements = append(statements, strings.ReplaceAll(c.SQL, " CONCURRENTLY", ""))
			continue
		}
		context := s.settings[c.Name].Context
		server = server || context == "postmaster" || context == "sighup"
		flags = append(flags, "--set-b "+shell(c.Name+"="+c.Value))
	}
	if len(statements) > 0 {
		flags = append(flags, "--sql-b "+shell(strings.Join(statements, "; ")))
	}
	return s.compare(flags, server, len(statements) > 0)
}

// compare a side with itself, changed by flags.
func (s *server) compare(flags []string, server, sql bool) string {
	text := strings.Join(flags, " ")
	switch {
	case s.Cluster != "":
		return "plimsoll compare " + s.Cluster + " " + text
	case server:
		return `plimsoll compare --scenario own.toml --dsn-a "$DSN" --dsn-b "$DSN_OF_A_COPY" where the copy has ` + text
	case sql:
		return `plimsoll compare --scenario own.toml --dsn-a "$DSN" --reset template ` + text
	}
	return `plimsoll compare --scenario own.toml --dsn-a "$DSN" ` + text
}

// shell quotes a word for a shell.
func shell(word string) string {
	if word != "" && strings.Trim(word,
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_=.-+/:,") == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
