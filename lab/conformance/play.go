package conformance

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"plimsoll/ground/problem"
)

const applicationName = "plimsoll check"

// Sessions of a check.
const (
	admin  = iota // in the database that the user named
	first         // the application's, in the database of the check
	second        // another of the application's, for locks
	sessions
)

// step is one to be played.
type step struct {
	name, sql string
	// want is the first value of the last result; "" is any, none is no row.
	want string
	// code of the error that is expected instead of a value; anyError is any.
	code string
	// fits replaces want where more than one value will do; expected describes it.
	fits     func(value string) bool
	expected string
	cure     string
	session  int
	// after are steps without which this one says nothing.
	after []string
	// optional steps leave a note where they fail.
	optional bool
	// oneOf is a group of steps of which one must succeed; the others then are notes.
	oneOf string
}

const (
	none     = "no row"
	anyError = "*"
)

func (s step) expectation() string {
	switch {
	case s.expected != "":
		return s.expected
	case s.code != "":
		return "error " + s.code
	case s.want != "":
		return s.want
	}
	return "no error"
}

func (s step) accepts(value string, err error) bool {
	var pg *pgconn.PgError
	switch {
	case s.code != "":
		return errors.As(err, &pg) && (pg.Code == s.code || s.code == anyError)
	case err != nil:
		return false
	case s.fits != nil:
		return s.fits(value)
	}
	return s.want == "" || s.want == value
}

// player plays steps on its sessions.
type player struct {
	options  Options
	config   *pgx.ConnConfig
	report   *Report
	sessions [sessions]*pgconn.PgConn
	failed   map[string]bool
}

// play ends with an error only where the server is gone or the user has stopped it.
func (p *player) play(ctx context.Context, all []step) error {
	for i, s := range all {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if p.options.Progress != nil {
			p.options.Progress(i, len(all), s.name)
		}
		done := Step{Name: s.name, Statement: strings.Join(strings.Fields(s.sql), " "), Expected: s.expectation()}
		if missing := p.missing(s); missing != "" {
			p.block(s, done, missing)
			continue
		}
		value, err := p.value(ctx, s.session, s.sql)
		if err != nil && !answered(err) {
			return problem.New(problem.Environment, fmt.Errorf("step %s: %w", s.name, err), "see the server's log")
		}
		if done.Outcome = OK; !s.accepts(value, err) {
			p.failed[s.name] = true
			if done.Outcome, done.Cure = Failed, s.cure; s.optional {
				done.Outcome = Note
			}
		}
		if done.Said = value; err != nil {
			done.Said = errorText(err)
		}
		p.report.Steps = append(p.report.Steps, done)
	}
	p.settle(all)
	return nil
}

// block records a step that is not played.
func (p *player) block(s step, done Step, missing string) {
	if done.Outcome = Blocked; s.optional {
		done.Outcome = Note
	}
	done.Said, done.Cure = "not sent: "+missing+" is not ok", "that of "+missing
	p.failed[s.name] = true
	p.report.Steps = append(p.report.Steps, done)
}

// answered says that the server itself refused the statement and goes on.
func answered(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Severity != "FATAL" && pg.Severity != "PANIC"
}

// missing is the first step that s needs and that failed.
func (p *player) missing(s step) string {
	for _, name := range s.after {
		if p.failed[name] {
			return name
		}
	}
	return ""
}

// settle turns failed steps of a group into notes if another step of it succeeded.
func (p *player) settle(all []step) {
	succeeded := map[string]bool{}
	for i, done := range p.report.Steps {
		if done.Outcome == OK {
			succeeded[all[i].oneOf] = true
		}
	}
	for i := range p.report.Steps {
		done := &p.report.Steps[i]
		if group := all[i].oneOf; group != "" && done.Outcome == Failed && succeeded[group] {
			done.Outcome = Note
		}
	}
}

// value sends statements as the application does, as one text without parameters, and gives the first value of the
// last result, or the command's tag.
func (p *player) value(ctx context.Context, session int, sql string) (string, error) {
	if session == admin { // cut off, the server would go on with CREATE DATABASE, after we have dropped what is there
		ctx = context.WithoutCancel(ctx)
	}
	conn, err := p.session(ctx, session)
	if err != nil {
		return "", err
	}
	results, err := conn.Exec(ctx, sql).ReadAll()
	if conn.TxStatus() == 'E' {
		_, _ = conn.Exec(ctx, "ROLLBACK").ReadAll()
	}
	if err != nil {
		return "", err
	}
	last := results[len(results)-1]
	switch {
	case len(last.Rows) == 0 && last.CommandTag.Select():
		return none, nil
	case len(last.Rows) == 0:
		return last.CommandTag.String(), nil
	case last.Rows[0][0] == nil:
		return "NULL", nil
	}
	return string(last.Rows[0][0]), nil
}

func (p *player) session(ctx context.Context, n int) (*pgconn.PgConn, error) {
	if p.sessions[n] == nil {
		config := p.config.Copy()
		config.Database = p.report.Database
		conn, err := pgconn.ConnectConfig(ctx, &config.Config)
		if err != nil {
			return nil, err
		}
		p.sessions[n] = conn
	}
	return p.sessions[n], nil
}

func fields(text string) []string {
	if text == "NULL" {
		return nil
	}
	return strings.Fields(text)
}
