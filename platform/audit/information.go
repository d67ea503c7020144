package audit

import (
	"fmt"
	"strings"

	"plimsoll/platform/metadata"
)

// information: what is stated is stated once, even if the index that keeps it so is broken.
func information(r *metadata.Information) Invariant {
	keys, subject := []string{"organisation"}, "'organisation=' || organisation"
	for _, d := range r.Dimensions {
		keys = append(keys, d.Name)
		subject += fmt.Sprintf(" || ' %[1]s=' || %[1]s", d.Name)
	}
	if r.Periodic {
		keys = append(keys, "period")
		subject += " || ' period=' || period"
	}
	by := strings.Join(keys, ", ")
	return Invariant{
		ID: r.Name + ".keys", Title: r.Title + ": every key is recorded once",
		Checked: count(r.Table(), "{key "+by+"} AND {changed recorder}"),
		Wrong:   twiceSQL(r.Table(), by, subject, "{key "+by+"}"),
		Changed: twiceSQL(r.Table(), by, subject, amongChanged(r.Table(), by, "recorder")),
	}
}
