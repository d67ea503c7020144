package document

import (
	"fmt"

	"plimsoll/platform/metadata"
)

// selected is a list of attributes as shown to people: each reference is followed by the name of what it refers to.
type selected struct {
	columns, joins string
	shown          []metadata.Attribute
	alias          map[string]string // reference → joined catalog
}

func selection(app *metadata.Application, table string, attributes []metadata.Attribute) selected {
	s := selected{alias: map[string]string{}}
	for _, a := range attributes {
		s.columns += ", " + table + "." + a.Name
		s.shown = append(s.shown, a)
		if a.Type != metadata.Reference {
			continue
		}
		catalog, _ := app.Catalog(a.Catalog)
		alias := fmt.Sprintf("r%d", len(s.alias)+1)
		s.alias[a.Name] = alias
		s.columns += fmt.Sprintf(", coalesce(%s.name, '')", alias)
		s.joins += fmt.Sprintf("\nLEFT JOIN %s %s ON %[2]s.id = %s.%s", catalog.Table(), alias, table, a.Name)
		s.shown = append(s.shown, metadata.Attribute{Name: a.Name + "_name", Type: metadata.Text})
	}
	return s
}

// matches extends a condition by the names of the references people search by ($4 is the pattern).
func (s selected) matches(references []string) (condition string) {
	for _, name := range references {
		condition += " OR " + s.alias[name] + ".name ILIKE $4"
	}
	return condition
}
