package audit

import (
	"strings"

	"plimsoll/platform/data/statement"
	"plimsoll/platform/model/metadata"
)

// information: each key is stated once, even if the unique index is broken.
func information(r *metadata.Information) Invariant {
	keys := append([]string{"organisation"}, metadata.Names(r.Dimensions)...)
	subject := "'organisation=' || organisation" +
		statement.Each(metadata.Names(r.Dimensions), " || ' {name}=' || {name}", "")
	if r.Periodic {
		keys = append(keys, "period")
		subject += " || ' period=' || period"
	}
	keyList := strings.Join(keys, ", ")
	return Invariant{
		ID: r.Name + ".keys", Title: r.Title + ": every key is recorded once",
		Checked: count(r.Table(), "{key "+keyList+"} AND {changed recorder}"),
		Wrong:   twiceSQL(r.Table(), keyList, subject, "{key "+keyList+"}"),
		Changed: twiceSQL(r.Table(), keyList, subject, amongChanged(r.Table(), keyList, "recorder")),
	}
}
