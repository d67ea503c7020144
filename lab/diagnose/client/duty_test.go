package client

import (
	"strings"
	"testing"
)

func TestDutyOf(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT ?": "tests", "select 1": "tests", "SELECT $1": "tests", "SELECT ? AS alive": "tests",
		"SELECT pg_is_in_recovery()": "tests", "SELECT current_schema()": "tests", "SELECT version();": "tests",
		"SELECT ?::int, now()": "tests", "VALUES (?)": "tests", "SELECT current_user": "tests",
		"SET TimeZone = ?": "settings", "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY": "settings",
		"SET LOCAL work_mem TO ?": "settings", "RESET ALL": "settings", "SHOW transaction_isolation": "settings",
		"SELECT set_config(?, ?, ?)": "settings", "SELECT pg_catalog.set_config($1, $2, $3) AS x": "settings",
		"SET TRANSACTION ISOLATION LEVEL SERIALIZABLE": "settings",
		"SET application_name = ?":                     "", "SET CONSTRAINTS ALL DEFERRED": "",
		"DISCARD ALL": "clean-up", "DEALLOCATE p1": "clean-up", "UNLISTEN *": "clean-up",
		"PREPARE p1 AS SELECT n FROM t WHERE id = $1": "statements that are prepared", "PREPARE TRANSACTION ?": "",
		"SELECT t.oid, t.typname FROM pg_type t WHERE t.typname = $1":              "reads of the catalogs",
		"SELECT c.relname, a.attname FROM pg_catalog.pg_attribute a":               "reads of the catalogs",
		"SELECT column_name FROM information_schema.columns WHERE table_name = ?":  "reads of the catalogs",
		"SELECT relname FROM pg_stat_user_tables t JOIN pg_class c ON oid = relid": "",
		"SAVEPOINT s1": "savepoints", "RELEASE SAVEPOINT s1": "savepoints", "ROLLBACK TO SAVEPOINT s1": "savepoints",
		"LISTEN jobs": "LISTEN", "NOTIFY jobs": "", "SELECT pg_notify(?, ?)": "",
		"SELECT pg_advisory_xact_lock(?)": "advisory", "SELECT pg_try_advisory_lock(?, ?) AS got": "advisory",
		"SELECT nextval(?)": "numbers", "SELECT nextval($1) FROM generate_series($2, $3)": "",
		"SELECT name FROM items WHERE id = ?": "", "SELECT count(*) FROM t": "", "SELECT new_order(?)": "",
		"UPDATE settings SET value = ?": "", "BEGIN": "", "SELECT ?; SET a = ?;": "tests",
		"SET a = ?; CREATE TABLE t (n int)": "", "": "",
		"SELECT set_config(?, name, ?) FROM accounts WHERE id = ?": "",
	} {
		got := ""
		if d := DutyOf(text); d != nil {
			got = d.Name
		}
		if (want == "") != (got == "") || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestBrackets(t *testing.T) {
	for text, want := range map[string]bool{"BEGIN": true, "begin transaction read only": true, "COMMIT": true,
		"START TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY": true, "ROLLBACK": true, "END": true,
		"ROLLBACK TO SAVEPOINT s": false, "COMMIT PREPARED ?": false, "BEGIN; UPDATE hot SET n = ?": false} {
		if got := Brackets.Is(text); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
	seen := map[string]bool{}
	for _, d := range append([]*Duty{Brackets}, Duties...) {
		if d.Name == "" || d.Cure == "" || seen[d.Name] {
			t.Errorf("%+v does not describe itself", d)
		}
		seen[d.Name] = true
	}
}
