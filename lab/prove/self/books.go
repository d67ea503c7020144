package self

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"plimsoll/erp/audit"
	"plimsoll/erp/fill"
	"plimsoll/ground/postgres"
	"plimsoll/platform/data/database"
)

// damagedCopy of the filled books, which lasts for one line.
var damagedCopy = postgres.Copy{Suffix: "_damaged", Mark: "made by plimsoll prove --self, which drops it afterwards"}

// damages, each to a document of its own, and the field that must be named. {id} is the document.
var damages = []struct{ name, document, table, sql, field string }{
	{"total of a sale", "goods_sale", "", "UPDATE doc_goods_sale SET total = total + 1 WHERE id = {id}", "total"},
	{"line of a sale", "goods_sale", "", "UPDATE doc_goods_sale_lines SET vat = vat + 1 WHERE document = {id} AND " +
		"line = 1", "lines 1.vat"},
	{"movement of a receipt", "goods_receipt", "acc_stock", "UPDATE acc_stock SET amount = amount + 1 WHERE " +
		"recorder = {id} AND line = 1", "stock 1.amount"},
	{"entry of a service", "service_sale", "gl_general", "UPDATE gl_general SET amount = amount + 1 WHERE recorder = " +
		"{id} AND line = 1", "general 1.amount"},
	{"warehouse that is gone", "goods_receipt", "", "UPDATE doc_goods_receipt SET warehouse = " +
		"gen_random_uuid() WHERE id = {id}", "warehouse"},
}

// damagedBooks are clean, then damaged; the audit names each by document and field.
func damagedBooks(ctx context.Context, s *stage) (outcome, error) {
	filled, err := s.books(ctx)
	if err != nil {
		return outcome{}, err
	}
	dsn, err := damagedCopy.Make(ctx, filled)
	if err != nil {
		return outcome{}, err
	}
	defer func() { _ = damagedCopy.Drop(context.WithoutCancel(ctx), filled) }()
	db, err := database.Open(ctx, dsn, database.Options{Connections: 2})
	if err != nil {
		return outcome{}, err
	}
	defer db.Close()
	before, err := audit.Run(ctx, db)
	if err != nil {
		return outcome{}, err
	}
	documents, err := damage(ctx, dsn)
	if err != nil {
		return outcome{}, err
	}
	after, err := audit.RunAs(ctx, db, audit.Options{Examples: 1000})
	if err != nil {
		return outcome{}, err
	}
	if s.falsifyAudit != nil {
		s.falsifyAudit(&after)
	}
	figures := []Figure{equal("violations before", 0, before.Violations)}
	for i, d := range damages {
		where, named := found(after, documents[i], d.field)
		figures = append(figures, states(d.name, d.document+" "+d.field, where, named))
	}
	return outcome{figures: figures}, nil
}

// found is where the audit saw a violation of a document's field.
func found(report audit.Report, document, field string) (where string, named bool) {
	where = "nothing"
	for _, check := range report.Checks {
		for _, v := range check.Examples {
			if !strings.Contains(v.Subject, document) {
				continue
			}
			if v.Field == field {
				return v.Where(), true
			}
			where = v.Where()
		}
	}
	return where, false
}

func damage(ctx context.Context, dsn string) (documents []string, err error) {
	documents = []string{}
	err = postgres.With(ctx, dsn, func(conn *pgx.Conn) error {
		for _, d := range damages {
			choose := "SELECT id::text FROM doc_" + d.document + " d WHERE NOT id::text = ANY ($1)"
			if d.table != "" {
				choose += " AND EXISTS (SELECT FROM " + d.table + " WHERE recorder = d.id)"
			}
			var document string
			if err := conn.QueryRow(ctx, choose+" ORDER BY number DESC LIMIT 1",
				documents).Scan(&document); err != nil {
				return fmt.Errorf("find a document for the damage %q: %w", d.name, err)
			}
			documents = append(documents, document)
			if _, err := conn.Exec(ctx, strings.ReplaceAll(d.sql, "{id}", "'"+document+"'")); err != nil {
				return fmt.Errorf("damage %q: %w", d.name, err)
			}
		}
		return nil
	})
	return documents, err
}

// books of a small company, filled once for all rounds.
func (s *stage) books(ctx context.Context) (dsn string, err error) {
	if s.filled != "" {
		return s.filled, nil
	}
	own, err := s.database(ctx)
	if err != nil {
		return "", err
	}
	parsed, err := pgx.ParseConfig(own)
	if err != nil {
		return "", err
	}
	name := parsed.Database + "_books"
	if err := postgres.Execute(ctx, own, "CREATE DATABASE "+pgx.Identifier{name}.Sanitize()); err != nil {
		return "", err
	}
	dsn = postgres.WithDatabase(own, name)
	db, err := database.Open(ctx, dsn, database.Options{Connections: 2})
	if err != nil {
		return "", err
	}
	defer db.Close()
	_, err = fill.Run(ctx, db, fill.Options{Items: 200, Counterparties: 100, Documents: 300, Create: true})
	s.filled = dsn
	return dsn, err
}
