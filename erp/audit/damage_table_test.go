package audit_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"plimsoll/erp/books"
	"plimsoll/test/golden"
)

var word = regexp.MustCompile(`VAT|[A-Z][a-z]*`)

// spelled is the name of a damage in words: "TotalOfASale" is "total of a sale".
func spelled(name string) string {
	words := word.FindAllString(name, -1)
	for i, w := range words {
		if w != "VAT" {
			words[i] = strings.ToLower(w)
		}
	}
	return strings.Join(words, " ")
}

// named is the field, and what else the subject names.
func named(d damage) string {
	switch {
	case d.field == "":
		return d.names
	case d.names == "":
		return "`" + d.field + "`"
	}
	return fmt.Sprintf("%s `%s`", d.names, d.field)
}

// TestTableOfDamages is what the documents say of TestEveryDamageIsNamedByDocumentAndField.
func TestTableOfDamages(t *testing.T) {
	var b strings.Builder
	fmt.Fprintf(&b, `# Damages that the audit names

<!-- Made from the test's own list: go test ./erp/audit -run TableOfDamages -rewrite -->

%d kinds of damage to books of all seventeen types of documents and of closed months, made by workers of
all shapes. `+"`go test ./erp/audit -run EveryDamage`"+` does each of them to a document of its own, and fails if the
audit does not name that document with the field below; of what belongs to no document, the register or counter.

| damage | document | field named |
|---|---|---|
`, len(damages))
	for _, name := range slices.SortedFunc(maps.Keys(damages), func(x, y string) int {
		return strings.Compare(damages[x].of+" "+x, damages[y].of+" "+y)
	}) {
		d := damages[name]
		of := d.of
		if of == "" {
			of = "(none)"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", spelled(name), strings.ReplaceAll(of, "_", " "), named(d))
	}
	golden.Compare(t, "../../docs/bench/damages.md", b.String())
	types := map[string]bool{}
	for _, d := range damages {
		types[d.of] = true
	}
	delete(types, "")
	if delete(types, books.MonthClose); len(types) != 17 {
		t.Errorf("damages to %d types of documents, want all 17: %v", len(types), slices.Sorted(maps.Keys(types)))
	}
}
