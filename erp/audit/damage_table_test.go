package audit_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"plimsoll/erp/audit/damagetest"
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
func named(d damagetest.Damage) string {
	switch {
	case d.Field == "":
		return d.Names
	case d.Names == "":
		return "`" + d.Field + "`"
	}
	return fmt.Sprintf("%s `%s`", d.Names, d.Field)
}

func repaired(name string) string {
	if damagetest.BackupOnly(name) {
		return "backup"
	}
	return "mended"
}

// TestTableOfDamages is what the documents say of TestEveryDamageIsNamedByDocumentAndField.
func TestTableOfDamages(t *testing.T) {
	var b strings.Builder
	fmt.Fprintf(&b, `# Damages that the audit names

<!-- Made from the test's own list: go test ./erp/audit -run TableOfDamages -rewrite -->

%d kinds of damage to books of all seventeen types of documents and of closed months, made by workers of
all shapes. `+"`go test ./erp/audit -run EveryDamage`"+` does each of them to a document of its own, and fails if the
audit does not name that document with the field below; of what belongs to no document, the register or counter.

`+"`plimsoll repair`"+` writes again what the document and its rules make ("mended": every row is then what it was), or
says that only a backup has what was lost ("backup"): `+"`PLIMSOLL_TEST_THOROUGH=1 go test ./erp/repair`"+`.

| damage | document | field named | repair |
|---|---|---|---|
`, len(damagetest.All))
	for _, name := range slices.SortedFunc(maps.Keys(damagetest.All), func(x, y string) int {
		return strings.Compare(damagetest.All[x].Of+" "+x, damagetest.All[y].Of+" "+y)
	}) {
		d := damagetest.All[name]
		of := d.Of
		if of == "" {
			of = "(none)"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", spelled(name), strings.ReplaceAll(of, "_", " "), named(d),
			repaired(name))
	}
	golden.Compare(t, "../../docs/bench/damages.md", b.String())
	types := map[string]bool{}
	for _, d := range damagetest.All {
		types[d.Of] = true
	}
	delete(types, "")
	if delete(types, books.MonthClose); len(types) != 17 {
		t.Errorf("damages to %d types of documents, want all 17: %v", len(types), slices.Sorted(maps.Keys(types)))
	}
}
