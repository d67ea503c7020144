package outage

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/postgres/cluster/clustertest"
)

func TestMain(m *testing.M) { clustertest.Main(m) }

// During an outage every statement fails, prepared or not; the session goes on after it.
func TestOutage_OfARealServer(t *testing.T) {
	config, err := pgx.ParseConfig(clustertest.Database(t).Secret() + "&sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	o, dial := &Outage{}, config.DialFunc
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return o.On(conn), nil
	}
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	ask := map[string]func() error{
		"Prepared": func() (err error) {
			got := 0
			return conn.QueryRow(t.Context(), "SELECT $1::int + 1", 41).Scan(&got)
		},
		"Simple": func() (err error) {
			_, err = conn.Exec(t.Context(), "SELECT 1", pgx.QueryExecModeSimpleProtocol)
			return err
		},
		"InATransaction": func() error {
			return pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
				_, err := tx.Exec(t.Context(), "SELECT $1::text", strings.Repeat("long", 50_000))
				return err
			})
		},
	}
	for name, statement := range ask {
		for round := range 2 {
			o.Plan(time.Time{}, time.Time{}, 0, 0)
			if err := statement(); err != nil {
				t.Errorf("%s, round %d: no outage: %v", name, round, err)
			}
			o.Plan(time.Now(), time.Now().Add(time.Hour), time.Second, 1)
			if err := statement(); err == nil {
				t.Errorf("%s, round %d: an outage is not noticed", name, round)
			}
		}
	}
}

func TestOutage_IsAPartOfEachPeriod(t *testing.T) {
	var o Outage
	begin := time.Unix(1000, 0)
	if o.at(begin) {
		t.Error("the zero value refuses")
	}
	o.Plan(begin, begin.Add(10*time.Second), time.Second, 0.2)
	for after, want := range map[time.Duration]bool{-time.Millisecond: false, 0: true, 199 * time.Millisecond: true,
		200 * time.Millisecond: false, 9100 * time.Millisecond: true, 10 * time.Second: false} {
		if o.at(begin.Add(after)) != want {
			t.Errorf("after %s: %v", after, !want)
		}
	}
}
