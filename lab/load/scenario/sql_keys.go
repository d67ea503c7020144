package scenario

import (
	"fmt"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/ground/problem"
	"plimsoll/ground/tomlfile"
	"plimsoll/lab/load/custom"
	"plimsoll/lab/load/script"
)

// connectionsMax is more than a server has.
const connectionsMax = 10_000

// sqlKeys are those of the sessions of the database.
func sqlKeys() []key {
	return []key{
		{"sql.session", false, session},
		{"sql.connections", false, connections},
		{"sql.connect", false, connect},
		{"sql.retries", false, count(0, custom.RetriesMax, func(r *reader, n int) { r.Own.Retries = n })},
	}
}

func session(r *reader, e tomlfile.Entry) error {
	s, _ := e.Raw.(string)
	switch custom.Session(s) {
	case custom.Shared:
		r.Own.Session = ""
	case custom.OfUser:
		r.Own.Session = custom.OfUser
	default:
		words := []string{string(custom.Shared), string(custom.OfUser)}
		return r.wrong(e, fmt.Sprintf("must be one of %s, not %v", strings.Join(words, ", "), e.Raw),
			human.NearestHint(s, words, ""))
	}
	return nil
}

// connections that users share. In files of a 1C load 0 stands for session = "user".
func connections(r *reader, e tomlfile.Entry) error {
	if e.Raw == int64(0) && r.Application == OneC {
		r.Own.Session = custom.OfUser
		return nil
	}
	return count(1, connectionsMax, func(r *reader, n int) { r.Own.Connections = n })(r, e)
}

// connect is a script that each new session runs.
func connect(r *reader, e tomlfile.Entry) (err error) {
	s, ok := e.Raw.(string)
	if !ok {
		return r.wrong(e, fmt.Sprintf("takes text in quotes, not %v", e.Raw), "")
	}
	content, path, line, _ := inline(r, e, s)
	if r.connect, err = parseAt(e, content, path, line); err != nil {
		return err
	}
	switch {
	case !r.connect.HasSQL():
		return r.wrong(e, "has no SQL", "such as SET or CREATE TEMP TABLE")
	case r.connect.Pipeline:
		return r.wrong(e, `\startpipeline is not possible here: the statements are sent as text`, "")
	}
	r.Own.Connect = s
	return nil
}

// completeSQL checks what sessions have to do with each other.
func (r *reader) completeSQL() error {
	entries := map[string]tomlfile.Entry{}
	for _, e := range r.file.Entries {
		if len(e.Key) == 2 && e.Key[0] == "sql" {
			entries[e.Key[1]] = e
		}
	}
	given, shares := entries["connections"]
	said, says := entries["session"]
	const leaveOut = "leave one of the two out"
	switch {
	case shares && says && given.Raw == int64(0) && said.Raw != string(custom.OfUser):
		return r.wrong(given, `0 is a session for each user, and session says "shared"`, leaveOut)
	case shares && says && given.Raw != int64(0) && r.Own.Session == custom.OfUser:
		return r.wrong(given, `has no effect with session = "user": each user has a connection`, leaveOut)
	}
	if r.Own.Session == custom.OfUser {
		r.Own.Connections = 0
	}
	if r.connect == nil {
		return nil
	}
	known := r.variablesSet()
	if r.Own.Session != custom.OfUser {
		delete(known.Names, script.ClientID) // a session has no user
	}
	for _, use := range r.connect.Uses(script.Simple) {
		if !known.Has(use.Name) {
			return problem.New(problem.Usage, fmt.Errorf("%s: sql.connect, line %d of the script: nothing sets the "+
				"variable %s", r.file.At(entries["connect"].Line), use.Line, use.Name), "give it in [variables]")
		}
	}
	return nil
}

// printSessions of users who use SQL.
func (s *Scenario) printSessions(b *strings.Builder) {
	if s.Own.Session == custom.OfUser {
		b.WriteString("[sql]\nsession = \"user\"          # a session for each user; \"shared\": connections for all\n")
		return
	}
	fmt.Fprintf(b, "[sql]\nconnections = %d         # sessions that all users share; or session = \"user\": one "+
		"for each user\n", s.Own.Connections)
}
