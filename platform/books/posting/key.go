package posting

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/platform/books/document"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
	"plimsoll/platform/data/lock"
	"plimsoll/platform/model/metadata"
)

// Key names one operation of one author, so that it is done once however often it is sent. It is written in the
// transaction of the posting itself: both are committed or neither.
type Key struct {
	Author id.ID
	Name   string
	Digest []byte // of the request: the same key with another request is a mistake of the client
	// Also queues what else is done in the same transaction; nil is nothing.
	Also func(*database.Work)
}

const (
	// KeyLength is the longest name of a key.
	KeyLength = 128
	// KeyRetention is how long a key is remembered; a client does not retry for longer.
	KeyRetention = 7 * 24 * time.Hour
	forgetBatch  = 10_000
	// LostMark stands in the key of an operation between the client's and the id of its document, when that is gone
	// and a repair has freed the key. No client can send such a key: its keys have no spaces.
	LostMark = " lost "
)

// ErrKeyReused means that the key was used for a different request.
var ErrKeyReused = errors.New("the idempotency key was used for another request")

const claimSQL = `INSERT INTO plimsoll_operation (author, key, digest, organisation, document_type, document)
	VALUES ($1, $2, $3, $4, $5, $6) RETURNING `

// claim waits for a running operation with the same key, and fails if it has been done. The same statement takes the
// lock of the organisation's period (see closed.go), which saves another.
func (k Key) claim(w *database.Work, d *document.Document) {
	period := "pg_advisory_xact_lock_shared($7)"
	if d.Meta.ReopenHint != "" {
		period = "pg_advisory_xact_lock($7)"
	}
	w.Queue("claim key", claimSQL+period, k.Author, k.Name, k.Digest, d.Organisation, d.Meta.Name, d.ID,
		int64(lock.Of("period", d.Organisation)))
	if k.Also != nil {
		k.Also(w)
	}
}

func isDone(err error) bool {
	return database.IsUniqueViolation(err) && database.Constraint(err) == "plimsoll_operation_pkey"
}

// replay finds the document of an operation that has been done, as it is now.
func (b *Books) replay(ctx context.Context, meta *metadata.Document, key Key) (Result, error) {
	var digest []byte
	result := Result{Replayed: true}
	err := b.db.Read(ctx, func(w *database.Work) error {
		w.Queue("replay", `SELECT o.digest, d.id, d.number, d.posted, d.version FROM plimsoll_operation o JOIN `+
			meta.Table()+` d ON d.id = o.document
			WHERE o.author = $1 AND o.key = $2 AND o.document_type = $3`, key.Author, key.Name, meta.Name).
			Rows(func(r pgx.Rows) error {
				return r.Scan(&digest, &result.ID, &result.Number, &result.Posted, &result.Version)
			})
		return nil
	})
	if err == nil && (result.ID == id.ID{} || !bytes.Equal(digest, key.Digest)) {
		err = ErrKeyReused
	}
	return result, err
}

const forgetSQL = `DELETE FROM plimsoll_operation WHERE ctid = ANY (ARRAY(
	SELECT ctid FROM plimsoll_operation WHERE made_at < now() - make_interval(secs => $1) LIMIT $2))`

// Forget deletes keys older than KeyRetention, in batches, so that no transaction is long.
func (b *Books) Forget(ctx context.Context) (deleted int64, err error) {
	for {
		var some int64
		err := b.db.Read(ctx, func(w *database.Work) error {
			w.Queue("forget keys", forgetSQL, KeyRetention.Seconds(),
				forgetBatch).Affected(func(n int64) error { some = n; return nil })
			return nil
		})
		if deleted += some; err != nil || some < forgetBatch {
			return deleted, err
		}
	}
}
