// Package number owns document numbers: unique within organisation and kind, rising, not gapless. A worker draws a
// block at a time in a separate short transaction, so that numbering serializes nobody.
package number

import (
	"context"
	"strconv"
	"sync"

	"github.com/jackc/pgx/v5"

	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
)

// Block is how many numbers a worker draws at once; unused ones are skipped when it ends.
const Block = 100

// Numbers hands out numbers.
type Numbers struct {
	db     *database.Database
	mutex  sync.Mutex
	blocks map[key]*block
}

type key struct {
	organisation id.ID
	kind         string
}

type block struct {
	mutex     sync.Mutex
	next, end int64
}

// New starts without a block.
func New(db *database.Database) *Numbers {
	return &Numbers{db: db, blocks: map[key]*block{}}
}

// Next draws a number. Call it outside of a unit of work: it may need a connection of its own.
func (n *Numbers) Next(ctx context.Context, organisation id.ID, kind, prefix string) (string, error) {
	b := n.block(key{organisation, kind})
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.next == b.end {
		first, err := n.draw(ctx, organisation, kind)
		if err != nil {
			return "", err
		}
		b.next, b.end = first, first+Block
	}
	b.next++
	return Format(prefix, b.next-1), nil
}

// Format formats a number.
func Format(prefix string, n int64) string {
	digits := strconv.FormatInt(n, 10)
	return prefix + "-" + "000000000"[:max(0, 9-len(digits))] + digits
}

func (n *Numbers) block(k key) *block {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	if n.blocks[k] == nil {
		n.blocks[k] = &block{}
	}
	return n.blocks[k]
}

// drawSQL waits for the log even where nobody else does: a worker that survives a crash of the server goes on with its
// block, and a lost one would be drawn again.
const drawSQL = `INSERT INTO plimsoll_number AS n (organisation, kind, next) VALUES ($1, $2, 1 + $3::bigint)
ON CONFLICT (organisation, kind) DO UPDATE SET next = n.next + $3 RETURNING next - $3,
	set_config('synchronous_commit', replace(current_setting('synchronous_commit'), 'off', 'on'), true)`

func (n *Numbers) draw(ctx context.Context, organisation id.ID, kind string) (first int64, err error) {
	// repeating it after a lost connection could only skip a block
	err = n.db.Read(ctx, func(w *database.Work) error {
		w.Queue("draw numbers", drawSQL, organisation, kind, Block).Rows(func(r pgx.Rows) error {
			return r.Scan(&first, nil)
		})
		return nil
	})
	return first, err
}
