package posting

import (
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/platform/database"
	"plimsoll/platform/document"
	"plimsoll/platform/lock"
	"plimsoll/platform/metadata"
)

// Closed books. Everybody who writes a document holds the lock of the organisation's period from his first statement to his COMMIT: shared, so
// that nobody waits; who closes or opens a period holds it alone. So whoever asks for the period in a later statement sees every close there was
// before his document, and a close sees every document there was before it:
//
//	posting:  claim key + period shared ─▶ locks, closed up to when? ─▶ … ─▶ COMMIT
//	closing:  claim key + period alone (waits for those above; those who come now wait) ─▶ Look ─▶ Record ─▶ COMMIT
//
// The order of locks is: key, period, document, managed locks. Who holds the period waits for others who hold it shared too, or who do not
// need it (restoring), so nobody waits for himself.

// Closing are rules of the type of document that closes the books (metadata.Document.Closes).
type Closing interface {
	Rules
	// Look queues the reading of what there is in the period; nobody writes a document of the organisation before the transaction has ended. What it
	// returns is in Facts.Period, filled.
	Look(w *database.Work, d *document.Document) any
}

// ControlClosed names the refusal of what is dated in closed books.
const ControlClosed = "closed"

// Closed is what that control refused.
type Closed struct {
	Month string `json:"month"` // of the document
	Until string `json:"until"` // the last month closed
}

const monthFormat = "2006-01"

// closes is the type of document that closes books; nil when there is none.
func closes(app *metadata.Application) *metadata.Document {
	for i := range app.Documents {
		if app.Documents[i].Closes != "" {
			return &app.Documents[i]
		}
	}
	return nil
}

// lock queues the locks of a question, and asks up to when the books are closed by others than the document itself.
func (b *Books) lock(w *database.Work, d *document.Document, q question) {
	if b.closes == nil {
		lock.Exclusive(w, q.locks())
		return
	}
	asked := lock.Asking(w, q.locks(), "SELECT date FROM "+b.closes.Table()+" WHERE organisation = $2 AND posted AND id <> $3 ORDER BY date DESC LIMIT 1", d.Organisation, d.ID)
	asked.Rows(func(r pgx.Rows) error { return r.Scan(nil, q.closed) })
}

// look queues what a document that closes must know; nil of others.
func (k *kind) look(w *database.Work, d *document.Document) any {
	if closing, ok := k.rules.(Closing); ok && d.Posted {
		return closing.Look(w, d)
	}
	return nil
}

// open refuses what is, or was, dated in closed books.
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
		return &Refusal{Control: ControlClosed, Message: message + "; to open the last month again: " + strings.ReplaceAll(b.closes.Closes, "MONTH", c.Until), Items: []Closed{c}}
	}
	return nil
}
