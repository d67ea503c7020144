package cli

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/test/patience"
)

// relations of a database that somebody else made.
func relations(t *testing.T, dsn string) (all []string) {
	t.Helper()
	conn := clustertest.Connect(t, dsn, "")
	rows, err := conn.Query(t.Context(), `SELECT relname::text FROM pg_class WHERE relkind IN ('r', 'p')
		AND relnamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
		AND relname !~ '^pg_toast'
		ORDER BY 1`)
	if err == nil {
		all, err = pgx.CollectRows(rows, pgx.RowTo[string])
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// writers are the commands that create missing tables of the ERP.
var writers = map[string][]string{
	"Fill":        {"fill", "--small", "--quiet"},
	"FillIfEmpty": {"fill", "--small", "--quiet", "--if-empty"},
	"Serve":       {"serve", "--listen", "127.0.0.1:0"},
	"Recalculate": {"recalculate"},
}

func TestForeignDatabase_IsNotWrittenTo(t *testing.T) {
	for name, command := range writers {
		t.Run(name, func(t *testing.T) {
			freshState(t)
			dsn := clustertest.Database(t).Secret()
			t.Setenv("PLIMSOLL_DSN", dsn)
			ctx := patience.Context(t) // a worker that is not refused serves until it is stopped
			plimsollWith(t, ctx, "", nil, command...).want(t, ExitUsage,
				"the database is empty and was not made by Plimsoll",
				"hint: if it is the right one, --create")
			if found := relations(t, dsn); len(found) > 0 {
				t.Fatalf("made %s in an empty database", found)
			}
			_, err := clustertest.Connect(t, dsn, "").Exec(t.Context(), "CREATE TABLE pgbench_accounts (aid int)")
			if err != nil {
				t.Fatal(err)
			}
			for _, more := range [][]string{nil, {"--create"}} {
				if more != nil && name == "Recalculate" {
					continue
				}
				plimsollWith(t, ctx, "", nil, append(command, more...)...).want(t, ExitUsage,
					"tables that are not Plimsoll's: pgbench_accounts; nothing was written", "hint: ")
				if found := strings.Join(relations(t, dsn), " "); found != "pgbench_accounts" {
					t.Fatalf("now it has %s", found)
				}
			}
		})
	}
}

func TestEmptyDatabase_IsFilledWhenAsked(t *testing.T) {
	freshState(t)
	t.Setenv("PLIMSOLL_DSN", clustertest.Database(t).Secret())
	plimsoll(t, "fill", "--small", "--quiet", "--create", "--keep-copy=false").want(t, ExitOK)
	plimsoll(t, "fill", "--small", "--quiet", "--if-empty").want(t, ExitOK)
	plimsoll(t, "fill", "--small", "--quiet", "--create").want(t, ExitUsage, "not empty")
}
