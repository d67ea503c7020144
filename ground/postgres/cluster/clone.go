package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/host/process"
	"plimsoll/ground/postgres"
	"plimsoll/ground/postgres/installation"
	"plimsoll/ground/problem"
)

// CloneOptions say how a running server is copied.
type CloneOptions struct {
	// Pace is the most that is sent in a second, as pg_basebackup takes it: 50M; empty: no limit.
	Pace string
	// Fast makes the server checkpoint at once. Otherwise its checkpoint is spread, which may take minutes before the
	// copy begins, and disturbs nobody.
	Fast bool
}

// source is the running server of somebody that a clone is made of.
type source struct {
	CloneOptions
	config  *pgx.ConnConfig
	ssl     string // parameters of the connection string that the driver does not keep as text
	bytes   int64
	major   int
	level   string
	senders int
	may     bool
	block   string
	segment string
	// What initdb would have written into postgresql.conf.
	zone, dates, search string
	libraries           *string // null: the role may not read it
	subscriptions       int
	spaces              []space
}

// Clone makes a stopped cluster that is a copy of a running server, which needs no more than a role with REPLICATION
// and its protocol: no file of a backup lies in between, and the copy is as of one moment. What would reach out from
// the copy to others is off: the server's own settings (its archive, its standbys, its libraries) are not taken over,
// and subscriptions are disabled.
func (s *Store) Clone(ctx context.Context, name string, spec Spec, dsn string, o CloneOptions) (*Cluster, error) {
	from, err := openSource(ctx, dsn, o)
	if err != nil {
		return nil, err
	}
	spec.clone = from
	c, err := s.Create(ctx, name, spec)
	if err != nil {
		return nil, err
	}
	if l := from.libraries; l == nil {
		s.say("note: the role may not read the server's settings: whether it loads libraries at its start is not known")
	} else if *l != "" {
		s.say("note: the server loads %s at its start; the copy does not, unless its profile or --setting says so", *l)
	}
	if from.subscriptions > 0 {
		s.say("note: %d subscriptions are disabled in the copy: they would take the changes meant for the original",
			from.subscriptions)
	}
	return c, nil
}

const sourceSQL = `SELECT coalesce((SELECT sum(pg_database_size(oid)) FROM pg_database
		WHERE has_database_privilege(oid, 'CONNECT')), 0)::bigint,
	current_setting('server_version_num')::int / 10000, current_setting('wal_level'),
	current_setting('max_wal_senders')::int,
	(SELECT rolsuper OR rolreplication FROM pg_roles WHERE rolname = current_user),
	current_setting('block_size'), current_setting('segment_size'),
	current_setting('TimeZone'), current_setting('DateStyle'), current_setting('default_text_search_config'),
	(SELECT setting FROM pg_settings WHERE name = 'shared_preload_libraries'),
	(SELECT count(*) FROM pg_subscription)::int`

// sourceSpacesSQL is spacesSQL for a role that may not ask for sizes.
const sourceSpacesSQL = `SELECT oid, spcname, pg_tablespace_location(oid) FROM pg_tablespace
	WHERE spcname NOT IN ('pg_default', 'pg_global') AND pg_tablespace_location(oid) LIKE '/%' ORDER BY oid`

// sslParameters of a connection string, in both of its forms.
var sslParameters = regexp.MustCompile(`\b(sslmode|sslrootcert|sslcert|sslkey)\s*=\s*('[^']*'|[^\s&]+)`)

func openSource(ctx context.Context, dsn string, o CloneOptions) (*source, error) {
	from := &source{CloneOptions: o}
	var err error
	if from.config, err = pgx.ParseConfig(dsn); err != nil {
		return nil, problem.New(problem.Usage, fmt.Errorf("read the connection string: %w", err),
			"postgres://user@host:5432/database")
	}
	for _, m := range sslParameters.FindAllString(dsn, -1) {
		from.ssl += " " + m
	}
	conn, err := postgres.Connect(ctx, dsn, "plimsoll", postgres.Reading("1min")...)
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if err := conn.QueryRow(ctx, sourceSQL).Scan(&from.bytes, &from.major, &from.level, &from.senders, &from.may,
		&from.block, &from.segment, &from.zone, &from.dates, &from.search, &from.libraries,
		&from.subscriptions); err != nil {
		return nil, fmt.Errorf("ask the server what a copy takes: %w", err)
	}
	rows, err := conn.Query(ctx, sourceSpacesSQL)
	if err != nil {
		return nil, fmt.Errorf("list the tablespaces: %w", err)
	}
	if from.spaces, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (s space, err error) {
		return s, row.Scan(&s.OID, &s.Name, &s.location)
	}); err != nil {
		return nil, fmt.Errorf("list the tablespaces: %w", err)
	}
	return from, from.check()
}

