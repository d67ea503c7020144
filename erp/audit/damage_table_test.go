package audit_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"plimsoll/erp/audit/damage"
	"plimsoll/erp/books"
	"plimsoll/test/golden"
)

// Where a damage is, by the form of its SQL, and what it sets there.
var (
	headerSet   = regexp.MustCompile(`^UPDATE doc_\{type\} SET (.*) WHERE id = \{id\}$`)
	lineSet     = regexp.MustCompile(`^UPDATE doc_\{type\}_lines SET (.*) WHERE document = \{id\} AND line = 1$`)
	entrySet    = regexp.MustCompile(`^UPDATE gl_general SET (.*) WHERE recorder = \{id\} AND line = 1$`)
	movementSet = regexp.MustCompile(`^UPDATE acc_(\w+) SET (.*) WHERE recorder = \{id\} AND line = 1$`)
	tableSet    = regexp.MustCompile(`^UPDATE (\w+) SET (\w+ = (?:\(.*\)|.*?)) WHERE .*$`)
	deleted     = regexp.MustCompile(`^DELETE FROM (\w+) WHERE (.*)$`)
	inserted    = regexp.MustCompile(`^INSERT INTO (\w+) `)
	repeated    = regexp.MustCompile(`^DO \$\$ DECLARE one (\w+);`)
	splitOf     = regexp.MustCompile(`^WITH one AS \(UPDATE (\w+) SET (\w+) = `)
	assigned    = regexp.MustCompile(`^(\w+) = (.*)$`)
)

// changed says in words what a damage changes, and where; empty: its SQL has an unknown form.
func changed(sql string) string {
	switch {
	case sql == damage.Swapped:
		return "entry 1: debit and credit are exchanged"
	case sql == damage.In2099:
		return "the document and all that it has recorded are in 2099"
	case strings.HasPrefix(sql, "INSERT INTO acc_batches_boundary") && strings.Contains(sql, "'2000-01-01'"):
		return "a row of `acc_batches_boundary` is added, at the year 2000"
	case splitOf.MatchString(sql):
		m := splitOf.FindStringSubmatch(sql)
		return fmt.Sprintf("rows of one total in `%s`: `%s` + 100 in one split and - 100 in another", m[1], m[2])
	case headerSet.MatchString(sql):
		return "header: " + values(headerSet.FindStringSubmatch(sql)[1])
	case lineSet.MatchString(sql):
		return "line 1: " + values(lineSet.FindStringSubmatch(sql)[1])
	case entrySet.MatchString(sql):
		return "entry 1: " + values(entrySet.FindStringSubmatch(sql)[1])
	case movementSet.MatchString(sql):
		m := movementSet.FindStringSubmatch(sql)
		return fmt.Sprintf("movement 1 in `%s`: %s", m[1], values(m[2]))
	case tableSet.MatchString(sql):
		m := tableSet.FindStringSubmatch(sql)
		return fmt.Sprintf("row of `%s`: %s", m[1], values(m[2]))
	case deleted.MatchString(sql):
		m := deleted.FindStringSubmatch(sql)
		if whole := m[2] == "document = {id}" || m[2] == "recorder = {id}"; whole {
			return fmt.Sprintf("all its rows of `%s` are deleted", m[1])
		}
		return fmt.Sprintf("a row of `%s` is deleted", m[1])
	case inserted.MatchString(sql):
		return fmt.Sprintf("a row of `%s` is added that refers to nothing", inserted.FindStringSubmatch(sql)[1])
	case repeated.MatchString(sql):
		return fmt.Sprintf("its first row of `%s` is repeated", repeated.FindStringSubmatch(sql)[1])
	}
	return ""
}

// values says what columns are set to.
func values(set string) string {
	var all []string
	for _, one := range strings.Split(set, ", ") {
		column, value := assigned.FindStringSubmatch(one)[1], assigned.FindStringSubmatch(one)[2]
		switch {
		case strings.HasPrefix(value, column+" ") && strings.Contains(value, "interval"):
			value = "is a day later"
		case strings.HasPrefix(value, column+" "):
			value = strings.TrimPrefix(value, column+" ")
		case value == "gen_random_uuid()":
			value = "refers to nothing"
		case value == damage.None:
			value = "is empty"
		case value == "{id}":
			value = "is the document itself"
		case strings.HasPrefix(value, "{foreign") && column != "organisation", strings.HasPrefix(value, "(SELECT"):
			value = "is of another organisation"
		case strings.HasPrefix(value, "{"):
			value = "is another one"
		case strings.HasPrefix(value, "NOT "):
			value = "is the opposite"
		default:
			value = "= " + value
		}
		all = append(all, "`"+column+"` "+value)
	}
	return strings.Join(all, ", ")
}

// named is what the audit must name: a field, a subject, or at least the document.
func named(d damage.Damage) string {
	switch {
	case d.Field == "" && d.Names == "":
		return "the document"
	case d.Field == "":
		return d.Names
	case d.Names == "":
		return "`" + d.Field + "`"
	}
	return fmt.Sprintf("%s `%s`", strings.TrimSpace(d.Names), d.Field)
}

func repaired(name string) string {
	if damage.BackupOnly(name) {
		return "backup"
	}
	return "repaired"
}

// TestTableOfDamages is what the documents say of TestEveryDamageIsNamedByDocumentAndField.
func TestTableOfDamages(t *testing.T) {
	var b strings.Builder
	fmt.Fprintf(&b, `# Damage that the audit finds

<!-- Made from the test's own list: go test ./erp/audit -run TableOfDamages -rewrite -->

%d kinds of damage to the books: to documents of all seventeen types, posted by workers of all shapes, to closed
months, and to what belongs to no document. `+"`go test ./erp/audit -run EveryDamage`"+` does each to a document of its
own and fails unless the audit names this document and the field in the third column; without a document, it must name
the catalog element, register or counter.

`+"`plimsoll repair`"+` either puts every row back to what it was, from the document and its rules ("repaired"), or says
that only a backup has what was lost ("backup"): `+"`PLIMSOLL_TEST_THOROUGH=1 go test ./erp/repair`"+`.

| document | damage | the audit names | repair |
|---|---|---|---|
`, len(damage.All))
	for _, name := range slices.SortedFunc(maps.Keys(damage.All), func(x, y string) int {
		return strings.Compare(damage.All[x].Of+" "+x, damage.All[y].Of+" "+y)
	}) {
		d := damage.All[name]
		of := d.Of
		if of == "" {
			of = "(none)"
		}
		text := changed(d.SQL)
		if text == "" {
			t.Errorf("%s: no words for %s", name, d.SQL)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", strings.ReplaceAll(of, "_", " "), text, named(d), repaired(name))
	}
	golden.Compare(t, "../../docs/bench/damages.md", b.String())
	types := map[string]bool{}
	for _, d := range damage.All {
		types[d.Of] = true
	}
	delete(types, "")
	if delete(types, books.MonthClose); len(types) != 17 {
		t.Errorf("damages to %d types of documents, want all 17: %v", len(types), slices.Sorted(maps.Keys(types)))
	}
}
