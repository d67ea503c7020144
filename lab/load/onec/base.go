package onec

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"plimsoll/ground/postgres"
	"plimsoll/ground/problem"
)

// ErrNoBase: the database holds no 1C base of ours.
var ErrNoBase = errors.New("the database holds no 1C base")

// Base is what a database holds.
type Base struct {
	Sizes
	MChar bool   `json:"mchar"` // texts are of the extension's types
	Disk  string `json:"disk"`  // in words
}

// String says it in words.
func (b Base) String() string {
	texts := "plain texts"
	if b.MChar {
		texts = "mchar"
	}
	return fmt.Sprintf("1C base, %s: %s, %s", texts, b.Sizes, b.Disk)
}

const undefinedTable = "42P01"

func readState(ctx context.Context, conn *pgx.Conn) (s state, done int, err error) {
	var text []byte
	err = conn.QueryRow(ctx, "SELECT base, done FROM public."+stateTable).Scan(&text, &done)
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == undefinedTable || errors.Is(err, pgx.ErrNoRows) {
		return s, 0, ErrNoBase
	}
	if err != nil {
		return s, 0, fmt.Errorf("read the base's sizes: %w", err)
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return s, 0, fmt.Errorf("read the base's sizes: %w", err)
	}
	return s, done, nil
}

// Look reads what a base holds; one that is not complete is refused.
func Look(ctx context.Context, dsn string) (b Base, err error) {
	conn, err := postgres.AsOwner(ctx, dsn)
	if err != nil {
		return b, fmt.Errorf("connect to the database: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return lookAt(ctx, conn)
}

func lookAt(ctx context.Context, conn *pgx.Conn) (b Base, err error) {
	s, done, err := readState(ctx, conn)
	if errors.Is(err, ErrNoBase) {
		return b, problem.New(problem.Environment, err, "'plimsoll fill --load 1c' makes one")
	}
	if err != nil {
		return b, err
	}
	if all := len(s.portions()); done < all {
		return b, problem.New(problem.Environment, fmt.Errorf("an earlier fill did not finish: %d of %d portions",
			done, all), "'plimsoll fill --load 1c' with the same sizes continues it")
	}
	b.Sizes, b.MChar = s.Sizes, s.MChar
	err = conn.QueryRow(ctx, "SELECT pg_size_pretty(pg_database_size(current_database()))").Scan(&b.Disk)
	return b, err
}
