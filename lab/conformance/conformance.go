// Package conformance plays what an application does with its PostgreSQL server before the application is installed,
// and says which steps that server fails, why, and what to do. It works in a database of its own, which it drops.
package conformance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"plimsoll/ground/postgres"
	"plimsoll/ground/postgres/installation"
	"plimsoll/ground/problem"
)

// Schema of the JSON.
const Schema = 1

// OneC is a 1C server, the application that is known.
const OneC = "1c"

// Applications that can be played.
var Applications = []string{OneC}

// Outcome of a step.
type Outcome string

const (
	OK     Outcome = "ok"
	Failed Outcome = "failed"
	// Note is a step that did not end as expected, without which the application works, slower or with less.
	Note Outcome = "note"
	// Blocked was not played, because a step that it needs failed.
	Blocked Outcome = "blocked"
)

// Step as it was played.
type Step struct {
	Name      string  `json:"name"`
	Statement string  `json:"statement"`
	Expected  string  `json:"expected"`
	Said      string  `json:"said,omitempty"` // by the server
	Outcome   Outcome `json:"outcome"`
	Cure      string  `json:"cure,omitempty"` // absent where the step is ok
}

// Report is the protocol of a check.
type Report struct {
	Schema   int       `json:"schema"`
	For      string    `json:"for"`
	At       time.Time `json:"at"`
	Server   string    `json:"server"` // version and patchset
	Host     string    `json:"host"`
	Role     string    `json:"role"`
	Database string    `json:"database"` // made for the check, and dropped
	Steps    []Step    `json:"steps"`
	OK       int       `json:"ok"`
	Failed   int       `json:"failed"`
	Notes    int       `json:"notes"`
	Blocked  int       `json:"blocked"`
}

// Options of a check.
type Options struct {
	// DSN of any database on the server, as a role that may create databases.
	DSN string
	// Progress receives what is being done. Defaults to silence.
	Progress func(done, all int, step string)
}

// database names are marked by a comment and by the time, so that what a killed check left can be told from what
// another one uses.
const (
	prefix  = "plimsoll_check_"
	mark    = "made by plimsoll check, which drops it at its end"
	leftMin = time.Hour
)

// Check plays the steps of a 1C server. The report is there with an error, too, if the check began.
func Check(ctx context.Context, o Options) (*Report, error) {
	p, err := open(ctx, o)
	if err != nil {
		return nil, err
	}
	err = p.play(ctx, oneCSteps(p.report.Database))
	if ctx.Err() != nil { // whatever the statement under way said
		err = ctx.Err()
	}
	err = errors.Join(err, p.close(context.WithoutCancel(ctx)))
	p.report.count()
	return p.report, err
}

func open(ctx context.Context, o Options) (*player, error) {
	conn, err := postgres.Connect(ctx, o.DSN, applicationName)
	if err != nil {
		return nil, err
	}
	p := &player{options: o, config: conn.Config(), failed: map[string]bool{}}
	p.sessions[admin] = conn.PgConn()
	if err := postgres.Direct(conn); err != nil {
		return nil, errors.Join(err, conn.Close(context.WithoutCancel(ctx)))
	}
	p.report = &Report{Schema: Schema, For: OneC, At: time.Now().UTC().Truncate(time.Second),
		Server: installation.PatchsetOf(conn.PgConn()).String(), Role: conn.Config().User,
		Host:     fmt.Sprintf("%s:%d", conn.Config().Host, conn.Config().Port),
		Database: fmt.Sprintf("%s%d_%d", prefix, time.Now().Unix(), conn.PgConn().PID())}
	if err := p.sweep(ctx); err != nil {
		return nil, errors.Join(err, conn.Close(context.WithoutCancel(ctx)))
	}
	return p, p.mayCreate(ctx)
}

// mayCreate refuses a role that cannot make the database before anything is done.
func (p *player) mayCreate(ctx context.Context) error {
	may, err := p.value(ctx, admin, "SELECT rolsuper OR rolcreatedb FROM pg_roles WHERE rolname = current_user")
	if err == nil && may == "t" {
		return nil
	}
	if err == nil {
		err = problem.New(problem.Environment, fmt.Errorf("role %s may not create databases, and the check works in "+
			"one of its own", p.report.Role), "connect as the role that the 1C server will use, which is a superuser; "+
			"or ALTER ROLE … CREATEDB")
	}
	return errors.Join(err, p.sessions[admin].Close(context.WithoutCancel(ctx)))
}

// sweep drops databases that killed checks left. What cannot be dropped stays: it disturbs nobody.
func (p *player) sweep(ctx context.Context) error {
	const left = `SELECT string_agg(datname, ' ') FROM pg_database
		WHERE substring(datname, '^` + prefix + `([0-9]+)_[0-9]+$')::bigint < %d
		AND shobj_description(oid, 'pg_database') = '` + mark + `'
		AND NOT EXISTS (SELECT FROM pg_stat_activity a WHERE a.datid = pg_database.oid)`
	names, err := p.value(ctx, admin, fmt.Sprintf(left, time.Now().Add(-leftMin).Unix()))
	if err != nil {
		return fmt.Errorf("look for databases of earlier checks: %w", err)
	}
	for _, name := range fields(names) {
		_, _ = p.sessions[admin].Exec(ctx, "DROP DATABASE IF EXISTS "+name).ReadAll()
	}
	return nil
}

// close drops the database.
func (p *player) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for _, conn := range p.sessions[1:] {
		if conn != nil {
			_ = conn.Close(ctx)
		}
	}
	_, err := p.sessions[admin].Exec(ctx, "DROP DATABASE IF EXISTS "+p.report.Database+" WITH (FORCE)").ReadAll()
	if err != nil {
		err = problem.WithHint(fmt.Errorf("drop the database of the check: %w", err),
			"DROP DATABASE "+p.report.Database)
	}
	return errors.Join(err, p.sessions[admin].Close(ctx))
}

func (r *Report) count() {
	for _, s := range r.Steps {
		switch s.Outcome {
		case OK:
			r.OK++
		case Failed:
			r.Failed++
		case Note:
			r.Notes++
		case Blocked:
			r.Blocked++
		}
	}
}

// Err is nil if the application can work on the server.
func (r *Report) Err() error {
	if r.Failed+r.Blocked == 0 {
		return nil
	}
	return problem.New(problem.Threshold, fmt.Errorf("a 1C server cannot work on this server as it is: %d of %d steps "+
		"failed, %d could not be played", r.Failed, len(r.Steps), r.Blocked), "the cures are in the protocol")
}

// errorText is a server's error as the protocol shows it.
func errorText(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return fmt.Sprintf("%s: %s (%s)", pg.Severity, pg.Message, pg.Code)
	}
	return err.Error()
}
