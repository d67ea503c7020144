package erptest

import (
	"encoding/json"
	"testing"
	"time"

	"plimsoll/erp"
	"plimsoll/platform/books/document"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/database/databasetest"
	"plimsoll/platform/data/durability"
	"plimsoll/platform/worker/shape"
)

// ShapedBooks are the books of a company as one shape keeps them, without a worker.
type ShapedBooks struct {
	*Company
	Shape shape.Shape
	Books *posting.Books
	db    *database.Database
}

// BooksOf a company as a shape keeps them.
func (c *Company) BooksOf(t testing.TB, name shape.Name) *ShapedBooks {
	t.Helper()
	s := &ShapedBooks{Company: c, Shape: Shaped(t, name, shape.Tweaks{Durability: string(durability.Server)}).Shape}
	s.db = databasetest.Connect(t, c.DSN, s.Shape.Options(database.Options{Connections: 1}))
	s.Reset(t)
	return s
}

// Reset forgets the numbers that were drawn ahead.
func (s *ShapedBooks) Reset(t testing.TB) {
	t.Helper()
	var err error
	if s.Books, err = posting.New(s.db, erp.Metadata(), erp.Rules()).With(s.Shape.Posting); err != nil {
		t.Fatal(err)
	}
}

// Decode reads a document of a type ("goods_sale") of the first organisation.
func (s *ShapedBooks) Decode(t reporter, documentType string, content Document) *document.Document {
	t.Helper()
	meta, _ := erp.Metadata().Document(documentType)
	body, err := json.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	d, err := document.Decode(meta, body, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	d.Organisation, d.Author = s.Organisations[0].ID, s.Organisations[0].Author
	return d
}
