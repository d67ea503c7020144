package tally

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// SQLSTATEs of a server that is overloaded. Unlike the other insufficient resources a full disk does not pass by
// itself, so that it is a failure and no overload.
const (
	insufficient  = "53"
	diskFull      = "53100"
	cannotConnect = "57P03"
)

// OutcomeOfSQL is how statements ended that gave an error, or none.
func OutcomeOfSQL(ctx context.Context, err error) (Outcome, error) {
	var pg *pgconn.PgError
	switch {
	case err == nil:
		return OK, nil
	case ctx.Err() != nil:
		return Failed, ctx.Err()
	case !errors.As(err, &pg):
		return Failed, err
	case pg.Code == cannotConnect, strings.HasPrefix(pg.Code, insufficient) && pg.Code != diskFull:
		return Overload, err
	}
	return Failed, err
}
