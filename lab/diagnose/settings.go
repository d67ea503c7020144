package diagnose

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/postgres/counters"
)

// Settings that differ from the server's, of roles, databases and tables, and what runs for each statement.
type Settings struct {
	Differ       []Setting `json:"differ"`
	PerStatement []Setting `json:"per_statement"`
	// DeadlockS is deadlock_timeout; 0: not known.
	DeadlockS float64 `json:"deadlock_timeout_s"`
	// LogMost is max_wal_size in bytes; 0: not known.
	LogMost float64 `json:"max_wal_size_bytes"`

	boot map[string]string // PostgreSQL's own values, by name
}

// Setting with the value that it has for somebody.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	// Server is the value that others have; empty: not known, or a table's own.
	Server string `json:"server"`
	// Of whom it is: "role app", "database shop", "table public.orders", "the server".
	Of string `json:"of"`
	// Says what it does to statements.
	Says string `json:"says"`

	user     roleIn // 0: any
	table    string
	function string // without its schema
	boot     string // PostgreSQL's own value
}

func (s Setting) text() string {
	server := ""
	if s.Server != "" && s.Server != s.Value {
		server = " (others: " + s.Server + ")"
	}
	return fmt.Sprintf("%s = %s%s of %s: %s", s.Name, s.Value, server, s.Of, s.Says)
}

// holds for sessions of a role in a database; what a function has holds within it alone.
func (s Setting) holds(user roleIn) bool {
	return s.function == "" && (s.user.role == 0 || s.user.role == user.role) &&
		(s.user.database == 0 || s.user.database == user.database)
}

// rank of a setting among those of its name that hold: that of a role in a database is the most special.
func (s Setting) rank() (rank int) {
	if s.user.role != 0 {
		rank += 2
	}
	if s.user.database != 0 {
		rank++
	}
	return rank
}

const (
	userSettingsSQL = `SELECT s.setdatabase, s.setrole, coalesce(d.datname::text, ''), coalesce(r.rolname::text, ''),
		unnest(s.setconfig) FROM pg_db_role_setting s LEFT JOIN pg_database d ON d.oid = s.setdatabase
		LEFT JOIN pg_roles r ON r.oid = s.setrole LIMIT 1000`
	serverSettingsSQL = `SELECT name, coalesce(reset_val, ''), coalesce(unit, ''), coalesce(boot_val, '')
		FROM pg_settings`
	// Limits of connections stand in the catalogs of roles and databases.
	limitsSQL = `SELECT 0::oid, oid, '', rolname::text, rolconnlimit::text FROM pg_roles WHERE rolconnlimit >= 0
		UNION ALL SELECT oid, 0::oid, datname::text, '', datconnlimit::text FROM pg_database WHERE datconnlimit >= 0
		LIMIT 1000`
	functionSettingsSQL = `SELECT n.nspname || '.' || p.proname, p.proname::text, unnest(p.proconfig) FROM pg_proc p
		JOIN pg_namespace n ON n.oid = p.pronamespace WHERE p.proconfig IS NOT NULL
		AND n.nspname NOT IN ('pg_catalog', 'information_schema') LIMIT 1000`
	tablespaceSettingsSQL = `SELECT spcname::text, '', unnest(spcoptions) FROM pg_tablespace
		WHERE spcoptions IS NOT NULL LIMIT 1000`
	tableSettingsSQL = `SELECT n.nspname || '.' || c.relname, unnest(c.reloptions) FROM pg_class c
		JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE c.reloptions IS NOT NULL AND c.relkind IN ('r', 'm', 'p') LIMIT 1000`
)

// serverSetting is what a session has that sets nothing itself.
type serverSetting struct{ value, unit, boot string }

// readSettings of roles, databases, tables and the server. Values are shown of known settings alone: others may hold
// secrets.
func readSettings(ctx context.Context, conn *pgx.Conn) (*Settings, error) {
	server := map[string]serverSetting{}
	var name string
	var one serverSetting
	rows, err := conn.Query(ctx, serverSettingsSQL)
	if err != nil {
		return nil, fmt.Errorf("read settings: %w", err)
	}
	if _, err := pgx.ForEachRow(rows, []any{&name, &one.value, &one.unit, &one.boot}, func() error {
		server[name] = one
		return nil
	}); err != nil {
		return nil, fmt.Errorf("read settings: %w", err)
	}
	s := &Settings{Differ: []Setting{}, PerStatement: []Setting{}, boot: map[string]string{}}
	for name, one := range server {
		s.boot[name] = one.boot
	}
	var user roleIn
	var database, role, assignment string
	for _, sql := range []string{userSettingsSQL, limitsSQL} {
		if rows, err = conn.Query(ctx, sql); err != nil {
			return nil, fmt.Errorf("read settings of roles: %w", err)
		}
		if _, err := pgx.ForEachRow(rows, []any{&user.database, &user.role, &database, &role, &assignment},
			func() error {
				if sql == limitsSQL {
					assignment = connectionLimit + "=" + assignment
				}
				s.ofUser(user, database, role, assignment, server)
				return nil
			}); err != nil {
			return nil, fmt.Errorf("read settings of roles: %w", err)
		}
	}
	var object, plain string
	for kind, sql := range map[string]string{functionKind: functionSettingsSQL, tablespaceKind: tablespaceSettingsSQL} {
		if rows, err = conn.Query(ctx, sql); err != nil {
			return nil, fmt.Errorf("read settings of each %s: %w", kind, err)
		}
		if _, err := pgx.ForEachRow(rows, []any{&object, &plain, &assignment}, func() error {
			s.ofObject(kind, object, plain, assignment, server)
			return nil
		}); err != nil {
			return nil, fmt.Errorf("read settings of each %s: %w", kind, err)
		}
	}
	if rows, err = conn.Query(ctx, tableSettingsSQL); err != nil {
		return nil, fmt.Errorf("read settings of tables: %w", err)
	}
	var table string
	if _, err := pgx.ForEachRow(rows, []any{&table, &assignment}, func() error {
		s.ofTable(table, assignment)
		return nil
	}); err != nil {
		return nil, fmt.Errorf("read settings of tables: %w", err)
	}
	s.ofServer(server)
	s.LogMost = max(0, number(server["max_wal_size"].value)*(1<<20))
	s.DeadlockS = max(0, number(server["deadlock_timeout"].value)/1000)
	return s, nil
}

