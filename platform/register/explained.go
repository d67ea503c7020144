package register

import (
	"strings"

	"plimsoll/platform/metadata"
	"plimsoll/platform/statement"
)

// ExplainedSQL is the condition that a boundary b lies where posting can have put it: at a movement of its key, or at a
// document that was unposted, or from which the key was taken. Of a document that was dated anew nothing is left there;
// then one that was changed lies behind, under the key or unposted.
func ExplainedSQL(app *metadata.Application, r *metadata.Accumulation) string {
	ofKey := "m.organisation = b.organisation AND " + matches("m", "b", metadata.Names(r.Leading()))
	explained := []string{"EXISTS (SELECT FROM " + r.Table() + " m WHERE " + ofKey + " AND m.period = b.moment)"}
	for i := range app.Documents {
		d := &app.Documents[i]
		if !recordsIn(d, r.Name) {
			continue
		}
		names := statement.Names{"headers": d.Table(), "movements": r.Table(), "key": ofKey, "shows": showsKey(d, r)}
		explained = append(explained, statement.SQL(`EXISTS (SELECT FROM {headers} d
	WHERE d.organisation = b.organisation AND d.date = b.moment)
OR EXISTS (SELECT FROM {movements} m JOIN {headers} d ON d.id = m.recorder AND d.version > 1
	WHERE {key} AND m.period > b.moment)
OR EXISTS (SELECT FROM {headers} d WHERE d.organisation = b.organisation AND NOT d.posted AND d.version > 1
	AND {shows})`, names))
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

// showsKey is the condition that a document d names the key of a boundary b, as far as its attributes are called as the
// key's are.
func showsKey(d *metadata.Document, r *metadata.Accumulation) string {
	shows := []string{"true"}
	for _, a := range r.Leading() {
		if _, inHeader := metadata.Find(d.Attributes, a.Name); inHeader {
			shows = append(shows, "d."+a.Name+" = b."+a.Name)
			continue
		}
		for i := range d.Sections {
			if _, inLines := metadata.Find(d.Sections[i].Attributes, a.Name); inLines {
				shows = append(shows, statement.SQL("EXISTS (SELECT FROM {lines} l WHERE l.document = d.id AND "+
					"l.{name} = b.{name})", statement.Names{"lines": d.SectionTable(&d.Sections[i]), "name": a.Name}))
				break
			}
		}
	}
	return strings.Join(shows, " AND ")
}
