package data

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"

	"plimsoll/lab/load/script"
)

// Take says which row comes next.
type Take string

const (
	Random   Take = "random"
	Sequence Take = "sequence"
	Once     Take = "once"
	PerUser  Take = "user"
)

// Takes are all of them.
var Takes = []Take{Random, Sequence, Once, PerUser}

// Source of rows. It travels without them: agents ask their coordinator for what they cannot make themselves.
type Source struct {
	Name string `json:"name"`
	// File is its name without the folder, Digest of its content.
	File   string `json:"file,omitempty"`
	Digest string `json:"digest,omitempty"`
	// SQL is a query whose rows are read once, before the load.
	SQL string `json:"sql,omitempty"`
	// Rows are made by the expressions of the columns.
	Rows    int      `json:"rows,omitempty"`
	Columns []Column `json:"columns,omitempty"`

	Take    Take `json:"take"`
	Shuffle bool `json:"shuffle,omitempty"`

	table *Table
	made  *generator
}

// Prefix of the variables that the columns are: items_ for [data.items].
func (s *Source) Prefix() string { return s.Name + "_" }

// Names of the columns; nil: not known before the rows are read.
func (s *Source) Names() []string {
	switch {
	case s.Rows > 0:
		var names []string
		for _, c := range s.Columns {
			names = append(names, c.Name)
		}
		return names
	case s.table != nil:
		return s.table.Columns
	}
	return nil
}

// Len is the number of rows; 0: they are not read yet.
func (s *Source) Len() int {
	switch {
	case s.Rows > 0:
		return s.Rows
	case s.table != nil:
		return s.table.Rows
	}
	return 0
}

// Table of rows that were read; nil: none, or they are made.
func (s *Source) Table() *Table { return s.table }

// Put rows in place that were read elsewhere.
func (s *Source) Put(t *Table) { s.table = t }

// Value of a row in a column.
func (s *Source) Value(row, column int, seed uint64) (script.Value, error) {
	if s.Rows == 0 {
		return s.table.Value(row, column), nil
	}
	if s.made == nil {
		return script.Value{}, fmt.Errorf("data.%s is not prepared", s.Name)
	}
	return s.made.value(row, column, s.seed(seed))
}

// Prepare what is made by expressions.
func (s *Source) Prepare() (err error) {
	if s.Rows > 0 && s.made == nil {
		s.made, err = newGenerator(s.Columns)
	}
	return err
}

// seed of this source, so that two sources of equal sizes differ.
func (s *Source) seed(seed uint64) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s.Name))
	return seed ^ h.Sum64()
}

// Row of a user's take k of all the users; false: there is none left for this user.
func (s *Source) Row(user, users int, k uint32, seed uint64, rng *rand.Rand) (row int, left bool) {
	n := s.Len()
	next := uint64(user) + uint64(k)*uint64(users)
	switch s.Take {
	case Sequence:
		row = int(next % uint64(n))
	case Once:
		if user >= users || next >= uint64(n) { // one who joined later has no share
			return 0, false
		}
		row = int(next)
	case PerUser:
		row = user % n
	default:
		row = rng.IntN(n)
	}
	if s.Shuffle {
		row = int(script.Permute(int64(row), int64(n), s.seed(seed)))
	}
	return row, true
}

// UsedUp is an operation of a user for whom no row is left.
type UsedUp struct {
	Source string
	Rows   int
}

// usedUp is what no other error says, wherever its text has been.
const usedUp = ` is used up: take = "once" of `

func (e *UsedUp) Error() string { return fmt.Sprintf("data.%s%s%d rows", e.Source, usedUp, e.Rows) }

// IsUsedUp says whether that is what an error says whose text alone is known.
func IsUsedUp(text string) bool { return strings.Contains(text, usedUp) }
