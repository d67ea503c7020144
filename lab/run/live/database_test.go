package live

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/test/patience"
)

// until waits for something that the picture will show sooner or later.
func until(t *testing.T, p *Picture, what string, holds func(*Database) bool) {
	t.Helper()
	patience.Until(t, "it shows "+what, func() bool {
		p.mu.Lock()
		d := p.database
		p.mu.Unlock()
		return holds(d)
	})
}

func TestDatabaseIsWatched(t *testing.T) {
	dsn := clustertest.Database(t).Secret()
	conn := func() *pgx.Conn {
		c, err := pgx.Connect(t.Context(), dsn)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close(context.Background()) })
		return c
	}
	holder, waiter := conn(), conn()
	p := New(nil)
	ctx, stop := context.WithCancel(t.Context())
	var watching sync.WaitGroup
	watching.Add(1)
	go func() { defer watching.Done(); p.WatchDatabase(ctx, dsn) }()

	if _, err := holder.Exec(t.Context(), "CREATE TABLE held (id int); INSERT INTO held SELECT generate_series(1, "+
		"50000)"); err != nil {
		t.Fatal(err)
	}
	until(t, p, "rates", func(d *Database) bool {
		return d != nil && d.WALBytes != nil && d.Transactions != nil && d.Connections >= 2
	})
	if _, err := holder.Exec(t.Context(), "BEGIN; LOCK TABLE held"); err != nil {
		t.Fatal(err)
	}
	var waiting sync.WaitGroup
	waiting.Add(1)
	go func() { defer waiting.Done(); _, _ = waiter.Exec(ctx, "SELECT count(*) FROM held") }()
	until(t, p, "a session that waits for a lock", func(d *Database) bool {
		return d != nil && d.Classes[classOf("Lock")] > 0.9 && slices.ContainsFunc(d.Waits, func(w Wait) bool {
			return w.Event == "relation"
		})
	})

	// A client that closes the watch's connection sees it reconnect. The watch is the third session of the database;
	// which of its queries was the last depends on the moment.
	patience.Until(t, "the watch's session is ended", func() bool {
		ended, err := holder.Exec(t.Context(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE "+
			"datname = current_database() AND backend_type = 'client backend' AND pid <> ALL ($1)",
			[]uint32{holder.PgConn().PID(), waiter.PgConn().PID()})
		if err != nil {
			t.Fatal(err)
		}
		return ended.RowsAffected() > 0
	})
	until(t, p, "no database", func(d *Database) bool { return d == nil })
	until(t, p, "the database again", func(d *Database) bool { return d != nil })
	d, _ := p.Since(0)
	// More than two where a look of a busy machine took too long.
	if len(d.Log) < 2 || d.Log[0].Tone != Alarm || d.Log[1].Text != "the database answers again" {
		t.Errorf("want the loss and the return of the database, got %+v", d.Log)
	}
	stop()
	watching.Wait()
	waiting.Wait()
	until(t, p, "nothing after its end", func(d *Database) bool { return d == nil })
}
