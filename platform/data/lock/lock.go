// Package lock owns managed locks: a posting locks combinations of dimension values, such as "this item at this
// warehouse", until its transaction ends. They are advisory locks of the database, so they hold across workers; a lock
// that is not granted in time fails with the database's lock timeout.
package lock

import (
	"hash/fnv"
	"slices"

	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
)

// Key of a combination. Two combinations share a key with probability 2^-64; they then exclude each other needlessly,
// which is safe.
type Key int64

// Of is the key of a combination of values in a space (a register).
func Of(space string, values ...id.ID) Key {
	hash := fnv.New64a()
	hash.Write([]byte(space))
	for _, v := range values {
		hash.Write(v[:])
	}
	return Key(hash.Sum64())
}

// Exclusive queues taking all keys until the end of the transaction, in one order for everybody, so that lockers cannot
// deadlock. A transaction locks once: a second call could break the order.
func Exclusive(w *database.Work, keys []Key) {
	if len(keys) > 0 {
		// unnest yields in the order of the array, and each row's lock is taken before the next row
		w.Queue("lock", "SELECT count(pg_advisory_xact_lock(k)) FROM unnest($1::bigint[]) AS k", sorted(keys))
	}
}

// Asking is Exclusive with a question, whose single value is the second column of the single row; its parameters count
// from $2. The answer is from before the wait for the locks, so the question must be about what was settled before.
func Asking(w *database.Work, keys []Key, question string, args ...any) *database.Statement {
	return w.Queue("lock", "SELECT count(pg_advisory_xact_lock(k)), ("+question+") FROM unnest($1::bigint[]) AS k",
		append([]any{sorted(keys)}, args...)...)
}

func sorted(keys []Key) []int64 {
	values := make([]int64, len(keys))
	for i, k := range keys {
		values[i] = int64(k)
	}
	slices.Sort(values)
	return slices.Compact(values)
}
