// Package statement makes SQL from templates with named places, such as {totals}. A name that the template lacks, or a
// place that is not filled, is a bug and panics when the text is made, for most texts at start.
//
// A place is a word in braces. The audit's conditions ({document recorder}) and the numbered temp tables of reports
// ({0}) are not places and stay as they are.
package statement

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Names are the texts for the places of a template.
type Names map[string]string

var place = regexp.MustCompile(`\{[a-z][a-z_]*\}`)

// SQL fills all places of a template.
func SQL(template string, names Names) string {
	return Late(template, names).text
}

// Each fills the place {name} with each of the names, and joins the results.
func Each(names []string, template, separator string) string {
	texts := make([]string, len(names))
	for i, name := range names {
		texts[i] = SQL(template, Names{"name": name})
	}
	return strings.Join(texts, separator)
}

// Qualified are columns with an alias, separated by commas.
func Qualified(alias string, columns []string) string {
	return alias + "." + strings.Join(columns, ", "+alias+".")
}

// Template has places that are filled when it is used: names of temp tables.
type Template struct {
	text string
	late []string
}

// Late fills all places of a template except those that are filled when it is used.
func Late(template string, names Names, late ...string) Template {
	used := map[string]bool{}
	text := place.ReplaceAllStringFunc(template, func(found string) string {
		name := found[1 : len(found)-1]
		used[name] = true
		if slices.Contains(late, name) {
			return found
		}
		value, known := names[name]
		if !known {
			panic(fmt.Sprintf("statement: nothing fills %s in %q", found, template))
		}
		return value
	})
	for _, name := range append(slices.Sorted(maps.Keys(names)), late...) {
		if !used[name] {
			panic(fmt.Sprintf("statement: {%s} is not in %q", name, template))
		}
	}
	return Template{text, late}
}

// SQL fills the remaining places, in the order in which Late named them.
func (t Template) SQL(values ...string) string {
	if len(values) != len(t.late) {
		panic(fmt.Sprintf("statement: %d values for %v of %q", len(values), t.late, t.text))
	}
	text := t.text
	for i, name := range t.late {
		text = strings.ReplaceAll(text, "{"+name+"}", values[i])
	}
	return text
}
