package register

import (
	"strings"

	"plimsoll/platform/model/metadata"
)

// ExplainedSQL is the condition that a boundary b lies where posting can have put it: at a movement of its key, or at a
// document of its organisation that was unposted, or from which the key was taken. A document that was changed may have
// had another date and another key, so where one was, a boundary may lie anywhere.
func ExplainedSQL(app *metadata.Application, r *metadata.Accumulation) string {
	ofKey := "m.organisation = b.organisation AND " + matches("m", "b", metadata.Names(r.Leading()))
	explained := []string{"EXISTS (SELECT FROM " + r.Table() + " m WHERE " + ofKey + " AND m.period = b.moment)"}
	for i := range app.Documents {
		if d := &app.Documents[i]; recordsIn(d, r.Name) {
			explained = append(explained, "EXISTS (SELECT FROM "+d.Table()+" d WHERE d.organisation = b.organisation "+
				"AND (d.date = b.moment OR d.version > 1))")
		}
	}
	return strings.Join(explained, "\nOR ")
}

func recordsIn(d *metadata.Document, register string) bool {
	for _, name := range d.Recorded() {
		if name == register {
			return true
		}
	}
	return false
}
