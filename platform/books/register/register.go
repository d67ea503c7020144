// Package register owns accumulation registers: movements, and totals kept in the same statement, so that no movement
// is without its totals. Totals are turnovers by month and, in the period 'infinity', the current balance; the balance
// at any moment is the current one minus later movements.
//
// Totals are upserted in the order of their keys, so that concurrent postings wait for each other in one order and
// cannot deadlock. That is why one statement changes the totals for both the removed and the added movements.
package register

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
	"plimsoll/platform/data/statement"
	"plimsoll/platform/model/metadata"
)

// Recorder is the document that movements belong to.
type Recorder struct {
	ID           id.ID
	Type         string
	Organisation id.ID
	Period       time.Time
}

// Movements is the record set of one recorder in one register: Rows has the dimensions and the resources (never
// negative); Expense marks the rows that take away.
type Movements struct {
	Register string
	Expense  []bool
	Rows     *rowset.Table
}

// Add appends a movement: the values of the dimensions, then of the resources.
func (m *Movements) Add(expense bool, values ...any) {
	m.Rows.Append(values...)
	m.Expense = append(m.Expense, expense)
}

// NewMovements makes an empty record set.
func NewMovements(meta *metadata.Accumulation, capacity int) *Movements {
	return &Movements{Register: meta.Name, Expense: make([]bool, 0, capacity), Rows: rowset.New(fields(meta), capacity)}
}

// known caches the fields of registers, which every record set needs.
var known sync.Map // *metadata.Accumulation to []metadata.Attribute

func fields(meta *metadata.Accumulation) []metadata.Attribute {
	if all, found := known.Load(meta); found {
		return all.([]metadata.Attribute)
	}
	all, _ := known.LoadOrStore(meta, slices.Clip(slices.Concat(meta.Dimensions, meta.Resources)))
	return all.([]metadata.Attribute)
}

// Register reads and writes one register; its statements are built once.
type Register struct {
	meta                                     *metadata.Accumulation
	write, erase, read, layers, boundary     string
	redated                                  string   // of layers
	lookups                                  []string // by how many of the dimensions are given
	readMany, eraseMany, insertMany, addMany string
	restoring                                restoringSQL
	classic                                  *classic
}

// New builds the statements.
func New(meta *metadata.Accumulation) *Register {
	r := &Register{meta: meta}
	r.write = r.writeSQL()
	r.erase = fmt.Sprintf("DELETE FROM %s WHERE recorder = $1 AND line = ANY ($2::integer[])", meta.Table())
	r.read = fmt.Sprintf("SELECT expense, %s FROM %s WHERE recorder = $1 ORDER BY line",
		metadata.Columns(fields(meta)), meta.Table())
	for given := range meta.Dimensions {
		r.lookups = append(r.lookups, r.lookupSQL(given+1))
	}
	r.rewriterSQL()
	if meta.Layered {
		r.layers = r.layersSQL()
		r.redated = r.redateSQL()
		r.boundary = boundarySQL(meta, "unnest("+rowset.Parameters(4, meta.Leading())+")")
		r.restoring = r.restoringSQL()
	}
	r.classic = newClassic(meta)
	return r
}

// Meta describes the register.
func (r *Register) Meta() *metadata.Accumulation { return r.meta }

// Read queues reading a recorder's record set, in the order of its lines.
func (r *Register) Read(w *database.Work, recorder id.ID) *Movements {
	m := NewMovements(r.meta, 0)
	w.Queue("read movements in "+r.meta.Name, r.read, recorder).Rows(func(rows pgx.Rows) error {
		m.Expense = append(m.Expense, false)
		row := m.Rows.Grow(1)
		return rows.Scan(append([]any{&m.Expense[row]}, m.Rows.Cells(row)...)...)
	})
	return m
}

// Balances queues reading current balances for keys (a table of all dimensions, or of the first: then the balance is
// the sum below them). After the flush, the result has the resources of each key in the same row.
func (r *Register) Balances(w *database.Work, organisation id.ID, keys *rowset.Table) *rowset.Table {
	balances := rowset.New(r.meta.Resources, keys.Rows())
	balances.Grow(keys.Rows())
	r.scanBalances(w.Queue("read balances of "+r.meta.Name, r.lookups[len(keys.Attributes)-1],
		keys.Arrays([]any{organisation})...), balances)
	return balances
}

// scanBalances puts each row of a result at its key, whose number is the first column.
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
	dimensions, resources := metadata.Names(r.meta.Dimensions[:given]), metadata.Names(r.meta.Resources)
	sums, current, group := statement.Qualified("t", resources), "t.period = 'infinity'", ""
	if given < len(r.meta.Dimensions) {
		sums, group = statement.Each(resources, "sum(t.{name})", ", "), "GROUP BY k.line"
		if r.meta.IndexNonZero { // what is used up stays at zero under its key, and adds nothing
			current = "t." + metadata.Open
		}
	}
	return statement.SQL(`SELECT k.line::integer, {sums}
FROM unnest({keys}) WITH ORDINALITY AS k ({dimensions}, line)
JOIN {totals} t ON t.organisation = $1 AND {matches} AND {current} {group}`, statement.Names{
		"sums": sums, "keys": rowset.Parameters(2, r.meta.Dimensions[:given]),
		"dimensions": strings.Join(dimensions, ", "), "totals": r.meta.Totals(),
		"matches": matches("t", "k", dimensions), "current": current, "group": group,
	})
}
