package layer

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/postgres"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
)

// Ways in which a 1C server's sessions empty their temp tables.
const (
	byTruncate     = "TRUNCATE"
	byFastTruncate = "fasttruncate"
	byAsking       = "query first, then fasttruncate"
)

var c15Ways = []string{byTruncate, byFastTruncate, byAsking}

func clearedSide(v site.Variant, way string) string { return v.Name + ", " + way }

// clearedByServer is the judged part of C15: the report's server has the extension fasttruncate, and its query comes
// before that, not before TRUNCATE.
func clearedByServer(b site.Bench, s *site.Site) trial.Part {
	part := trial.Part{Rounds: b.Rounds(c15Rounds), Turn: b.Turn(c15Turn),
		Series: []trial.Series{{Name: site.OperationRate, Unit: "1/s"}, trial.BusySeries}}
	part.Open = func(ctx context.Context, _ *trial.Record) error {
		return s.Servers.OnBoth(ctx, "CREATE EXTENSION IF NOT EXISTS fasttrun")
	}
	for _, v := range bothEngines {
		for _, way := range c15Ways {
			part.Sides = append(part.Sides, trial.Side{Name: clearedSide(v, way),
				Open: func(ctx context.Context, r *trial.Record) (trial.Turn, error) {
					clients, err := openClearing(ctx, s.Servers, v, way, r)
					if err != nil {
						return nil, err
					}
					return func(ctx context.Context, _ int) (trial.Figures, error) {
						times, err := site.BackToBack(ctx, len(clients), part.Turn, func(who int) func() error {
							return func() error { return clients[who].operation(ctx) }
						})
						return trial.Figures{site.OperationRate: float64(len(times)) / part.Turn.Seconds()}, err
					}, nil
				}})
		}
		part.Measured = append(part.Measured, trial.Say("%s: operations/s %s with a query before fasttruncate, "+
			"against "+
			"%s/s with fasttruncate alone, which is %s of TRUNCATE", v.Name, asked(v), trial.Spread{
			Of: trial.At(clearedSide(v, byFastTruncate), site.OperationRate), Format: "%.1f"},
			trial.Ratio{Of: trial.At(clearedSide(v, byFastTruncate), site.OperationRate),
				To: trial.At(clearedSide(v, byTruncate), site.OperationRate)}))
	}
	return part
}

// asked is the gain of the query.
func asked(v site.Variant) trial.Ratio {
	return trial.Ratio{Of: trial.At(clearedSide(v, byAsking), site.OperationRate),
		To: trial.At(clearedSide(v, byFastTruncate), site.OperationRate)}
}

// clearing is a client whose session keeps its temp tables.
type clearing struct {
	conn *pgx.Conn
	way  string
}

// openClearing opens the clients of a side, with their tables.
func openClearing(ctx context.Context, e *site.Engines, v site.Variant, way string, r *trial.Record) (all []clearing,
	err error) {
	for range site.Clients {
		conn, err := e.Connect(ctx, v)
		if err != nil {
			return nil, err
		}
		r.Close(func() { closeConn(conn) })
		for n := range c15Load.tables {
			if err := postgres.ExecuteOn(ctx, conn, fmt.Sprintf("CREATE TEMP TABLE tt%d (n int8, amount numeric(15, "+
				"2), "+
				"note text)", n), fmt.Sprintf("CREATE INDEX tt%[1]d_n ON tt%[1]d (n)", n)); err != nil {
				return nil, err
			}
		}
		all = append(all, clearing{conn, way})
	}
	return all, nil
}

func closeConn(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = conn.Close(ctx)
}

// operation empties the tables and fills those that do not stay empty, one statement a round trip.
func (c clearing) operation(ctx context.Context) error {
	for n := range c15Load.tables {
		if err := c.clear(ctx, fmt.Sprintf("tt%d", n)); err != nil {
			return err
		}
	}
	for n := range c15Load.tables {
		if c15Load.stays(n) {
			continue
		}
		if _, err := c.conn.Exec(ctx, fmt.Sprintf("INSERT INTO tt%d SELECT n, n * 1.5, 'line' FROM "+
			"generate_series(1, $1::int4) n", n), c15Load.rows); err != nil {
			return err
		}
	}
	var rows int
	if err := c.conn.QueryRow(ctx, "SELECT count(*) FROM tt0").Scan(&rows); err != nil {
		return err
	}
	if rows != c15Load.rows {
		return fmt.Errorf("%s leaves %d rows of %d", c.way, rows, c15Load.rows)
	}
	return nil
}

func (c clearing) clear(ctx context.Context, table string) error {
	if c.way == byAsking {
		found, err := c.conn.Exec(ctx, "SELECT 1 FROM "+table+" LIMIT 1")
		if err != nil || found.RowsAffected() == 0 {
			return err
		}
	}
	sql := "SELECT fasttruncate('" + table + "')"
	if c.way == byTruncate {
		sql = "TRUNCATE " + table
	}
	_, err := c.conn.Exec(ctx, sql)
	return err
}