// The sizes that every server here is compiled with.
const (
	blockSize   = "8192"
	segmentSize = "1GB"
)

// check says what keeps the server from being copied.
func (f *source) check() error {
	environment := func(hint, format string, args ...any) error {
		return problem.New(problem.Environment, fmt.Errorf(format, args...), hint)
	}
	switch {
	case !f.may:
		return environment(fmt.Sprintf("let a superuser run: ALTER ROLE %s REPLICATION",
			pgx.Identifier{f.config.User}.Sanitize()), "the role %s may not copy the server", f.config.User)
	case f.level == "minimal" || f.senders == 0:
		return environment("wal_level = replica and max_wal_senders = 2 on that server, which has to be restarted",
			"the server runs with wal_level=%s and max_wal_senders=%d: it cannot be copied while it runs", f.level,
			f.senders)
	case f.block != blockSize || f.segment != segmentSize:
		return environment("dump it instead: pg_dump | psql", "the server is compiled with blocks of %s bytes and "+
			"files of %s, servers here with %s and %s", f.block, f.segment, blockSize, segmentSize)
	}
	return nil
}

// conninfo for PostgreSQL's programs, without the password.
func (f *source) conninfo() string {
	return fmt.Sprintf("%s port=%d %s%s", postgres.Parameter("host", f.config.Host), f.config.Port,
		postgres.Parameter("user", f.config.User), f.ssl)
}

