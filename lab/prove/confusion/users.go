package confusion

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
)

// The base's load: users who look something up, sell, and change a customer's data.
const (
	lookers, sellers, editors = 6, 4, 2
	lookThink, sellThink      = 20 * time.Millisecond, 20 * time.Millisecond
	// linesOfSale are what a sale writes.
	linesOfSale = 20
)

func (s *scene) users() {
	s.clients(lookers, "desk", lookThink, readOrders)
	s.clients(sellers, "till", sellThink, sell)
	s.clients(editors, "office", sellThink, edit)
}

// readOrders reads a customer's orders, or the sales of a day.
func readOrders(ctx context.Context, conn *pgx.Conn, rng *rand.Rand) error {
	var n int64
	if rng.IntN(4) == 0 {
		return conn.QueryRow(ctx, "SELECT count(*) FROM orders o JOIN customers c ON c.id = o.customer "+
			"WHERE o.day = $1 AND c.region = $2", 1+rng.IntN(900), rng.IntN(50)).Scan(&n)
	}
	return conn.QueryRow(ctx, "SELECT count(*) FROM orders WHERE customer = $1", 1+rng.IntN(20000)).Scan(&n)
}

// sell writes a document with its lines in one round trip.
func sell(ctx context.Context, conn *pgx.Conn, rng *rand.Rand) error {
	var b pgx.Batch
	b.Queue("INSERT INTO lines SELECT nextval('documents'), n, 1 + (n * $1) % 5000, n, 'line ' || n "+
		"FROM generate_series(1, $2::int) n", 1+rng.IntN(5000), linesOfSale)
	b.Queue("UPDATE items SET stock = stock - 1 WHERE id = $1", 1+rng.IntN(5000))
	return conn.SendBatch(ctx, &b).Close()
}

// edit is a transaction of several round trips.
func edit(ctx context.Context, conn *pgx.Conn, rng *rand.Rand) error {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return err
	}
	id := 1 + rng.IntN(20000)
	var name string
	if err := tx.QueryRow(ctx, "SELECT name FROM customers WHERE id = $1 FOR UPDATE", id).Scan(&name); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, "UPDATE customers SET balance = balance + 1 WHERE id = $1", id); err != nil {
		return err
	}
	return tx.Commit(ctx)
}
