package advise

import (
	"context"
	"fmt"
)

const ageSQL = `SELECT * FROM (SELECT datname AS name, 'autovacuum_freeze_max_age' AS schema,
	age(datfrozenxid)::float8 AS live FROM pg_database UNION ALL SELECT datname, 'autovacuum_multixact_freeze_max_age',
	mxid_age(datminmxid)::float8 FROM pg_database) AS ages
	ORDER BY live / current_setting(schema)::float8 DESC LIMIT 1`

const freezingSQL = `SELECT count(*)::float8 AS live FROM pg_stat_activity
	WHERE backend_type = 'autovacuum worker' AND query LIKE '%to prevent wraparound%'`

var wraparound = class{
	name: "wraparound", healthy: "autovacuum freezes old rows before they become a problem",
	find: func(ctx context.Context, s *server) ([]Advice, error) {
		oldest, err := one[table](ctx, s, ageSQL)
		if err != nil || oldest == nil {
			return nil, err
		}
		most := s.figure(oldest.Schema)
		if oldest.Live < freezeMost.Value*most {
			return nil, nil
		}
		workers, err := one[table](ctx, s, freezingSQL)
		if err != nil {
			return nil, err
		}
		level := Problem
		if workers.Live > 0 && oldest.Live < freezeLate.Value {
			level = Note // a busy server begins so many while autovacuum reads a large table
		}
		return []Advice{{ID: "wraparound", Level: level,
			Title:     "Old rows of database " + oldest.Name + " are not frozen",
			Mechanism: "After about two billion transactions the server refuses all writes, to protect old rows.",
			Evidence: []string{fmt.Sprintf("age %.0f, %s is %.0f; "+
				"%.0f autovacuum workers are freezing now", oldest.Live,
				oldest.Schema, most, workers.Live)},
			Do: []string{"end what holds back vacuum in that database: old transactions, prepared ones, slots",
				"VACUUM (FREEZE) its oldest tables"},
			Prove:  "psql -c 'SELECT datname, age(datfrozenxid), mxid_age(datminmxid) FROM pg_database' shows it fall",
			Revert: "nothing to undo"}}, nil
	},
}
