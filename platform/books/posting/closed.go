package posting

import (
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/platform/books/document"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/lock"
	"plimsoll/platform/model/metadata"
)

// Closed books. Everybody who writes a document holds the lock of the organisation's period from the first statement to
// COMMIT: in shared mode, so that nobody waits. Closing or reopening a period takes it exclusively. So a document sees
// every close that came before it, and a close sees every document that came before it:
//
//	posting:  claim key + period shared ─▶ locks, closed up to when? ─▶ … ─▶ COMMIT
//	closing:  claim key + period alone (waits for those above; those who come now wait) ─▶ Look ─▶ Record ─▶ COMMIT
//
// The order of locks is: key, period, document, managed locks. A holder of the period waits only for others who hold it
// in shared mode too or do not need it (restorations), so there is no deadlock.

// Closing are the rules of the document type that closes the books (metadata.Document.ReopenHint).
type Closing interface {
	Rules
	// Look queues reading the content of the period; nobody writes a document of the organisation until the transaction
	// ends. Its result is in Facts.Period.
	Look(w *database.Work, d *document.Document) any
}

// ControlClosed is the control that refuses documents dated in closed books.
const ControlClosed = "closed"

// Closed describes a refusal by that control.
type Closed struct {
	Month string `json:"month"` // of the document
	Until string `json:"until"` // the last month closed
}

const monthFormat = "2006-01"

// closingType is the type of document that closes books; nil if there is none.
func closingType(app *metadata.Application) *metadata.Document {
	for i := range app.Documents {
		if app.Documents[i].ReopenHint != "" {
			return &app.Documents[i]
		}
	}
	return nil
}

// lock queues the locks of a question, and asks until when the books are closed by documents other than this one.
func (b *Books) lock(w *database.Work, d *document.Document, q question) {
	if b.closes == nil {
		lock.Exclusive(w, q.locks())
		return
	}
	asked := lock.Asking(w, q.locks(), "SELECT date FROM "+b.closes.Table()+
		" WHERE organisation = $2 AND posted AND id <> $3 ORDER BY date DESC LIMIT 1", d.Organisation, d.ID)
	asked.Rows(func(r pgx.Rows) error { return r.Scan(nil, q.closed) })
}

// look queues what a closing document must know; nil for others.
func (k *kind) look(w *database.Work, d *document.Document) any {
	if closing, ok := k.rules.(Closing); ok && d.Posted {
		return closing.Look(w, d)
	}
	return nil
}

// open refuses a document that is, or was, dated in closed books.
func (b *Books) open(q question, dates ...time.Time) error {
	if *q.closed == nil {
		return nil
	}
	until := **q.closed
	for _, date := range dates {
		if date.After(until) {
			continue
		}
		c := Closed{date.UTC().Format(monthFormat), until.UTC().Format(monthFormat)}
		message := c.Month + " is closed"
		if c.Month != c.Until {
			message += fmt.Sprintf(", as is everything up to %s", c.Until)
		}
		return &Refusal{Control: ControlClosed,
			Message: message + "; to open the last month again: " +
				strings.ReplaceAll(b.closes.ReopenHint, "MONTH", c.Until), Items: []Closed{c}}
	}
	return nil
}
