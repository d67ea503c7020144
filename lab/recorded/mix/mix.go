// Package mix reads what pg_stat_statements has counted, as one snapshot or as the difference of two: how often each
// statement ran, and how long on average. It is a mix without order: sums know no percentiles and no sessions.
package mix

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"plimsoll/lab/recorded/lines"
)

// Schema of the JSON: it changes when readers would break.
const Schema = 1

// Mix of statements.
type Mix struct {
	Schema int `json:"schema"`
	// SpanS is the time between the snapshots; null: there is one, or they do not say when they were made.
	SpanS *float64 `json:"span_s"`
	// Since: the counts are those between two snapshots; else since the statistics were reset.
	Since      bool         `json:"between_snapshots"`
	Calls      int64        `json:"calls"`
	TotalS     float64      `json:"total_s"`
	Statements []Statement  `json:"statements"` // the most time first
	Unread     lines.Unread `json:"unread"`
	// Inner statements ran within others, such as functions, whose time has theirs; Gone ones were forgotten between
	// the snapshots, and Reset ones began again; Hidden ones have no text for the role that made the snapshot.
	Inner  int `json:"inner_statements"`
	Gone   int `json:"statements_gone"`
	Reset  int `json:"statements_reset"`
	Hidden int `json:"statements_without_text"`
}

// Statement of a mix.
type Statement struct {
	Database string  `json:"database,omitempty"`
	Query    string  `json:"query"`
	Calls    int64   `json:"calls"`
	MeanMS   float64 `json:"mean_ms"`
	Rows     float64 `json:"rows_per_call"`
	Share    float64 `json:"share_of_time"`
	TotalMS  float64 `json:"total_ms"`
	rows     int64
}

// ErrNothing says that nothing ran.
var ErrNothing = errors.New("no statement ran in it")

// hidden texts are those of other roles.
const hidden = "<insufficient privilege>"

// Read one snapshot, or two: before and after.
func Read(paths []string) (*Mix, error) {
	var all []*snapshot
	for _, path := range paths {
		s, err := readSnapshot(path)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	after := all[len(all)-1]
	m := &Mix{Schema: Schema, Since: len(all) > 1, Unread: after.unread, Statements: []Statement{}}
	if m.Since {
		before := all[0]
		if before.at.After(after.at) && !after.at.IsZero() {
			before, after = after, before
		}
		m.Unread.Add(all[0].unread)
		m.subtract(before, after)
	}
	m.add(after)
	if m.Calls == 0 {
		return nil, ErrNothing
	}
	return m, nil
}

// subtract what had been counted before. A count that fell began again, and what it has now is new.
func (m *Mix) subtract(before, after *snapshot) {
	if span := after.at.Sub(before.at); !before.at.IsZero() && span > 0 {
		s := span.Seconds()
		m.SpanS = &s
	}
	for key, was := range before.rows {
		now := after.rows[key]
		switch {
		case now == nil:
			m.Gone++
		case now.calls < was.calls || now.totalMS < was.totalMS:
			m.Reset++
		default:
			now.calls -= was.calls
			now.totalMS -= was.totalMS
			now.rows -= was.rows
		}
	}
}

// add the statements of a snapshot, by their text: roles and versions of one text are one.
func (m *Mix) add(s *snapshot) {
	found := map[[2]string]*Statement{}
	for key, r := range s.rows {
		switch {
		case r.calls == 0:
			continue
		case !r.top:
			m.Inner++
			continue
		case r.query == hidden:
			m.Hidden++
			r.query += " " + key.query // they are not one
		}
		of := [2]string{r.database, r.query}
		if found[of] == nil {
			found[of] = &Statement{Database: r.database, Query: r.query}
		}
		one := found[of]
		one.Calls += r.calls
		one.TotalMS += r.totalMS
		one.rows += r.rows
	}
	for _, one := range found {
		m.Statements = append(m.Statements, *one)
	}
	slices.SortFunc(m.Statements, func(a, b Statement) int {
		return cmp.Or(cmp.Compare(b.TotalMS, a.TotalMS), cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Query, b.Query),
			cmp.Compare(a.Database, b.Database))
	})
	total := 0.0
	for _, one := range m.Statements {
		m.Calls += one.Calls
		total += one.TotalMS
	}
	m.TotalS = total / 1000
	for i := range m.Statements {
		one := &m.Statements[i]
		one.MeanMS, one.Rows = one.TotalMS/float64(one.Calls), float64(one.rows)/float64(one.Calls)
		if total > 0 {
			one.Share = one.TotalMS / total
		}
	}
}

// snapshot of pg_stat_statements.
type snapshot struct {
	at     time.Time // zero: it does not say
	rows   map[id]*row
	bytes  int // of all texts
	unread lines.Unread
	path   string
}

// id of a statement. Without a number its text is one.
type id struct {
	database, role, query string
	top                   bool
}

type row struct {
	database, query string
	calls, rows     int64
	totalMS         float64
	top             bool
}

// Limits of a snapshot: PostgreSQL keeps 5,000 statements by default.
const (
	rowsMost  = 200_000
	bytesMost = 128 << 20
)

// keep a row; an error says why it is none.
func (s *snapshot) keep(of func(names ...string) string) error {
	r := &row{database: of("datname", "database", "dbid"), query: of("query"),
		top: !slices.Contains([]string{"f", "false"}, of("toplevel"))}
	var err error
	if r.calls, err = count(of("calls")); err != nil {
		return fmt.Errorf("calls: %w", err)
	}
	if r.rows, err = count(cmp.Or(of("rows"), "0")); err != nil {
		return fmt.Errorf("rows: %w", err)
	}
	if r.totalMS, err = number(of("total_exec_time", "total_time")); err != nil {
		return fmt.Errorf("total_exec_time: %w", err)
	}
	if r.query == "" {
		return errors.New("no query")
	}
	key := id{r.database, of("userid", "usename", "rolname"), cmp.Or(of("queryid"), r.query), r.top}
	if s.rows[key] != nil {
		return errors.New("the same statement again")
	}
	if s.bytes += len(r.query); len(s.rows) >= rowsMost || s.bytes > bytesMost {
		return errors.New("more statements than are kept")
	}
	s.rows[key] = r
	if at := of("at", "now"); at != "" && s.at.IsZero() {
		s.at = moment(at)
	}
	return nil
}