// passLine of libpq's file for this server.
func (f *source) passLine() string {
	return "*:*:*:*:" + strings.NewReplacer(`\`, `\\`, `:`, `\:`).Replace(f.config.Password) + "\n"
}

// clonePass is the password file of the copying program; it goes when that has ended.
const clonePass = "clone.pgpass"

// fillClone copies the server's data and makes them a cluster's own.
func (s *Store) fillClone(ctx context.Context, dir string, srv installation.Server, account *process.Account,
	from *source, m marker, password string) error {
	program, err := srv.Program("pg_basebackup")
	if err != nil {
		return err
	}
	if err := Room(dir, from.bytes); err != nil {
		return err
	}
	pass := filepath.Join(dir, clonePass)
	if err := writeFile(pass, []byte(from.passLine()), 0o600); err != nil {
		return err
	}
	defer func() { _ = os.Remove(pass) }()
	if err := account.Own(pass); err != nil {
		return environment(err)
	}
	spaces, err := mapped(from.spaces, account, func(t Tablespace) string { return m.location(dir, t) })
	if err != nil {
		return err
	}
	data := filepath.Join(dir, "data")
	application := "plimsoll-copy-" + newPassword()
	cmd := exec.Command(program, append([]string{"--pgdata", data, "--format", "plain", "--wal-method", "stream",
		"--no-password", "--dbname", from.conninfo()}, spaces...)...)
	if from.Fast {
		cmd.Args = append(cmd.Args, "--checkpoint", "fast")
	}
	if from.Pace != "" {
		cmd.Args = append(cmd.Args, "--max-rate", from.Pace)
	}
	if m.Unsafe {
		cmd.Args = append(cmd.Args, "--no-sync")
	}
	cmd.Env = []string{"PGPASSFILE=" + pass, "PGAPPNAME=" + application}
	open := func(ctx context.Context) (*pgx.Conn, error) {
		return postgres.Open(ctx, from.config.Copy(), postgres.Reading("10s")...)
	}
	if err := s.copyWatched(ctx, open, application, func() error {
		return fillData(ctx, srv, account, data, cmd)
	}); err != nil {
		return err
	}
	for _, t := range from.spaces {
		if err := relink(data, account, t.OID, m.location(s.path(m.Name), t.Tablespace)); err != nil {
			return err
		}
	}
	if err := from.replaceFiles(data, account); err != nil {
		return err
	}
	return from.takeOver(ctx, srv, account, data, password)
}

// theirs are files of the server that would have the copy act as the server: write into its archive, follow its
// primary, load its libraries, let in whom it lets in. They are kept under another name, for who wants to look.
var theirs = []string{"postgresql.conf", "postgresql.auto.conf", "pg_hba.conf", "pg_ident.conf"}

// hba lets in who has a password, from this machine, as initdb writes it for our own clusters.
const hba = `# TYPE  DATABASE  USER  ADDRESS  METHOD
local   all           all                scram-sha-256
host    all           all  127.0.0.1/32  scram-sha-256
host    all           all  ::1/128       scram-sha-256
local   replication   all                scram-sha-256
host    replication   all  127.0.0.1/32  scram-sha-256
host    replication   all  ::1/128       scram-sha-256
`

func (f *source) replaceFiles(data string, account *process.Account) (err error) {
	quote := func(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
	conf := fmt.Sprintf("timezone = %s\nlog_timezone = %s\ndatestyle = %s\ndefault_text_search_config = %s\n",
		quote(f.zone), quote(f.zone), quote(f.dates), quote(f.search)) + includes
	account.WithPermissions(func() {
		for _, name := range theirs {
			path := filepath.Join(data, name)
			if e := os.Rename(path, path+".source"); e != nil && !errors.Is(e, os.ErrNotExist) {
				err = errors.Join(err, e)
			}
		}
		for _, name := range []string{standbySignal, "recovery.signal"} { // of a standby
			if e := os.Remove(filepath.Join(data, name)); e != nil && !errors.Is(e, os.ErrNotExist) {
				err = errors.Join(err, e)
			}
		}
	})
	if err != nil {
		return environment(err)
	}
	for name, text := range map[string]string{"postgresql.conf": conf, "postgresql.auto.conf": "", "pg_hba.conf": hba,
		"pg_ident.conf": ""} {
		if err := newDataFile(filepath.Join(data, name), account, text); err != nil {
			return err
		}
	}
	return nil
}

// newDataFile makes a file of the data. O_EXCL follows no link.
func newDataFile(path string, account *process.Account, text string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return environment(err)
	}
	_, err = f.WriteString(text)
	return environment(errors.Join(err, account.OwnOpen(f), f.Sync(), f.Close()))
}

// takeOver recovers the copy and gives it the superuser that our clusters have, in a server without any other process:
// nobody can connect, and nothing of the copy reaches out before it is disabled.
func (f *source) takeOver(ctx context.Context, srv installation.Server, account *process.Account, data,
	password string) error {
	program, err := srv.Program("postgres")
	if err != nil {
		return err
	}
	role := pgx.Identifier{Superuser}.Sanitize()
	// A line is a command.
	sql := strings.Join([]string{
		fmt.Sprintf("DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = '%s') "+
			"THEN CREATE ROLE %s; END IF; END $$", Superuser, role),
		fmt.Sprintf("ALTER ROLE %s SUPERUSER LOGIN REPLICATION CREATEROLE CREATEDB PASSWORD '%s' "+
			"VALID UNTIL 'infinity'",
			role, password),
		"UPDATE pg_catalog.pg_subscription SET subenabled = false WHERE subenabled",
	}, "\n") + "\n"
	cmd := exec.Command(program, "--single", "-D", data, "-c", "log_min_messages=error", "-c",
		"password_encryption=scram-sha-256", "template1")
	cmd.Stdin = strings.NewReader(sql)
	output, err := runFilling(ctx, srv, account, data, cmd)
	if err != nil {
		return err
	}
	for line := range strings.Lines(output) { // in this mode a failed command does not end the program
		if strings.Contains(line, "ERROR:") || strings.Contains(line, "FATAL:") {
			return problem.New(problem.Environment, fmt.Errorf("take over the copy: %s", strings.TrimSpace(line)), "")
		}
	}
	return nil
}
