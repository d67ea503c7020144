package temptable

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Schema is the schema name for a session's own temp tables.
const Schema = "pg_temp"

// Prefix of the names of all tables of the pool.
const Prefix = "tt_"

// hashDigits of the structure are in a name: 64 bits, so that structures do not collide.
const hashDigits = 16

// Column of a temp table.
type Column struct{ Name, Type string }

// Structure identifies a kind of temp table.
type Structure struct {
	columns string // "a" int8, "b" text
	index   string // "a", or empty
	hash    string
}

// A type as PostgreSQL writes it: int8, numeric(15,2), timestamp with time zone, public.mchar(20), text[].
var typeName = regexp.MustCompile(`^[a-z_][a-z0-9_. ]*(\([0-9]+(, ?[0-9]+)?\))?[a-z ]*(\[\])?$`)

// Define makes a structure; the index, if any, is on its columns in this order.
func Define(columns []Column, index ...string) (Structure, error) {
	if len(columns) == 0 {
		return Structure{}, errors.New("define temp table: no columns")
	}
	var defined, names []string
	for _, c := range columns {
		if !typeName.MatchString(c.Type) {
			return Structure{}, fmt.Errorf("define temp table: column %q: %q is not a type", c.Name, c.Type)
		}
		names = append(names, c.Name)
		defined = append(defined, pgx.Identifier{c.Name}.Sanitize()+" "+c.Type)
	}
	var indexed []string
	for _, name := range index {
		if !slices.Contains(names, name) {
			return Structure{}, fmt.Errorf("define temp table: the index needs column %q, which does not exist", name)
		}
		indexed = append(indexed, pgx.Identifier{name}.Sanitize())
	}
	s := Structure{columns: strings.Join(defined, ", "), index: strings.Join(indexed, ", ")}
	sum := sha256.Sum256([]byte(s.columns + "\x00" + s.index))
	s.hash = hex.EncodeToString(sum[:])[:hashDigits]
	return s, nil
}

// MustDefine is Define for structures written in the program.
func MustDefine(columns []Column, index ...string) Structure {
	s, err := Define(columns, index...)
	if err != nil {
		panic(err)
	}
	return s
}

// create is the DDL of the table.
func (t *Table) create(s Structure) []string {
	ddl := []string{"CREATE TEMP TABLE " + t.relation + " (" + s.columns + ")"}
	if s.index != "" {
		ddl = append(ddl, "CREATE INDEX ON "+t.Name()+" ("+s.index+")")
	}
	return ddl
}

func relation(hash string, ordinal int) string { return Prefix + hash + "_" + strconv.Itoa(ordinal) }

// mentioned is one of our names at the start of a text.
var mentioned = regexp.MustCompile(`^` + Prefix + `[0-9a-f]{16}_[0-9]+`)

var relationName = regexp.MustCompile(`^` + Prefix + `([0-9a-f]{16})_([0-9]+)$`)

// parse splits one of our names; false for other names.
func parse(relation string) (hash string, ordinal int, ours bool) {
	found := relationName.FindStringSubmatch(relation)
	if found == nil {
		return "", 0, false
	}
	ordinal, err := strconv.Atoi(found[2])
	return found[1], ordinal, err == nil
}
