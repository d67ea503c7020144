package diagnose

import (
	"context"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/host/cpu"
	"plimsoll/ground/postgres"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/postgres/waits"
	"plimsoll/lab/diagnose/client"
	"plimsoll/test/patience"
)

// Sessions of a server that is sampled: as many as a small pool of workers has, of which some work.
const (
	sampledActive = 12
	sampledInXact = 8
	sampledIdle   = 20
)

// countedConn counts the bytes that the server sends.
type countedConn struct {
	net.Conn
	read *atomic.Int64
}

func (c countedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.read.Add(int64(n))
	return n, err
}

// populate a server with sessions whose statements are as long as those of an application.
func populate(b *testing.B, dsn string) {
	b.Helper()
	columns := strings.Repeat("order_line.quantity_of_the_item AS quantity, ", 8)
	ctx, stop := context.WithCancel(b.Context())
	ended := make(chan struct{}, sampledActive)
	for i := range sampledActive + sampledInXact + sampledIdle {
		conn := clustertest.Connect(b, dsn, "shop")
		switch {
		case i < sampledActive:
			go func() {
				_, _ = conn.Exec(ctx, "SELECT pg_sleep(3600) /* "+columns+" */")
				ended <- struct{}{}
			}()
		case i < sampledActive+sampledInXact:
			if _, err := conn.Exec(ctx, "BEGIN; SELECT 1 /* "+columns+" */"); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Cleanup(func() {
		stop()
		for range sampledActive {
			<-ended
		}
	})
	patience.Until(b, "all are active", func() bool {
		all, err := waits.Sessions(patience.Context(b), clustertest.Connect(b, dsn, "shop"), ownName)
		return err == nil && len(all) == sampledActive+sampledInXact
	})
}

// What one sample of forty sessions costs: allocations and bytes of this program, rows and bytes that the server sends,
// and the processor time of its process, in microseconds.
func BenchmarkSample(b *testing.B) {
	dsn := clustertest.Database(b).Secret()
	populate(b, dsn)
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		b.Fatal(err)
	}
	var read atomic.Int64
	dial := config.DialFunc
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		return countedConn{conn, &read}, err
	}
	config.RuntimeParams["application_name"] = ownName
	conn, err := postgres.Open(b.Context(), config, postgres.Reading(statementMost)...)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close(b.Context())
	w := &watch{attached: &attached{fast: conn}, every: tick, book: newBook(), heart: newHeart(),
		clients: client.NewBook()}
	defer w.heart.stop()
	reader, err := waits.NewReader(b.Context(), conn, ownName)
	if err != nil {
		b.Fatal(err)
	}
	ctx := context.WithoutCancel(b.Context())
	look := func() {
		all, err := reader.Read(ctx, sampledActive+sampledInXact+sampledIdle)
		if err != nil {
			b.Fatal(err)
		}
		now := time.Now()
		w.recordLook(now.Add(-tick), now, now, tick, all, nil)
	}
	for range 10 { // the server makes its plan after five
		look()
	}
	ran := func() time.Duration {
		s, err := cpu.ReadMainSchedule(int(conn.PgConn().PID()))
		if err != nil {
			b.Fatal(err)
		}
		return s.Ran
	}
	from, began := read.Load(), ran()
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		look()
	}
	b.StopTimer()
	b.ReportMetric(float64(read.Load()-from)/float64(b.N), "bytes-received/op")
	b.ReportMetric(float64((ran()-began).Microseconds())/float64(b.N), "server-µs/op")
}
