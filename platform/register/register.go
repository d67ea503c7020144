// Package register owns accumulation registers: movements, and totals kept in the same statement,
// so that no movement is ever without its totals. Totals are turnovers by month and, in
// the period 'infinity', the current balance; the balance at any moment is the current one minus what moved after.
//
// Totals are upserted in the order of their keys, so that postings that run at once wait for each other in one order and cannot deadlock.
// That is why one statement changes them for all that a change of a record set takes away and brings.
package register

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/platform/database"
	"plimsoll/platform/id"
	"plimsoll/platform/metadata"
	"plimsoll/platform/rowset"
)

// Recorder is the document that movements belong to.
type Recorder struct {
	ID           id.ID
	Type         string
	Organisation id.ID
	Period       time.Time
}

// Movements is the record set of one recorder in one register: Rows has the dimensions and the resources (never negative); Expense says
// which rows take away.
type Movements struct {
	Register string
	Expense  []bool
	Rows     *rowset.Table
}

// Add appends a movement: the values of the dimensions and the resources in their order.
func (m *Movements) Add(expense bool, values ...any) {
	m.Rows.Append(values...)
	m.Expense = append(m.Expense, expense)
}

// NewMovements makes an empty record set.
func NewMovements(meta *metadata.Accumulation, capacity int) *Movements {
	return &Movements{Register: meta.Name, Expense: make([]bool, 0, capacity), Rows: rowset.New(fields(meta), capacity)}
}

// known are the fields of registers: they are asked for with every record set.
var known sync.Map // *metadata.Accumulation to []metadata.Attribute

func fields(meta *metadata.Accumulation) []metadata.Attribute {
	if all, found := known.Load(meta); found {
		return all.([]metadata.Attribute)
	}
	all, _ := known.LoadOrStore(meta, slices.Clip(slices.Concat(meta.Dimensions, meta.Resources)))
	return all.([]metadata.Attribute)
}

// Register reads and writes one register; its statements are made once.
type Register struct {
	meta                                     *metadata.Accumulation
	write, erase, read, layers, boundary     string
	redated                                  string   // of layers
	lookups                                  []string // by how many of the dimensions are given
	readMany, eraseMany, insertMany, addMany string
	restoring                                restoringSQL
	classic                                  *classic
}

// New makes the statements.
func New(meta *metadata.Accumulation) *Register {
	r := &Register{meta: meta}
	r.write = r.writeSQL()
	r.erase = fmt.Sprintf("DELETE FROM %s WHERE recorder = $1 AND line = ANY ($2::integer[])", meta.Table())
	r.read = fmt.Sprintf("SELECT expense, %s FROM %s WHERE recorder = $1 ORDER BY line", strings.Join(names(fields(meta)), ", "), meta.Table())
	for given := range meta.Dimensions {
		r.lookups = append(r.lookups, r.lookupSQL(given+1))
	}
	r.rewriterSQL()
	if meta.Layered {
		r.layers, r.redated, r.boundary, r.restoring = r.layersSQL(), r.redateSQL(), boundarySQL(meta), r.restoringSQL()
	}
	r.classic = newClassic(meta)
	return r
}

// Meta describes the register.
func (r *Register) Meta() *metadata.Accumulation { return r.meta }

// Read queues the reading of a recorder's record set, in the order of its lines.
func (r *Register) Read(w *database.Work, recorder id.ID) *Movements {
	m := NewMovements(r.meta, 0)
	w.Queue("read movements in "+r.meta.Name, r.read, recorder).Rows(func(rows pgx.Rows) error {
		m.Expense = append(m.Expense, false)
		row := m.Rows.Grow(1)
		return rows.Scan(append([]any{&m.Expense[row]}, m.Rows.Cells(row)...)...)
	})
	return m
}

// Balances queues the reading of current balances for keys (a table of the dimensions, or of the first of them: then of all that lies
// under them). The result has the resources of each key in the same row once the flush is done.
func (r *Register) Balances(w *database.Work, organisation id.ID, keys *rowset.Table) *rowset.Table {
	balances := rowset.New(r.meta.Resources, keys.Rows())
	balances.Grow(keys.Rows())
	r.scanBalances(w.Queue("read balances of "+r.meta.Name, r.lookups[len(keys.Attributes)-1], keys.Arrays([]any{organisation})...), balances)
	return balances
}

// scanBalances puts each row of a result where its key stands, whose number comes first.
func (r *Register) scanBalances(read *database.Statement, balances *rowset.Table) {
	read.Rows(func(rows pgx.Rows) error {
		var place int
		if err := rows.Scan(append([]any{&place}, make([]any, len(r.meta.Resources))...)...); err != nil {
			return err
		}
		return rows.Scan(append([]any{&place}, balances.Cells(place-1)...)...)
	})
}

func (r *Register) lookupSQL(given int) string {
	var matches, sums []string
	for _, a := range r.meta.Dimensions[:given] {
		matches = append(matches, fmt.Sprintf("t.%[1]s = k.%[1]s", a.Name))
	}
	resources, group := qualified("t", names(r.meta.Resources)), ""
	if given < len(r.meta.Dimensions) {
		for _, a := range r.meta.Resources {
			sums = append(sums, fmt.Sprintf("sum(t.%s)", a.Name))
		}
		resources, group = strings.Join(sums, ", "), "\nGROUP BY k.line"
	}
	return fmt.Sprintf(`SELECT k.line::integer, %s
FROM unnest(%s) WITH ORDINALITY AS k (%s, line)
JOIN %s t ON t.organisation = $1 AND %s AND t.period = 'infinity'%s`,
		resources, rowset.Parameters(2, r.meta.Dimensions[:given]), strings.Join(names(r.meta.Dimensions[:given]), ", "),
		r.meta.Totals(), strings.Join(matches, " AND "), group)
}

func names(attributes []metadata.Attribute) []string {
	result := make([]string, len(attributes))
	for i, a := range attributes {
		result[i] = a.Name
	}
	return result
}

func qualified(alias string, columns []string) string {
	return alias + "." + strings.Join(columns, ", "+alias+".")
}
