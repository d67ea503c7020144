package register

import (
	"strings"
	"time"

	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/statement"
	"plimsoll/platform/model/metadata"
)

// The boundary of a key (the leading dimensions of layers) is the moment from which its documents may have used up
// layers out of the order of time: documents before it have what posting one by one in the order (date, id) would give.
// It moves back when a document is written, changed or unposted while the key has a later one: to the document's date,
// or to the earlier of the old and the new. It may lie too early, never too late; therefore receipts lock the key too,
// as expenses do.

// mark queues moving the boundary for a change of a record set.
func (r *Register) mark(w *database.Work, recorder Recorder, was time.Time, c *change) {
	moment, keys := r.marked(recorder, was, c)
	w.Queue("mark boundary of "+r.meta.Name, r.boundary,
		keys.Arrays([]any{recorder.Organisation, recorder.ID, moment})...)
}

// marked are the moment and the keys of a change.
func (r *Register) marked(recorder Recorder, was time.Time, c *change) (moment time.Time, keys *rowset.Table) {
	moment = recorder.Period
	if len(c.erased) > 0 && (was.Before(moment) || len(c.erased) == len(c.lines)) {
		moment = was
	}
	keys, seen := rowset.New(r.meta.Leading(), c.rows.Rows()), map[string]bool{}
	for row := range c.rows.Rows() {
		if key := keyOf(c.rows, row, len(r.meta.Leading())); !seen[key] {
			seen[key] = true
			keys.Add(c.rows, []int{row})
		}
	}
	return moment, keys
}

// boundarySQL marks the keys of a set with the leading dimensions.
func boundarySQL(meta *metadata.Accumulation, keys string) string {
	leading := metadata.Names(meta.Leading())
	return statement.SQL(`INSERT INTO {boundary} AS b (organisation, {leading}, moment)
SELECT $1, {leading_of_key}, $3::timestamptz
FROM {keys} AS k ({leading})
WHERE EXISTS (SELECT FROM {movements} m WHERE m.organisation = $1 AND {matches}
	AND m.period >= $3 AND (m.period, m.recorder) > ($3, $2::uuid) AND m.recorder <> $2)
ORDER BY {leading_of_key}
ON CONFLICT (organisation, {leading}) DO UPDATE SET moment = excluded.moment WHERE excluded.moment < b.moment`,
		statement.Names{
			"boundary": meta.Boundary(), "movements": meta.Table(), "leading": strings.Join(leading, ", "),
			"leading_of_key": statement.Qualified("k", leading), "keys": keys,
			"matches": matches("m", "k", leading),
		})
}
