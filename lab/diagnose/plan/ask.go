package plan

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"plimsoll/ground/postgres"
	"plimsoll/ground/postgres/sqltext"
)

// Question is a statement whose plan is wanted.
type Question struct {
	Key string // what tells it apart
	// Text as it is sent, with placeholders or with values. It is shown to nobody.
	Text string
	Role string // that runs it; empty: not known
}

// Asker asks one server for plans.
type Asker struct {
	conn    *pgx.Conn
	version int
}

// NewAsker for a database. The reason why it must not ask for plans is not empty where somebody may have planted what
// planning runs: trusted are roles that the user answers for.
func NewAsker(ctx context.Context, conn *pgx.Conn, trusted []string) (a *Asker, why string, err error) {
	a = &Asker{conn: conn}
	if err = conn.QueryRow(ctx, "SELECT current_setting('server_version_num')::int").Scan(&a.version); err != nil {
		return nil, "", fmt.Errorf("inspect the server: %w", err)
	}
	strangers, err := untrusted(ctx, conn, trusted)
	if err != nil {
		return nil, "", err
	}
	if strangers != "" {
		return nil, "to plan a statement runs functions of its database with the rights of this connection, and " +
			strangers + " may have made some: connect as that role (GRANT pg_monitor TO it), or name it in " +
			"--trust if it may have these rights", nil
	}
	return a, "", nil
}

// Bounds of a question: it holds the locks of a reader until it is answered.
const (
	planWithin = "2s"
	lockWithin = "100ms"
)

// Why a statement is not asked for.
var (
	errNotOne   = errors.New("it has a semicolon, so that it may be several statements")
	errNoPlan   = errors.New("it has no plan of its own")
	errNoBinary = errors.New("it holds a zero byte")
	errPooled   = errors.New("before PostgreSQL 16 it must be prepared, which a pooler's shared sessions would keep")
)

var (
	plannable   = regexp.MustCompile(`(?is)^[\s(]*(SELECT|WITH|INSERT|UPDATE|DELETE|MERGE|VALUES|TABLE)\b`)
	placeholder = regexp.MustCompile(`\$(\d+)`)
	// typed literals, of which the counters keep a type before a placeholder, which is no SQL.
	typedLiteral = regexp.MustCompile(`(?i)\b(interval|date|timestamptz|timestamp|time)\s+(\$\d+)`)
)

// prepare the text of a question: one statement that can be planned. No two statements are without a semicolon, so
// none may be in it, not even within quotes.
func (q Question) prepare() (text string, parameters int, err error) {
	text = strings.TrimRight(sqltext.WithoutLead(strings.TrimSpace(q.Text)), "; \t\n")
	switch {
	case strings.Contains(text, ";"):
		return "", 0, errNotOne
	case strings.Contains(text, "\x00"):
		return "", 0, errNoBinary
	case !plannable.MatchString(text):
		return "", 0, errNoPlan
	}
	text = typedLiteral.ReplaceAllString(text, "($2::$1)")
	for _, m := range placeholder.FindAllStringSubmatch(text, -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil || n > parametersMost {
			return "", 0, errNoPlan
		}
		parameters = max(parameters, n)
	}
	return text, parameters, nil
}

// parametersMost of a statement.
const parametersMost = 1000

// Ask for the plan, as the role that runs the statement if this session may become it. Nothing is run or written: the
// text is one statement, behind EXPLAIN, in a transaction that only reads.
func (a *Asker) Ask(ctx context.Context, q Question) (*Plan, error) {
	text, parameters, err := q.prepare()
	if err != nil {
		return nil, err
	}
	as, err := a.asRole(ctx, q.Role)
	if err != nil {
		return nil, err
	}
	const options = "SETTINGS, VERBOSE, FORMAT JSON"
	how, name := Custom, ""
	switch {
	case parameters == 0:
		text = fmt.Sprintf("EXPLAIN (%s) %s", options, text)
	case a.version >= 160000:
		how, text = Generic, fmt.Sprintf("EXPLAIN (GENERIC_PLAN, %s) %s", options, text)
	case postgres.Shared(a.conn):
		return nil, errPooled
	default:
		how, name = Generic, "plimsoll_plan"
		as.settings = append(as.settings, setting{"plan_cache_mode", "force_generic_plan"})
		nulls := strings.TrimSuffix(strings.Repeat("NULL, ", parameters), ", ")
		text = fmt.Sprintf("PREPARE %s AS %s; EXPLAIN (%s) EXECUTE %s(%s); DEALLOCATE %s", name, text, options, name,
			nulls, name)
	}
	answer, err := a.explain(ctx, as.before(a.conn)+text)
	if err != nil && name != "" {
		_, _ = a.conn.PgConn().Exec(ctx, "DEALLOCATE "+name).ReadAll() // there is none where PREPARE was refused
	}
	if err != nil {
		return nil, err
	}
	p, err := parse(answer)
	if err != nil {
		return nil, err
	}
	p.Statement, p.How, p.At, p.Role = sqltext.WithoutValues(q.Text), how, time.Now(), as.role
	return p, nil
}

