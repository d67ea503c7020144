package advise

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

type statement struct {
	Query string
	// Mean, Total and Planning are milliseconds. Plans are counted where pg_stat_statements.track_planning is on.
	Calls, Mean, Rows, Total, Plans, Planning float64
}

const (
	ownStatementsSQL = `SELECT left(query, 20000) AS query, calls::float8 AS calls, mean_exec_time::float8 AS mean,
		rows::float8 AS rows,
		total_exec_time::float8 AS total, plans::float8 AS plans, total_plan_time::float8 AS planning FROM %s
		WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
		ORDER BY total_exec_time DESC LIMIT 2000`
	whereStatementsSQL = `SELECT n.nspname AS schema, 'pg_stat_statements' AS name FROM pg_extension e
		JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'pg_stat_statements'`
	seenStatementsSQL = `SELECT query, 1::float8 AS calls, 0::float8 AS mean FROM pg_stat_activity
		WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()`
)

// statements that ran, read once.
func (s *server) statements(ctx context.Context) (all []statement, err error) {
	if s.ran == nil {
		all, err = s.readStatements(ctx)
		s.ran = append([]statement{}, all...)
		for _, text := range s.sampled {
			s.ran = append(s.ran, statement{Query: text})
		}
	}
	return s.ran, err
}

// readStatements are all that the server counted, or those that its sessions ran last.
func (s *server) readStatements(ctx context.Context) ([]statement, error) {
	where, err := one[table](ctx, s, whereStatementsSQL)
	if err != nil {
		return nil, err
	}
	if where != nil {
		counted, err := ask[statement](ctx, s, fmt.Sprintf(ownStatementsSQL, where.sql()))
		if err == nil {
			return counted, nil
		}
		if kept := s.keep("missing indexes: pg_stat_statements", err, ""); kept != nil {
			return nil, kept
		}
	} else {
		s.miss("missing indexes: pg_stat_statements", "the extension is not installed in this database: only the "+
			"last statement of each session was examined")
	}
	return ask[statement](ctx, s, seenStatementsSQL)
}

var (
	compound   = regexp.MustCompile(`(?i)\b(union|intersect|except)\b`)
	joined     = regexp.MustCompile(`(?i)\bjoin\b|,\s*(lateral\s+)?\w+\s+(as\s+)?\w+\s+where`)
	longBlanks = regexp.MustCompile(`\s+`)
	fromOne    = `(?i)\b(?:from|update)\s+(?:only\s+)?(?:"?\w+"?\.)?"?%s"?(?:\s|;|$)`
	named      = `(?i)\b(?:from|join|update|,)\s+(?:only\s+)?(?:"?\w+"?\.)?"?%s"?\s+(?:as\s+)?(\w+)`
	notNames   = regexp.MustCompile(`(?i)^(where|join|left|right|inner|full|cross|natural|on|using|set|order|` +
		`group|limit)$`)
	equalsValue = `(?i)(?:^|[\s(.])%s"?%s"?\s*=\s*(?:\$[\d?]|\?|'|-?\d|any\b)`
	amongValues = `(?i)(?:^|[\s(.])%s"?%s"?\s+in\s*\(`
	orWord      = regexp.MustCompile(`(?i)\bor\b`)
)

// compared are the columns of a table that a statement compares with values, as the pattern says. In a statement with
// other tables a column counts only with the table's name or alias before it.
func compared(sql, table string, columns []column, pattern string) (found []column) {
	name := regexp.QuoteMeta(table)
	before := ""
	switch {
	case compound.MatchString(sql):
		return nil
	case joined.MatchString(sql):
		alias := regexp.MustCompile(fmt.Sprintf(named, name)).FindStringSubmatch(sql)
		if alias == nil {
			return nil
		}
		before = `"?` + name + `"?\.`
		if !notNames.MatchString(alias[1]) {
			before = alias[1] + `\.`
		}
	case !regexp.MustCompile(fmt.Sprintf(fromOne, name)).MatchString(sql):
		return nil
	}
	_, condition, is := cutFold(sql, "where")
	if !is {
		return nil
	}
	condition = withoutAlternatives(condition)
	for _, c := range columns {
		if regexp.MustCompile(fmt.Sprintf(pattern, before, regexp.QuoteMeta(c.Name))).MatchString(" " + condition) {
			found = append(found, c)
		}
	}
	return found
}

// withoutAlternatives is a condition without the operands of OR, for which one index finds no row sooner.
func withoutAlternatives(condition string) string {
	levels := [][]byte{nil} // of parentheses
	leave := func() {
		last := len(levels) - 1
		group := levels[last]
		if orWord.Match(group) {
			group = nil
		}
		levels = levels[:last]
		levels[last-1] = slices.Concat(levels[last-1], []byte("("), group, []byte(")"))
	}
	for i := range len(condition) {
		switch c := condition[i]; {
		case c == '(':
			levels = append(levels, nil)
		case c == ')' && len(levels) > 1:
			leave()
		default:
			levels[len(levels)-1] = append(levels[len(levels)-1], c)
		}
	}
	for len(levels) > 1 { // the text was cut off
		leave()
	}
	if orWord.Match(levels[0]) {
		return ""
	}
	return string(levels[0])
}

func cutFold(text, word string) (before, after string, found bool) {
	i := strings.Index(strings.ToLower(text), word)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(word):], true
}

// values of a statement are its users' data.
var values = regexp.MustCompile(`(?s)\$(?:[A-Za-z_]\w*)?\$.*?(?:\$(?:[A-Za-z_]\w*)?\$|$)|'(?:[^']|'')*'?|` +
	`\b\d+(?:\.\d+)?\b`)

// short statement, without its values.
func short(sql string) string {
	sql = strings.TrimSpace(longBlanks.ReplaceAllString(values.ReplaceAllString(sql, "?"), " "))
	const most = 160
	if r := []rune(sql); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return sql
}

// keep continues where the server refuses: what is missing is listed.
func (s *server) keep(name string, err error, right string) error {
	var refused *pgconn.PgError
	if !errors.As(err, &refused) {
		return err
	}
	s.miss(name, class{right: right}.excuse(refused))
	return nil
}
