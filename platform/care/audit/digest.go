package audit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"plimsoll/platform/data/database"
	"plimsoll/platform/data/statement"
	"plimsoll/platform/model/metadata"
	"plimsoll/platform/model/schema"
)

// Digest is a fingerprint of books: equal digests mean equal documents, movements, totals and entries. It does not
// depend on the order of rows, the split that holds a total, or document ids: a document is identified by type and
// number.
type Digest struct {
	Digest string        `json:"digest"`
	Tables []TableDigest `json:"tables"`
}

// TableDigest is the digest of one table; totals that are all zero are left out.
type TableDigest struct {
	Table  string `json:"table"`
	Rows   int64  `json:"rows"`
	Digest string `json:"digest"`
}

// tableDigest is shortened, enough to tell tables apart; the digest of the books is not.
const tableDigest = 16

// Books computes the digest of all documents, registers and ledgers in one snapshot.
func Books(ctx context.Context, db *database.Database, app *metadata.Application) (d Digest, err error) {
	snapshot := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	err = db.Borrow(ctx, func(conn *pgx.Conn) error {
		return pgx.BeginTxFunc(ctx, conn, snapshot, func(tx pgx.Tx) error {
			// settings that fix the text of values
			if _, err := tx.Exec(ctx, "SET LOCAL statement_timeout = 0; SET LOCAL datestyle = 'ISO, YMD'; SET "+
				"LOCAL timezone = 'UTC'"); err != nil {
				return err
			}
			for _, t := range booksOf(app) {
				one := TableDigest{Table: t.table.Name}
				var sums string
				if err := tx.QueryRow(ctx, t.digestSQL(app)).Scan(&one.Rows, &sums); err != nil {
					return fmt.Errorf("%s: %w", one.Table, err)
				}
				hash := sha256.Sum256([]byte(sums))
				one.Digest = hex.EncodeToString(hash[:tableDigest])
				d.Tables = append(d.Tables, one)
			}
			return nil
		})
	})
	if err != nil {
		return Digest{}, fmt.Errorf("compute the digest of the books: %w", err)
	}
	hash := sha256.New()
	for _, t := range d.Tables {
		fmt.Fprintln(hash, t.Table, t.Rows, t.Digest)
	}
	d.Digest = hex.EncodeToString(hash.Sum(nil))
	return d, nil
}

// book is a table of the books and its columns.
type book struct {
	table     schema.Table
	documents []string // columns that hold the id of a document
	totals    bool
}

func booksOf(app *metadata.Application) (all []book) {
	referring, totals := map[string][]string{}, map[string]bool{}
	refer := func(table string, attributes []metadata.Attribute, own ...string) {
		for _, a := range attributes {
			if a.Document || a.Documents != nil {
				own = append(own, a.Name)
			}
		}
		referring[table] = own
	}
	for i := range app.Documents {
		d := &app.Documents[i]
		refer(d.Table(), d.Attributes)
		for j := range d.Sections {
			refer(d.SectionTable(&d.Sections[j]), d.Sections[j].Attributes, "document")
		}
	}
	for i := range app.Information {
		refer(app.Information[i].Table(), app.Information[i].Fields(), "recorder")
	}
	for i := range app.Accumulation {
		r := &app.Accumulation[i]
		refer(r.Table(), r.Dimensions, "recorder")
		refer(r.Totals(), r.Dimensions)
		totals[r.Totals()] = true
		if r.Layered {
			refer(r.Boundary(), r.Leading())
		}
	}
	for i := range app.Accounting {
		refer(app.Accounting[i].Table(), nil, "recorder")
		for _, table := range []string{app.Accounting[i].Totals(), app.Accounting[i].AccountTotals()} {
			refer(table, nil)
			totals[table] = true
		}
	}
	for _, t := range schema.Tables(app) {
		if documents, ours := referring[t.Name]; ours {
			all = append(all, book{t, documents, totals[t.Name]})
		}
	}
	return all
}

// digestSQL adds the digests of the rows, since a sum does not depend on order; two halves of 64 bits make collisions
// negligible.
func (b book) digestSQL(app *metadata.Application) string {
	const half = "coalesce(sum(('x' || substr(h, %d, 16))::bit(64)::bigint::numeric), 0)"
	return fmt.Sprintf(`WITH documents (id, known) AS NOT MATERIALIZED (%s)
SELECT count(*), %s || ' ' || %s FROM (SELECT encode(sha256(convert_to(r::text, 'UTF8')), 'hex') AS h
	FROM (%s) r) AS hashed`,
		documentsSQL(app), fmt.Sprintf(half, 1), fmt.Sprintf(half, 17), b.rowsSQL())
}

// rowsSQL selects all columns, with document ids replaced by type and number, and totals summed over splits without
// those that are zero.
func (b book) rowsSQL() string {
	var values, sums, kept []string
	joins := ""
	for i, c := range b.table.Columns {
		switch {
		case c.Name == "id", b.totals && (c.Name == "split" || c.Name == metadata.BroughtAt):
		case b.totals && strings.HasPrefix(c.Type, "numeric"):
			sums, kept = append(sums, "sum(t."+c.Name+")"), append(kept, "sum(t."+c.Name+") <> 0")
		case slices.Contains(b.documents, c.Name):
			// an id that is no document of these books, an empty reference or an orphan, stays as it is
			names := statement.Names{"document": fmt.Sprintf("d%d", i), "column": c.Name}
			values = append(values, statement.SQL("coalesce({document}.known, t.{column}::text)", names))
			joins += statement.SQL(" LEFT JOIN documents {document} ON {document}.id = t.{column}", names)
		default:
			values = append(values, "t."+c.Name)
		}
	}
	rows := fmt.Sprintf("SELECT %s FROM %s t%s", strings.Join(append(slices.Clone(values), sums...), ", "),
		b.table.Name, joins)
	if b.totals {
		rows += fmt.Sprintf(" GROUP BY %s HAVING %s", strings.Join(values, ", "), strings.Join(kept, " OR "))
	}
	return rows
}

func documentsSQL(app *metadata.Application) string {
	var parts []string
	for i := range app.Documents {
		d := &app.Documents[i]
		parts = append(parts, fmt.Sprintf("SELECT id, '%s ' || number || ' of ' || organisation FROM %s", d.Name,
			d.Table()))
	}
	return strings.Join(parts, " UNION ALL ")
}
