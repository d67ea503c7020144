package clustertest_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/test/leak"
)

func TestMain(m *testing.M) { leak.Main(clustertest.Runner(m)) }

func TestDatabase(t *testing.T) {
	t.Run("IsFreshForEachTest", func(t *testing.T) {
		for range 2 {
			t.Run("", func(t *testing.T) {
				conn := clustertest.Connect(t, clustertest.Database(t).Secret(), "")
				if _, err := conn.Exec(t.Context(), "CREATE TABLE only_here (n int)"); err != nil {
					t.Fatal(err)
				}
			})
		}
	})
	t.Run("IsDroppedThoughTheTestStaysConnected", func(t *testing.T) {
		var name string
		t.Run("", func(t *testing.T) {
			conn, err := pgx.Connect(t.Context(), clustertest.Database(t).Secret())
			if err != nil {
				t.Fatal(err)
			}
			name = conn.Config().Database
		})
		conn := clustertest.Connect(t, clustertest.Start(t).DSN("").Secret(), "")
		var there bool
		err := conn.QueryRow(t.Context(), "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)",
			name).Scan(&there)
		if err != nil || there {
			t.Errorf("database %s is there: %v, %v", name, there, err)
		}
	})
}

func TestCopy(t *testing.T) {
	filled := 0
	fill := func(dsn string) error {
		filled++
		conn, err := pgx.Connect(t.Context(), dsn)
		if err != nil {
			return err
		}
		_, err = conn.Exec(t.Context(), "CREATE TABLE kept AS SELECT 42 AS n")
		return errors.Join(err, conn.Close(t.Context()))
	}
	name := fmt.Sprintf("one_%d", time.Now().UnixNano()) // another one where the test is run several times
	for range 2 {
		conn := clustertest.Connect(t, clustertest.Copy(t, name, fill).Secret(), "")
		var n int
		if err := conn.QueryRow(t.Context(), "UPDATE kept SET n = n + 1 RETURNING n").Scan(&n); err != nil || n != 43 {
			t.Errorf("%d, %v: want a copy of its own", n, err)
		}
	}
	if filled != 1 {
		t.Errorf("filled %d times", filled)
	}
}
