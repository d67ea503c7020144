package run

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/erp/client"
	"plimsoll/lab/run/result"
)

// writers are the ERP's clients of a run, by the prefix of their keys.
type writers map[string]*writer

// writer is one client. It takes three bits for each of its operations.
type writer struct {
	Written
	lost string // the agent's name
	seen map[string]bits
}

func newWriters(written []Written, lost []Lost) writers {
	all := writers{}
	for _, w := range written {
		all[w.Keys] = &writer{Written: w, seen: map[string]bits{}}
	}
	for _, l := range lost {
		if l.Written.Keys != "" {
			all[l.Written.Keys] = &writer{Written: l.Written, lost: l.Agent, seen: map[string]bits{}}
		}
	}
	return all
}

// bits of the numbers of a series.
type bits []byte

func (b bits) has(n int64) bool { return n/8 < int64(len(b)) && b[n/8]>>(n%8)&1 == 1 }

func (b *bits) set(n int64) {
	if more := n/8 + 1 - int64(len(*b)); more > 0 {
		*b = append(*b, make([]byte, more)...)
	}
	(*b)[n/8] |= 1 << (n % 8)
}

// prefixLength of keys: an id.
const prefixLength = 36

// ofWriters are the operations of clients.
const ofWriters = ` FROM plimsoll_operation o WHERE left(o.key, 36) = ANY ($1)
	AND o.made_at >= now() - make_interval(secs => $2)`

// reconcileKeys compares operation by operation: an acknowledged one must be there once, one of unknown outcome may be,
// any other must not. The database's rows are read as a stream.
func reconcileKeys(ctx context.Context, conn *pgx.Conn, known writers,
	within time.Duration) ([]result.Reconciled, error) {
	keys, counts := slices.Sorted(maps.Keys(known)), keyCounts{}
	rows, err := conn.Query(ctx, "SELECT DISTINCT o.document_type"+ofWriters, keys, within.Seconds())
	if err != nil {
		return nil, fmt.Errorf("read operations: %w", err)
	}
	types, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("read operations: %w", err)
	}
	for _, documentType := range types {
		headers := pgx.Identifier{"doc_" + documentType}.Sanitize()
		rows, err := conn.Query(ctx, "SELECT o.key, EXISTS (SELECT FROM "+headers+" d WHERE d.id = o.document)"+
			ofWriters+" AND o.document_type = $3", keys, within.Seconds(), documentType)
		if err != nil {
			return nil, fmt.Errorf("read operations: %w", err)
		}
		var key string
		var document bool
		if _, err = pgx.ForEachRow(rows, []any{&key, &document}, func() error {
			known[key[:prefixLength]].found(counts, key, documentType, document)
			return nil
		}); err != nil {
			return nil, fmt.Errorf("read operations: %w", err)
		}
	}
	for _, prefix := range keys {
		known[prefix].count(counts)
	}
	return counts.rows(), nil
}

// unreportedMost is more than an agent writes between two reports.
const unreportedMost = 1 << 24

// found is called for each operation of the database.
func (w *writer) found(counts keyCounts, key, documentType string, document bool) {
	operations, documents := counts.countsOf(w, documentType)
	operations.Found++
	k, ok := client.ParseKey(key[min(prefixLength+1, len(key)):])
	series, seen := w.Series[k.Series], w.seen[k.Series]
	ours := ok && k.DocumentType() == documentType && k.N < series.N+unreportedMost
	reported := ours && k.N < series.N
	fate := client.Unknown // of what a lost agent did after its last report
	if reported {
		fate = series.At(k.N)
	}
	if !ours || !reported && w.lost == "" || fate == client.NotDone || seen.has(k.N) {
		unexpected(operations, key)
		if k.Creates() && document {
			documents.Found++
			unexpected(documents, key)
		}
		return
	}
	seen.set(k.N)
	w.seen[k.Series] = seen
	switch {
	case !k.Creates():
	case document:
		documents.Found++
	case fate == client.Acknowledged:
		missing(documents, key)
	}
}

// count what the client knows, when all that is there has been found.
func (w *writer) count(counts keyCounts) {
	for name, series := range w.Series {
		k := client.Key{Series: name}
		operations, documents := counts.countsOf(w, k.DocumentType())
		if !k.Creates() {
			documents = &result.Reconciled{ByKey: &result.ByKey{}}
		}
		for k.N = range series.N {
			switch series.At(k.N) {
			case client.Acknowledged:
				operations.Acknowledged++
				documents.Acknowledged++
				if !w.seen[name].has(k.N) {
					missing(operations, w.Keys+"-"+k.String())
					missing(documents, w.Keys+"-"+k.String())
				}
			case client.Unknown:
				operations.Unknown++
				documents.Unknown++
			case client.NotDone:
			}
		}
	}
}

// keyCounts are what is compared, by its name.
type keyCounts map[string]*result.Reconciled

// countsOf returns the counts of a client's operations on documents of a type, and of those that create one. All
// operations of a lost agent are counted together.
func (c keyCounts) countsOf(w *writer, documentType string) (operations, documents *result.Reconciled) {
	if w.lost == "" {
		return c.named("operations on " + documentType), c.named("documents " + documentType)
	}
	operations = c.named("operations on documents of agent " + w.lost + ", which was lost")
	operations.Lost = true
	return operations, &result.Reconciled{ByKey: &result.ByKey{}}
}

func (c keyCounts) named(what string) *result.Reconciled {
	if c[what] == nil {
		c[what] = &result.Reconciled{What: what, ByKey: &result.ByKey{}}
	}
	return c[what]
}

// rows in a fixed order, those of lost agents last.
func (c keyCounts) rows() (all []result.Reconciled) {
	for _, lost := range []bool{false, true} {
		for _, what := range slices.Sorted(maps.Keys(c)) {
			if c[what].Lost == lost {
				all = append(all, *c[what])
			}
		}
	}
	return all
}

func missing(r *result.Reconciled, key string) {
	r.ByKey.Missing++
	example(r, key)
}

func unexpected(r *result.Reconciled, key string) {
	r.ByKey.Unexpected++
	example(r, key)
}

// keysNamed of a comparison at most.
const keysNamed = 3

func example(r *result.Reconciled, key string) {
	if len(r.ByKey.Examples) < keysNamed {
		r.ByKey.Examples = append(r.ByKey.Examples, key)
	}
}
