package advise

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"plimsoll/ground/human"
)

// emptying of temp tables by TRUNCATE gives them new files, after which every statement with them is planned again.
var emptying = class{
	name: "emptying of temp tables", healthy: "small temp tables are not truncated again and again",
	find: func(ctx context.Context, s *server) ([]Advice, error) {
		ran, err := s.statements(ctx)
		if err != nil {
			return nil, err
		}
		permanent, err := ask[table](ctx, s, permanentSQL)
		if err != nil {
			return nil, err
		}
		e := emptied{tables: map[string]*uses{}}
		e.count(ran, permanent)
		switch {
		case e.spent == 0:
			s.miss("emptying of temp tables: pg_stat_statements", "it contains no statement of this database")
			return nil, nil
		case e.times < emptyLeast.Value:
			return nil, nil
		}
		if a, share := e.advice(); share >= emptyShare.Value {
			return []Advice{a}, nil
		}
		return nil, nil
	},
}

const permanentSQL = `SELECT DISTINCT relname AS name FROM pg_class
	WHERE relkind IN ('r', 'p') AND relpersistence <> 't'`

// uses of a temp table by all sessions: how often it was emptied, and the rows that filled it.
type uses struct{ emptied, filled float64 }

// emptied are small temp tables that were truncated, and what the statements with them took.
type emptied struct {
	tables       map[string]*uses
	spent        float64 // on all statements, ms
	times        float64 // that the tables were emptied
	filled       float64 // rows
	truncating   float64 // ms
	with, others planned // statements with these tables, and the others
}

// planned statements, by those that were planned at all.
type planned struct{ calls, plans, ms float64 }

func (p *planned) add(one statement) {
	if one.Plans > 0 {
		p.calls, p.plans, p.ms = p.calls+one.Calls, p.plans+one.Plans, p.ms+one.Planning
	}
}

// again says whether statements with these tables lose plans that the others keep. A program that prepares nothing has
// each statement planned at each call.
func (e *emptied) again() bool {
	return e.with.plans > 0 && e.others.plans > 0 && e.with.plans*e.others.calls >= 2*e.others.plans*e.with.calls
}

var (
	truncates = regexp.MustCompile(`(?i)^\s*truncate\s+(?:table\s+)?([^;]*)`)
	fills     = regexp.MustCompile(`(?i)^\s*(?:insert\s+into|copy)\s+([^\s(;]+)`)
	words     = regexp.MustCompile(`[\pL_][\pL\pN_$]*`)
)

// count what ran. A table that is truncated and is not among the permanent ones is temporary: other sessions' are not
// always in the catalogs.
func (e *emptied) count(ran []statement, permanent []table) {
	lasting := map[string]bool{}
	for _, t := range permanent {
		lasting[t.Name] = true
	}
	for _, one := range ran {
		e.spent += one.Total + one.Planning
		if found := truncates.FindStringSubmatch(one.Query); found != nil {
			for name := range strings.SplitSeq(found[1], ",") {
				if name = plainTable(name); name != "" && !lasting[name] {
					e.usesOf(name).emptied += one.Calls
				}
			}
		}
	}
	e.plans(ran)
	e.fills(ran)
	for name, t := range e.tables {
		if t.filled > emptyRows.Value*t.emptied {
			delete(e.tables, name)
			continue
		}
		e.times, e.filled = e.times+t.emptied, e.filled+t.filled
	}
	e.plans(ran) // of the small ones alone
}

func (e *emptied) plans(ran []statement) {
	e.truncating, e.with, e.others = 0, planned{}, planned{}
	for _, one := range ran {
		switch {
		case !e.names(one.Query):
			e.others.add(one)
		case truncates.MatchString(one.Query):
			e.truncating += one.Total
		default:
			e.with.add(one)
		}
	}
}

// fills counts rows. pg_stat_statements counts a prepared TRUNCATE once for each plan, not for each call. So those of
// the statement that fills the table are counted where plans are lost, if they are more.
func (e *emptied) fills(ran []statement) {
	again := e.again()
	for _, one := range ran {
		found := fills.FindStringSubmatch(one.Query)
		if found == nil {
			continue
		}
		if t := e.tables[plainTable(found[1])]; t != nil {
			t.filled += one.Rows
			if again {
				t.emptied = max(t.emptied, one.Plans)
			}
		}
	}
}

func (e *emptied) usesOf(name string) *uses {
	t := e.tables[name]
	if t == nil {
		t = &uses{}
		e.tables[name] = t
	}
	return t
}

func (e *emptied) names(query string) bool {
	for _, word := range words.FindAllString(query, -1) {
		if e.tables[word] != nil {
			return true
		}
	}
	return false
}

// plainTable is the name without its schema and quotes, or what follows it.
func plainTable(text string) string {
	fields := strings.Fields(text)
	if len(fields) > 1 && strings.EqualFold(fields[0], "only") {
		fields = fields[1:]
	}
	if len(fields) == 0 {
		return ""
	}
	parts := strings.Split(fields[0], ".")
	return strings.Trim(parts[len(parts)-1], `"`)
}

// advice and the share of the time that is lost.
func (e *emptied) advice() (a Advice, share float64) {
	a = Advice{ID: "temp-truncate", Level: Note, Title: "Small temp tables are truncated again and again",
		Mechanism: "TRUNCATE gives a table a new file, and ANALYZE new statistics: after either the server plans " +
			"every statement with that table again. DELETE of few rows keeps file, statistics and plans.",
		Evidence: []string{fmt.Sprintf("%d temp tables were truncated some %.0f times, with %.1f rows in each on "+
			"average; the TRUNCATEs that are counted took %s of the time of all statements", len(e.tables), e.times,
			e.filled/e.times, human.Share(e.truncating/e.spent))},
		Do: []string{"use DELETE for a temp table with few rows, a hundred for example, and " +
			"TRUNCATE it after some thousand deleted rows",
			"ANALYZE it when it has many times the rows that its statistics show, not at each use"},
		Prove:  "plimsoll prove C15    what DELETE gains on each engine",
		Revert: "nothing to undo"}
	lost := e.truncating
	switch {
	case e.with.plans == 0:
		a.Evidence = append(a.Evidence, "how often statements that use them are planned is not known: "+
			"pg_stat_statements.track_planning is off")
	case e.again():
		lost += e.with.ms
		a.Evidence = append(a.Evidence, fmt.Sprintf("%.0f calls of statements that use them were planned %.0f times, "+
			"which took %s of the time of all statements; %.0f calls of others %.0f times", e.with.calls, e.with.plans,
			human.Share(e.with.ms/e.spent), e.others.calls, e.others.plans))
	default:
		a.Evidence = append(a.Evidence, "other statements are planned as often: the program does not prepare "+
			"statements, so there are no plans to keep")
	}
	if lost >= problemFrom.Value*e.spent {
		a.Level = Problem
	}
	return a, lost / e.spent
}