func (s *Settings) ofUser(user roleIn, database, role, assignment string, server map[string]serverSetting) {
	name, value, _ := strings.Cut(assignment, "=")
	var of string
	switch {
	case role != "" && database != "":
		of = "role " + role + " in database " + database
	case role != "":
		of = "role " + role
	case database != "":
		of = "database " + database
	default:
		of = "all roles"
	}
	others := server[name]
	one := Setting{Name: name, Value: value, Server: others.value + others.unit, Of: of, user: user,
		boot: others.boot}
	if one.Says = perStatement(name, value, others.unit); one.Says != "" {
		s.PerStatement = append(s.PerStatement, one)
		return
	}
	if one.Says = saysOf(name, value); one.Says != "" && !sameValue(value, others) {
		s.Differ = append(s.Differ, one)
	}
}

// Kinds of what has settings beside roles, databases and tables.
const functionKind, tablespaceKind = "function", "tablespace"

// ofObject that is a function, whose settings hold within it, or a tablespace, whose costs hold for its tables.
func (s *Settings) ofObject(kind, object, plain, assignment string, server map[string]serverSetting) {
	name, value, _ := strings.Cut(assignment, "=")
	others := server[name]
	one := Setting{Name: name, Value: value, Server: others.value + others.unit, Of: kind + " " + object,
		Says: saysOf(name, value), function: plain, boot: others.boot}
	if one.Says != "" && !sameValue(value, others) {
		s.Differ = append(s.Differ, one)
	}
}

func (s *Settings) ofTable(table, assignment string) {
	name, value, _ := strings.Cut(assignment, "=")
	if says := saysOfTable(name, value); says != "" {
		s.Differ = append(s.Differ, Setting{Name: name, Value: value, Of: "table " + table, Says: says, table: table})
	}
}

// ofServer are settings of the whole server that keep the planner from a usual way or end work, and what runs for each
// statement.
func (s *Settings) ofServer(all map[string]serverSetting) {
	for name, one := range all {
		set := Setting{Name: name, Value: one.value + one.unit, Server: one.value + one.unit, Of: "the server",
			boot: one.boot}
		if set.Says = perStatement(name, one.value, one.unit); set.Says != "" {
			s.PerStatement = append(s.PerStatement, set)
		}
		// What our own session has from its role or database is there already.
		own := slices.ContainsFunc(s.Differ, func(o Setting) bool {
			return o.Name == name && (o.Value == one.value || o.Value == set.Value) && o.table == "" && o.function == ""
		})
		if own || one.value == one.boot || isOff(one.value) && isOff(one.boot) || isOn(one.value) && isOn(one.boot) {
			continue
		}
		set.Says = saysOf(name, one.value)
		if set.narrows() || endsWork(name) != nil {
			s.Differ = append(s.Differ, set)
		}
	}
	byName := func(a, b Setting) int { return strings.Compare(a.Name+a.Of, b.Name+b.Of) }
	slices.SortFunc(s.PerStatement, byName)
	slices.SortFunc(s.Differ, byName)
}

func isOff(value string) bool {
	return slices.Contains([]string{"off", "false", "no", "0", "f", "n"}, strings.ToLower(value))
}

func isOn(value string) bool {
	return slices.Contains([]string{"on", "true", "yes", "1", "t", "y"}, strings.ToLower(value))
}

// sameValue as the server has: what our own session may have from its role or database is not compared.
func sameValue(value string, server serverSetting) bool {
	return strings.EqualFold(value, server.value) && strings.EqualFold(value, server.boot) ||
		isOn(value) && isOn(server.value) && isOn(server.boot) ||
		isOff(value) && isOff(server.value) && isOff(server.boot)
}

// ofTableText are the settings of a table, as evidence.
func (m *measured) ofTableText(table string) (lines []string) {
	if m.settings == nil {
		return nil
	}
	for _, s := range m.settings.Differ {
		if s.table == table {
			lines = append(lines, s.text())
		}
	}
	return lines
}

// mostBy is the statement that pg_stat_statements counts most of something for, as words; empty: not counted.
func (m *measured) mostBy(column string) string {
	best, most := "", 0.0
	for _, key := range m.delta.Keys(counters.Statements) {
		if n := m.delta.Grew(counters.Statements, key, column); n != nil && *n > most {
			best, most = key, *n
		}
	}
	if best == "" {
		return ""
	}
	return "; most by: " + normalizedText(m.delta.Label(counters.Statements, best))
}
