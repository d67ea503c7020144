package cluster_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/clustertest"
)

func itoa(n int) string { return strconv.Itoa(n) }

func TestDSN_ShowsNoPassword(t *testing.T) {
	dsn := clustertest.Start(t).DSN("")
	config, err := pgx.ParseConfig(dsn.Secret())
	check(t, err)
	var logged bytes.Buffer
	slog.New(slog.NewJSONHandler(&logged, nil)).Info("x", "dsn", dsn, "all", struct{ D cluster.DSN }{dsn})
	asJSON, err := json.Marshal(map[string]any{"dsn": dsn, "pointer": &dsn})
	check(t, err)
	for _, text := range []string{
		dsn.String(), fmt.Sprintf("%v %+v %s %q %#v", dsn, dsn, dsn, dsn, dsn),
		fmt.Sprintf("%v %+v", &dsn, []cluster.DSN{dsn}),
		fmt.Sprintf("%+v %#v", struct{ D cluster.DSN }{dsn}, struct{ D cluster.DSN }{dsn}), logged.String(),
		string(asJSON),
	} {
		if strings.Contains(text, config.Password) || !strings.Contains(text, "passfile=/") {
			t.Errorf("shows the password, or not its file: %s", text)
		}
	}
	conn, err := pgx.Connect(t.Context(), dsn.String()) // what is shown can be copied
	check(t, err)
	check(t, conn.Close(t.Context()))
	if len(config.Password) < 20 {
		t.Errorf("password %q is short", config.Password)
	}
}

func TestDSN_ReachesOverTCPAndSocket(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.create("a")
	start(t, c)
	for dsn, want := range map[cluster.DSN]string{c.DSN("template1"): "127.0.0.1/32",
		c.SocketDSN("template1"): "socket"} {
		conn, err := pgx.Connect(t.Context(), dsn.Secret())
		check(t, err)
		var from, database string
		check(t, conn.QueryRow(t.Context(),
			"SELECT coalesce(inet_server_addr()::text, 'socket'), current_database()").Scan(&from, &database))
		if from != want || database != "template1" {
			t.Errorf("%s: from %s to %s", dsn, from, database)
		}
		conn.Close(t.Context())
	}
}

// ask gives the answer to a query over TCP, as text.
func ask(t *testing.T, c *cluster.Cluster, sql string) string {
	t.Helper()
	return clustertest.Value(t, c.DSN("").Secret(), sql)
}
