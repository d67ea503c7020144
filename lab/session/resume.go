package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"plimsoll/ground/host/kept"
	"plimsoll/ground/postgres/identity"
	"plimsoll/ground/problem"
)

// Origin is what made turns, besides their settings: turns of two origins are never combined.
type Origin struct {
	Program string
	Server  *identity.Identity // nil: no database is known
}

// Foreign says in what WHAT, which was kept before, is of another origin; empty: in nothing.
func (o Origin) Foreign(before Origin, what string) string {
	switch {
	case o.Program != before.Program:
		return fmt.Sprintf("%s was made by plimsoll %s, this is %s", what,
			cmp.Or(before.Program, "of an older version"), o.Program)
	case o.Server == nil && before.Server == nil:
		return ""
	case o.Server == nil || before.Server == nil:
		return what + " does not record its server"
	}
	if difference := o.Server.Difference(*before.Server); difference != "" {
		return fmt.Sprintf("%s is of another server: %s", what, difference)
	}
	return ""
}

// Mixed is the problem of a session that cannot continue because it is foreign.
func Mixed(foreign string) error {
	return problem.New(problem.Usage, errors.New(foreign),
		"its turns cannot be mixed with new ones: start over without --resume, or continue on the server and version "+
			"that it began with")
}

// Match compares a session that was kept with the one to resume. The zero one is of a session that has ended.
type Match struct {
	Same    bool   // it has the same settings and was stopped
	Foreign string // but it is of another origin; empty: it can continue
	Hint    string // how its settings differ
}

// Resume finds the newest session of a folder that can continue, and holds it for this process until release is called.
// One that another process works on is refused. Files that cannot be read are of other kinds or versions. Where none
// can continue, the error names the newest that is foreign, or hints at how the newest differs.
func Resume[T any](ctx context.Context, folder kept.Folder, kind string, read func(path string) (*T, error),
	match func(id string, one *T) Match) (found *T, release func(), err error) {
	ids, err := folder.IDs()
	if err != nil {
		return nil, nil, err
	}
	foreign, hint := "", ""
	for _, id := range ids {
		_, m, ok := try(folder, id, read, match)
		if ok {
			if release, err = folder.Hold(ctx, id); err != nil {
				return nil, nil, err
			}
			if found, m, ok = try(folder, id, read, match); ok { // as whoever held it has left it
				return found, release, nil
			}
			release()
		}
		foreign, hint = cmp.Or(foreign, m.Foreign), cmp.Or(hint, m.Hint)
	}
	if foreign != "" {
		return nil, nil, Mixed(foreign)
	}
	return nil, nil, NothingStopped(kind, hint)
}

func try[T any](folder kept.Folder, id string, read func(path string) (*T, error),
	match func(id string, one *T) Match) (one *T, m Match, ok bool) {
	one, err := read(folder.ResultPath(id))
	if err != nil {
		return nil, m, false
	}
	m = match(id, one)
	return one, m, m.Same && m.Foreign == ""
}

// NothingStopped is the problem of --resume without a session that can continue.
func NothingStopped(kind, hint string) error {
	return problem.New(problem.Usage, fmt.Errorf("there is no stopped %s with these settings", kind),
		cmp.Or(hint, "start one: the same command without --resume"))
}
