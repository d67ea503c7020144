package advise

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/host/machine"
	"plimsoll/ground/postgres"
	"plimsoll/ground/problem"
)

// ownName is the application_name of our connections.
const ownName = "plimsoll advise"

// statementMost bounds our own statements.
const statementMost = "30s"

// versionLeast is the oldest supported version.
const versionLeast = 150000

// server is what advice is read from.
type server struct {
	Server
	options  Options
	conn     *pgx.Conn
	number   int // version
	settings map[string]setting
	host     *machine.Facts // nil: its machine cannot be read
	missing  []Unavailable
	ran      []statement // nil: not read yet
	read     []table     // nil: not read yet
	byTable  map[string][]index
	counted  *databaseFigures
	sampled  []string // statements that the diagnosis saw
	// perTransaction is how many seconds pass from one to the next; 0: not measured yet.
	perTransaction float64
}

// setting of the server.
type setting struct {
	Name, Setting, Unit, Context, Kind, Source, File string
	Line                                             int
	Pending                                          bool
}

func attach(ctx context.Context, o Options) (*server, error) {
	conn, err := postgres.Connect(ctx, o.DSN, ownName, postgres.Reading(statementMost)...)
	if err != nil {
		return nil, err
	}
	s := &server{options: o, conn: conn}
	if err := s.open(ctx); err != nil {
		s.close(ctx)
		return nil, err
	}
	return s, nil
}

func (s *server) close(ctx context.Context) { s.conn.Close(context.WithoutCancel(ctx)) }

const whoSQL = `SELECT current_setting('server_version_num')::int, current_setting('server_version'),
	current_database(),
	current_user, pg_is_in_recovery(), pg_has_role('pg_read_all_stats', 'USAGE')
	AND pg_has_role('pg_read_all_settings', 'USAGE')`

const settingsSQL = `SELECT name, setting, coalesce(unit, '') AS unit, context, vartype AS kind, source,
	coalesce(sourcefile, '') AS file, coalesce(sourceline, 0) AS line, pending_restart AS pending
	FROM pg_settings`

func (s *server) open(ctx context.Context) error {
	var may bool
	if err := s.conn.QueryRow(ctx, whoSQL).Scan(&s.number, &s.Version, &s.Database, &s.User, &s.Standby,
		&may); err != nil {
		return fmt.Errorf("inspect the server: %w", err)
	}
	s.Cluster = s.options.Cluster
	switch {
	case s.number < versionLeast:
		return problem.New(problem.Environment, fmt.Errorf("the server is PostgreSQL "+
			"%s; the oldest supported version is 15", s.Version), "")
	case !may:
		return problem.New(problem.Environment, fmt.Errorf("user %s may not see "+
			"the server's activity and settings", s.User), "GRANT pg_monitor TO "+pgx.Identifier{s.User}.Sanitize())
	}
	all, err := ask[setting](ctx, s, settingsSQL)
	if err != nil {
		return fmt.Errorf("read settings: %w", err)
	}
	s.settings = map[string]setting{}
	for _, one := range all {
		s.settings[one.Name] = one
	}
	s.lookAtMachine(ctx)
	return nil
}

// lookAtMachine reads memory and disk where the server runs on this machine.
func (s *server) lookAtMachine(ctx context.Context) {
	here, err := postgres.Inspect(ctx, s.options.DSN)
	if err != nil || here.Postmaster == 0 {
		s.miss("machine", "the server runs elsewhere, or in a container: its memory, disk and files are not visible")
		return
	}
	// What binds the server counts: its control group may be another one than ours.
	facts, err := machine.ReadOf(here.Postmaster, s.value("data_directory"))
	if err != nil {
		s.miss("machine", err.Error())
		return
	}
	s.host, s.MemoryBytes = &facts, &facts.MemoryBytes
}

// ask for rows as structs, by the names of their columns.
func ask[T any](ctx context.Context, s *server, sql string, args ...any) ([]T, error) {
	rows, err := s.conn.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByNameLax[T])
}

// one row; nil if there is none.
func one[T any](ctx context.Context, s *server, sql string, args ...any) (*T, error) {
	all, err := ask[T](ctx, s, sql, args...)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return &all[0], nil
}

func (s *server) miss(name, why string) { s.missing = append(s.missing, Unavailable{name, why}) }

func (s *server) missed(name string) bool {
	for _, m := range s.missing {
		if m.Name == name || strings.HasPrefix(m.Name, name+":") {
			return true
		}
	}
	return false
}

func (s *server) value(name string) string { return s.settings[name].Setting }

// number of a setting in its own unit; NaN if there is none.
func (s *server) figure(name string) float64 {
	x, err := strconv.ParseFloat(s.value(name), 64)
	if err != nil {
		return math.NaN()
	}
	return x
}

var unitBytes = map[string]float64{"B": 1, "kB": 1 << 10, "8kB": 8 << 10, "MB": 1 << 20, "16MB": 16 << 20,
	"GB": 1 << 30}

// bytes of a setting; NaN if it is no amount of memory.
func (s *server) bytes(name string) float64 {
	unit, known := unitBytes[s.settings[name].Unit]
	if !known {
		return math.NaN()
	}
	return s.figure(name) * unit
}

// where a setting comes from, as evidence.
func (s *server) where(name string) string {
	one := s.settings[name]
	if one.File == "" {
		return one.Source
	}
	return fmt.Sprintf("%s, line %d", one.File, one.Line)
}

// settingSize is an amount as PostgreSQL reads it, rounded to whole megabytes.
func settingSize(bytes float64) string {
	return fmt.Sprintf("%.0fMB", max(1, math.Floor(bytes/(1<<20))))
}

// quoted name of a relation, whose schema is part of it.
func quoted(schema, name string) string { return pgx.Identifier{schema, name}.Sanitize() }

// plainName of a relation, for people and IDs.
func plainName(schema, name string) string { return schema + "." + name }
