package document

import (
	"fmt"
	"strings"

	"plimsoll/platform/data/statement"
	"plimsoll/platform/model/metadata"
)

// selected is a list of attributes as shown to people: each reference is followed by the name of its target, or by a
// document's number.
type selected struct {
	columns, joins string
	shown          []metadata.Attribute
	labels         map[string][]string // reference → texts by which people may search it
	joined         int
}

func selection(app *metadata.Application, table string, attributes []metadata.Attribute) selected {
	s := selected{labels: map[string][]string{}}
	for _, a := range attributes {
		s.columns += ", " + table + "." + a.Name
		s.shown = append(s.shown, a)
		switch {
		case a.Type != metadata.Reference:
		case a.Documents != nil:
			for _, name := range a.Documents {
				referred, _ := app.Document(name)
				s.join(table, a.Name, referred.Table(), "number")
			}
			s.label(a.Name, "_number")
		default:
			catalog, _ := app.Catalog(a.Catalog)
			s.join(table, a.Name, catalog.Table(), "name")
			s.label(a.Name, "_name")
		}
	}
	return s
}

func (s *selected) join(table, reference, referred, shown string) {
	s.joined++
	alias := fmt.Sprintf("r%d", s.joined)
	s.joins += "\n" + statement.SQL("LEFT JOIN {referred} {alias} ON {alias}.id = {table}.{reference}", statement.Names{
		"referred": referred, "alias": alias, "table": table, "reference": reference,
	})
	s.labels[reference] = append(s.labels[reference], alias+"."+shown)
}

func (s *selected) label(reference, suffix string) {
	s.columns += ", coalesce(" + strings.Join(s.labels[reference], ", ") + ", '')"
	s.shown = append(s.shown, metadata.Attribute{Name: reference + suffix, Type: metadata.Text})
}

// searched are the texts of the references that people search by.
func (s selected) searched(references []string) (texts []string) {
	for _, name := range references {
		for _, label := range s.labels[name] {
			texts = append(texts, "coalesce("+label+", '')")
		}
	}
	return texts
}
