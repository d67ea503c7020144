package document

import (
	"fmt"
	"strings"

	"plimsoll/platform/metadata"
)

// selected is a list of attributes as shown to people: each reference is followed by the name of what it refers to, of a document by its number.
type selected struct {
	columns, joins string
	shown          []metadata.Attribute
	labels         map[string][]string // reference → what people may search it by
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
	s.joins += fmt.Sprintf("\nLEFT JOIN %s %s ON %[2]s.id = %s.%s", referred, alias, table, reference)
	s.labels[reference] = append(s.labels[reference], alias+"."+shown)
}

func (s *selected) label(reference, suffix string) {
	s.columns += ", coalesce(" + strings.Join(s.labels[reference], ", ") + ", '')"
	s.shown = append(s.shown, metadata.Attribute{Name: reference + suffix, Type: metadata.Text})
}

// searched are the texts of the references people search by.
func (s selected) searched(references []string) (texts []string) {
	for _, name := range references {
		for _, label := range s.labels[name] {
			texts = append(texts, "coalesce("+label+", '')")
		}
	}
	return texts
}
