package clustertest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// trapped are functions that our statements call, as somebody may make them too: result, and arguments.
var trapped = []struct{ name, arguments, result string }{
	{"now", "", "timestamptz"}, {"clock_timestamp", "", "timestamptz"}, {"pg_backend_pid", "", "int"},
	{"current_setting", "text", "text"}, {"current_setting", "text, bool", "text"}, {"pg_is_in_recovery", "", "bool"},
	{"pg_reload_conf", "", "bool"}, {"pg_conf_load_time", "", "timestamptz"}, {"to_regclass", "text", "regclass"},
	{"pg_relation_size", "oid", "bigint"}, {"pg_get_indexdef", "oid", "text"}, {"current_database", "", "name"},
	{"to_jsonb", "pg_catalog.pg_stat_wal", "jsonb"}, {"to_jsonb", "pg_catalog.pg_stat_database", "jsonb"},
	{"pg_postmaster_start_time", "", "timestamptz"}, {"pg_total_relation_size", "oid", "bigint"},
}

// Traps gives the database to a user without rights, who puts functions, an operator and a view where the usual
// search_path of others finds them before the server's own. The answer names those that somebody else has run since.
func Traps(t testing.TB, dsn string) (sprung func() []string) {
	t.Helper()
	owner := fmt.Sprintf("trapper_%d", databases.Add(1))
	Value(t, dsn, fmt.Sprintf("CREATE ROLE %[1]s; DO $$ BEGIN EXECUTE format('ALTER DATABASE %%I OWNER TO %[1]s', "+
		"current_database()); END $$", owner))
	t.Cleanup(func() {
		Value(t, dsn, fmt.Sprintf("REASSIGN OWNED BY %[1]s TO CURRENT_USER; DROP OWNED BY %[1]s; "+
			"DROP ROLE %[1]s", owner))
	})
	sql := "SET ROLE " + owner + "; SET search_path = public;"
	for i, f := range trapped {
		call := "pg_catalog." + f.name + "($1)"
		switch f.arguments {
		case "":
			call = "pg_catalog." + f.name + "()"
		case "text, bool":
			call = "pg_catalog." + f.name + "($1, $2)"
		}
		sql += fmt.Sprintf("CREATE FUNCTION public.%s(%s) RETURNS %s LANGUAGE plpgsql AS $f$ BEGIN "+
			"PERFORM pg_catalog.pg_notify('trap', '%d %s ' || current_user); RETURN %s; END $f$;", f.name, f.arguments,
			f.result, i, f.name, call)
	}
	sql += `CREATE FUNCTION public.trap_equal(name, name) RETURNS bool LANGUAGE plpgsql AS $f$ BEGIN
		PERFORM pg_catalog.pg_notify('trap', 'operator ' || current_user);
		RETURN $1 OPERATOR(pg_catalog.=) $2; END $f$;
		CREATE OPERATOR public.= (LEFTARG = name, RIGHTARG = name, FUNCTION = public.trap_equal);
		CREATE FUNCTION public.trap_view() RETURNS float8 LANGUAGE plpgsql AS $f$ BEGIN
		PERFORM pg_catalog.pg_notify('trap', 'view ' || current_user); RETURN 1; END $f$;
		CREATE VIEW public.pg_stat_statements AS SELECT 1::oid AS dbid, 1::oid AS userid, 1::int8 AS queryid,
			true AS toplevel, 'x' AS query, public.trap_view() AS total_exec_time;
		GRANT SELECT ON public.pg_stat_statements TO PUBLIC;
		DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = public, pg_catalog',
			pg_catalog.current_database()); END $$`
	Value(t, dsn, sql)
	ear := Connect(t, dsn, "")
	if _, err := ear.Exec(t.Context(), "LISTEN trap"); err != nil {
		t.Fatal(err)
	}
	return func() []string { return heard(t, ear) }
}

// heard returns the notifications since the last call: those sent before an answer arrive before it.
func heard(t testing.TB, ear *pgx.Conn) (told []string) {
	t.Helper()
	if _, err := ear.Exec(t.Context(), "SELECT"); err != nil {
		t.Fatal(err)
	}
	for {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		n, err := ear.WaitForNotification(ctx)
		cancel()
		if errors.Is(err, context.DeadlineExceeded) {
			return told
		}
		if err != nil {
			t.Fatal(err)
		}
		told = append(told, n.Payload)
	}
}
