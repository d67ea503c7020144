package register

import (
	"fmt"
	"strings"
	"time"

	"plimsoll/platform/database"
	"plimsoll/platform/metadata"
	"plimsoll/platform/rowset"
)

// The boundary of a key (the leading dimensions of layers) is the moment from which on its documents may have used up layers in
// another order than that of time: documents before it have what posting one after another by (date, id) would have given them.
// It moves back when a document is written, changed or taken back while another one of the key is later: to the document's date,
// or to the earlier one of the old and the new. It may lie further back than needed, never further on; for that all who bring
// lock the key, as those do who take.

// mark queues the moving of the boundary for what a change of a record set takes away or brings.
func (r *Register) mark(w *database.Work, by Recorder, was time.Time, c *change) {
	moment, keys := r.marked(by, was, c)
	w.Queue("mark boundary of "+r.meta.Name, r.boundary, keys.Arrays([]any{by.Organisation, by.ID, moment})...)
}

// marked are the moment and the keys of a change.
func (r *Register) marked(by Recorder, was time.Time, c *change) (moment time.Time, keys *rowset.Table) {
	moment = by.Period
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

func boundarySQL(meta *metadata.Accumulation) string {
	leading := names(meta.Leading())
	var matches []string
	for _, a := range meta.Leading() {
		matches = append(matches, fmt.Sprintf("m.%[1]s = k.%[1]s", a.Name))
	}
	return fmt.Sprintf(`INSERT INTO %[1]s AS b (organisation, %[2]s, moment)
SELECT $1, %[3]s, $3::timestamptz
FROM unnest(%[4]s) AS k (%[2]s)
WHERE EXISTS (SELECT FROM %[5]s m WHERE m.organisation = $1 AND %[6]s AND m.period >= $3 AND (m.period, m.recorder) > ($3, $2::uuid) AND m.recorder <> $2)
ORDER BY %[3]s
ON CONFLICT (organisation, %[2]s) DO UPDATE SET moment = excluded.moment WHERE excluded.moment < b.moment`,
		meta.Boundary(), strings.Join(leading, ", "), qualified("k", leading), rowset.Parameters(4, meta.Leading()), meta.Table(), strings.Join(matches, " AND "))
}