// explain sends the text by itself: PostgreSQL runs one text as one transaction, which SET LOCAL lasts for, behind a
// pooler too.
func (a *Asker) explain(ctx context.Context, text string) ([]byte, error) {
	results, err := a.conn.PgConn().Exec(ctx, text).ReadAll()
	if err != nil {
		if refused := (*pgconn.PgError)(nil); errors.As(err, &refused) {
			return nil, errors.New(refused.Message)
		}
		return nil, err
	}
	for _, r := range slices.Backward(results) {
		if len(r.FieldDescriptions) == 1 && r.FieldDescriptions[0].Name == "QUERY PLAN" && len(r.Rows) > 0 {
			return r.Rows[0][0], nil
		}
	}
	return nil, errors.New("the server gave no plan")
}

type setting struct{ name, value string }

// identity is as whom a plan is made.
type identity struct {
	role     string // empty: this session's own
	settings []setting
}

// Settings that change plans or names: those of the planner, which are a category, and these. Our connections set two
// of them for themselves.
const settingsSQL = `WITH own AS (
		SELECT DISTINCT ON (name) name, value FROM (
			SELECT split_part(s, '=', 1) AS name, substr(s, strpos(s, '=') + 1) AS value,
				(d.setrole <> 0)::int * 2 + (d.setdatabase <> 0)::int AS rank
			FROM pg_db_role_setting d CROSS JOIN unnest(d.setconfig) s
			WHERE d.setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
				AND d.setrole IN (0, coalesce((SELECT oid FROM pg_roles WHERE rolname = $1), 0))
		) s ORDER BY name, rank DESC
	)
	SELECT g.name, coalesce(o.value, g.reset_val) FROM pg_settings g LEFT JOIN own o USING (name)
	WHERE g.context = 'user' AND (o.value IS NOT NULL OR g.name IN ('search_path', 'jit',
		'max_parallel_workers_per_gather')) AND (g.category LIKE 'Query Tuning%' OR g.name IN ('search_path', 'jit',
		'work_mem', 'hash_mem_multiplier', 'row_security', 'DateStyle', 'IntervalStyle', 'TimeZone',
		'max_parallel_workers_per_gather', 'max_parallel_workers'))
	ORDER BY g.name = 'search_path', g.name`

// maySetSQL: whether this session may become a role.
const maySetSQL = `SELECT rolname <> session_user AND pg_has_role(session_user, oid, 'MEMBER') FROM pg_roles
	WHERE rolname = $1`

func (a *Asker) asRole(ctx context.Context, role string) (as identity, err error) {
	var may bool
	err = a.conn.QueryRow(ctx, maySetSQL, role).Scan(&may)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return as, err
	}
	if may {
		as.role = role
	}
	rows, err := a.conn.Query(ctx, settingsSQL, role)
	if err != nil {
		return as, err
	}
	var one setting
	_, err = pgx.ForEachRow(rows, []any{&one.name, &one.value}, func() error {
		as.settings = append(as.settings, one)
		return nil
	})
	return as, err
}

// before the question: its bounds, then the role, then its settings, the search_path last. What is called is named with
// its schema: behind a search_path of somebody else's a plain name may be anybody's.
func (as identity) before(conn *pgx.Conn) string {
	text := fmt.Sprintf("SET LOCAL statement_timeout = '%s'; SET LOCAL lock_timeout = '%s'; ", planWithin, lockWithin)
	if as.role != "" {
		text += "SET LOCAL ROLE " + pgx.Identifier{as.role}.Sanitize() + "; "
	}
	for _, s := range as.settings {
		name, nameErr := conn.PgConn().EscapeString(s.name)
		value, valueErr := conn.PgConn().EscapeString(s.value)
		if nameErr == nil && valueErr == nil {
			text += fmt.Sprintf("SELECT pg_catalog.set_config('%s', '%s', true); ", name, value)
		}
	}
	return text
}
