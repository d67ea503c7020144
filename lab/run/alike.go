package run

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"plimsoll/lab/load/tally"
)

// alikeFrom failures in a row, from the first operation on, are not the fault of one user or of the ramp.
const alikeFrom = 20

// alike detects a load whose operations all fail for the same reason: more time and users would change nothing.
type alike struct {
	failures, others int64
	texts            []map[string]int64 // by operation
}

// add a second; it returns the error once it is clear that there will be no other. Overload and timeouts do not count:
// those users may get an answer later.
func (a *alike) add(p tally.Page) (text string, all bool) {
	if a.texts == nil {
		a.texts = make([]map[string]int64, len(p.Judged))
	}
	for i := range p.Judged {
		for _, c := range []tally.Cell{p.Judged[i], p.Others[i]} {
			a.failures += c.Outcomes[tally.Failed]
			a.others += c.Outcomes[tally.OK] + c.Outcomes[tally.Refused] + c.Outcomes[tally.Overload]
			for text, n := range c.Errors {
				if a.texts[i] == nil {
					a.texts[i] = map[string]int64{}
				}
				a.texts[i][text] += n
			}
		}
	}
	if a.others > 0 || a.failures < alikeFrom {
		return "", false
	}
	most := int64(0)
	for _, texts := range a.texts {
		for one, n := range texts {
			if len(texts) > 1 || strings.Contains(one, context.DeadlineExceeded.Error()) {
				return "", false
			}
			if n > most || n == most && one < text {
				text, most = one, n
			}
		}
	}
	return text, most > 0
}

// noAnswer is the reason against a run without any valid answer: with the error, if all operations had the same.
func (r *record) noAnswer() string {
	text := "no operation got a valid answer"
	if r.failedAlike != "" {
		text += fmt.Sprintf(", all %d failed with the same error, so the run was ended: %s%s", r.failedCount,
			r.failedAlike, r.databaseHint(r.failedAlike))
	}
	return text
}

// unknownThings are SQLSTATEs of names that a database does not have: schema, table, column, function, database.
var unknownThings = []string{"3F000", "42P01", "42703", "42883", "3D000"}

// databaseHint names the database if the error is about a name that it does not have: another one may have been meant.
func (r *record) databaseHint(text string) string {
	state := sqlState.FindStringSubmatch(text)
	if state == nil || !slices.Contains(unknownThings, state[1]) {
		return ""
	}
	config, err := pgx.ParseConfig(r.DSN)
	if err != nil || r.DSN == "" {
		return ""
	}
	where := fmt.Sprintf("; the query went to database %s at %s:%d", config.Database, config.Host, config.Port)
	if r.DSNOrigin != "" {
		where += ", " + r.DSNOrigin
	}
	return where
}

// withDatabaseHints adds the database to the errors of a result that are about unknown names.
func (r *record) withDatabaseHints(counts map[string]int64) map[string]int64 {
	named := map[string]int64{}
	for text := range maps.Keys(counts) {
		named[text+r.databaseHint(text)] += counts[text]
	}
	return named
}
