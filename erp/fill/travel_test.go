package fill

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"plimsoll/platform/model/schema/schematest"
)

// numbersInto a table, some chunks of them.
func numbersInto(name string, first, count int64) *table {
	t := &table{name: name, copy: "COPY " + name + " FROM STDIN (FORMAT binary)", columns: 1}
	var tally Tally
	for n := range count {
		start := t.begin()
		t.bigint(first + n)
		t.end(start, &tally)
	}
	t.full = append(t.full, append(t.data, copyTrailer...))
	return t
}

func TestTablesTravelOneBehindTheOther(t *testing.T) {
	db := schematest.Open(t)
	db.Exec(t, "CREATE TABLE a (n bigint); CREATE TABLE b (n bigint CHECK (n > 0)); CREATE TABLE c (n bigint)",
		pgx.QueryExecModeSimpleProtocol)
	conn, err := dial(t.Context(), db.Database)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	const many = 3 * chunkSize / 14 // a row takes 14 bytes
	send := func(all ...*table) error {
		tables := make(chan *table, len(all))
		for _, one := range all {
			tables <- one
		}
		close(tables)
		return pgx.BeginFunc(t.Context(), conn, func(pgx.Tx) error {
			return (&travel{conn: conn.PgConn()}).tables(t.Context(), tables)
		})
	}
	if err := send(numbersInto("a", 1, many), numbersInto("b", 1, 1), numbersInto("c", 1, many),
		numbersInto("a", many+1, 5)); err != nil {
		t.Fatal(err)
	}
	if got := db.Value(t, "SELECT count(*) || ' ' || max(n) || ' ' || (SELECT count(*) FROM b) || ' ' || (SELECT "+
		"sum(n) FROM c) FROM a"); got != db.Value(t,
		"SELECT $1::bigint + 5 || ' ' || $1 + 5 || ' 1 ' || $1 * ($1 + 1) / 2", int64(many)) {
		t.Errorf("there are %s", got)
	}
	// The one that fails is told, whatever was sent behind it; the connection is as good as before, and nothing of it
	// all stays.
	err = send(numbersInto("c", 1, many), numbersInto("b", -many, many), numbersInto("a", 1, many),
		numbersInto("c", 1, 1))
	var refused *pgconn.PgError
	if !errors.As(err, &refused) || refused.Code != "23514" || !strings.HasPrefix(err.Error(), "b: ") {
		t.Errorf("got %v", err)
	}
	if got := db.Value(t, "SELECT count(*) FROM c"); got != db.Value(t, "SELECT $1::bigint", int64(many)) {
		t.Errorf("%s rows", got)
	}
	if err := send(numbersInto("b", 7, 1)); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	wrong := numbersInto("b", 7, 2)
	wrong.rows = 3
	if err := send(wrong, numbersInto("b", 9, 1)); err == nil || db.Value(t, "SELECT count(*) FROM b") != "2" {
		t.Errorf("a row was lost: %v", err)
	}
}
