package onec

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// kind of a column as the platform sees it. Its letter stands in the names of indexes.
type kind byte

const (
	reference kind = 'R' // 16 bytes
	composite kind = 'C' // a value of any type: its type, the table and the key of a reference
	recorder  kind = 'D' // a document of any type: table and key
	number    kind = 'N'
	integer   kind = 'I'
	date      kind = 'T'
	text      kind = 'S' // of variable length
	fixed     kind = 'F' // of fixed length
	flag      kind = 'L'
	blob      kind = 'B'
)

// letter in the name of an index.
func (k kind) letter() string {
	switch k {
	case composite, recorder:
		return string(reference)
	case integer:
		return string(number)
	case fixed:
		return string(text)
	}
	return string(k)
}

// column as the platform sees it; a composite one is three in the database.
type column struct {
	name string
	kind kind
	size string // of numbers and texts
	null bool
}

// parts are its columns in the database.
func (c column) parts() []string {
	switch c.kind {
	case composite:
		return []string{c.name + "_TYPE", c.name + "_RTRef", c.name + "_RRRef"}
	case recorder:
		return []string{c.name + "TRef", c.name + "RRef"}
	}
	return []string{c.name}
}

// sqlType of its parts.
func (c column) sqlType(t types) string {
	switch c.kind {
	case number:
		return "numeric(" + c.size + ")"
	case integer:
		return "integer"
	case date:
		return "timestamp"
	case text:
		return t.variable(c.size)
	case fixed:
		return t.fixed(c.size)
	case flag:
		return "boolean"
	}
	return "bytea"
}

// index of a table: what it is by, and its columns as the platform sees them.
type index struct {
	by     string
	on     []string
	unique bool
}

// table of a base.
type table struct {
	name    string
	columns []column
	indexes []index
	// early indexes are made before the rows: the fill reads by them.
	early int
}

// separator is the column that keeps the areas of a base apart; it stands in every table and first in every index.
const separator = "_Fld628"

func newTable(name string, columns []column, indexes ...index) table {
	t := table{name: name, columns: append(columns, column{name: separator, kind: number, size: "7,0"}),
		indexes: indexes}
	for i := range t.indexes {
		t.indexes[i].on = append([]string{separator}, t.indexes[i].on...)
	}
	return t
}

func (t table) column(name string) column {
	at := slices.IndexFunc(t.columns, func(c column) bool { return c.name == name })
	if at < 0 {
		panic(t.name + " has no column " + name) // of a list in this package
	}
	return t.columns[at]
}

// create is the statement that makes the table.
func (t table) create(types types) string {
	var all []string
	for _, c := range t.columns {
		constraint := " NOT NULL"
		if c.null {
			constraint = ""
		}
		for _, part := range c.parts() {
			all = append(all, part+" "+c.sqlType(types)+constraint)
		}
	}
	return fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s (%s)", t.name, strings.Join(all, ", "))
}

// createIndex is the statement that makes an index.
func (t table) createIndex(i index) string {
	var parts []string
	for _, name := range i.on {
		parts = append(parts, t.column(name).parts()...)
	}
	unique := ""
	if i.unique {
		unique = "UNIQUE "
	}
	return fmt.Sprintf("CREATE %sINDEX IF NOT EXISTS %s ON %s (%s)", unique, t.indexName(i), t.name,
		strings.Join(parts, ", "))
}

// numbered are the names that the platform shortens to seven letters before the number.
var numbered = regexp.MustCompile(`^(_[a-z]+)([0-9]+)$`)

const lettersInIndex = 7

// keyIndex and rowIndex are named without letters.
const (
	keyIndex = "s_hpk"
	rowIndex = "intkeyind"
)

// indexName is the platform's: the table, what it is by, and a letter for the kind of each column, such as
// _accumr78_bydims_ntrrrn.
func (t table) indexName(i index) string {
	name := strings.ToLower(t.name)
	if i.by == keyIndex || i.by == rowIndex {
		return name + "_" + i.by
	}
	if parts := numbered.FindStringSubmatch(name); parts != nil {
		name = parts[1][:min(lettersInIndex, len(parts[1]))] + parts[2]
	}
	letters := ""
	for _, on := range i.on {
		letters += t.column(on).kind.letter()
	}
	return name + "_" + strings.ToLower(i.by+"_"+letters)
}

// list of the parts of columns, each behind a prefix.
func (t table) list(prefix string, names ...string) string {
	var all []string
	for _, name := range names {
		for _, part := range t.column(name).parts() {
			all = append(all, prefix+part)
		}
	}
	return strings.Join(all, ", ")
}
