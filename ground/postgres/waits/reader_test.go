package waits

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/postgres/sqltext"
	"plimsoll/test/leak"
	"plimsoll/test/patience"
)

func TestMain(m *testing.M) { leak.Main(clustertest.Runner(m)) }

// Both statements show the same of a server whose sessions do nothing new: one that sleeps, one without a name that
// waits for its client, and none of those that are idle or left out.
func TestReader(t *testing.T) {
	dsn := clustertest.Database(t).Secret()
	ctx, stop := context.WithCancel(t.Context())
	long := "SELECT pg_sleep(3600) /* " + strings.Repeat("длинно ", 100) + "*/"
	ended := make(chan struct{})
	sleeper, unnamed := clustertest.Connect(t, dsn, "sleeper"), clustertest.Connect(t, dsn, "")
	go func() {
		_, _ = sleeper.Exec(ctx, long)
		close(ended)
	}()
	t.Cleanup(func() { stop(); <-ended })
	if _, err := unnamed.Exec(t.Context(), "BEGIN; SELECT 42"); err != nil {
		t.Fatal(err)
	}
	if _, err := clustertest.Connect(t, dsn, "hidden").Exec(t.Context(), "BEGIN"); err != nil {
		t.Fatal(err)
	}
	clustertest.Connect(t, dsn, "idle")
	for _, mode := range []string{"cache_statement", "exec", "simple_protocol"} {
		for name, connected := range map[string]int{"All": 0, "Each": 1000} {
			t.Run(mode+"/"+name, func(t *testing.T) {
				inMode := fmt.Sprintf("%s&default_query_exec_mode=%s", dsn, mode)
				r, err := NewReader(patience.Context(t), clustertest.Connect(t, inMode, "watcher"), "hidden")
				if err != nil {
					t.Fatal(err)
				}
				var first, last []Session
				patience.Until(t, "both are seen", func() bool {
					all, err := r.Read(patience.Context(t), connected)
					if err != nil {
						t.Fatal(err)
					}
					first = append([]Session(nil), all...)
					return len(all) == 2 && (all[0].Wait.Name == "PgSleep" || all[1].Wait.Name == "PgSleep")
				})
				if last, err = r.Read(patience.Context(t), connected); err != nil || len(last) != 2 {
					t.Fatalf("%v, %+v", err, last)
				}
				for i, s := range last {
					if s.InState <= first[i].InState || s.InState > time.Hour || s.InXact < s.InState {
						t.Errorf("times go on: %+v, then %+v", first[i], s)
					}
					switch s.PID {
					case int(sleeper.PgConn().PID()):
						begins, cut := strings.CutSuffix(s.Query, sqltext.CutMark)
						if s.Application != "sleeper" || s.User != "" || s.State != "active" || s.Class() != Sleep ||
							!strings.HasPrefix(long, begins) || !cut || len(begins) < 500 {
							t.Errorf("%+v", s)
						}
					case int(unnamed.PgConn().PID()):
						if s.Application != "" || s.User == "" || !s.Idle() || s.Query != "BEGIN; SELECT 42" ||
							s.Class() != Client {
							t.Errorf("%+v", s)
						}
					default:
						t.Errorf("nobody asked for %+v", s)
					}
				}
			})
		}
	}
}

// Sessions that send one short statement after the other wait for their client between them, not within them. One that
// is to send rows does.
func TestReader_StatementsThatEndWhileItLooks(t *testing.T) {
	dsn := clustertest.Database(t).Secret()
	copies := clustertest.Connect(t, dsn, "copies")
	if _, err := copies.Exec(t.Context(), "CREATE TABLE taken (n int)"); err != nil {
		t.Fatal(err)
	}
	var short []*pgx.Conn
	for range 8 {
		short = append(short, clustertest.Connect(t, dsn, "short"))
	}
	ctx, stop := context.WithCancel(t.Context())
	rows, send := io.Pipe()
	var working sync.WaitGroup
	t.Cleanup(func() {
		stop()
		send.Close()
		working.Wait()
	})
	working.Go(func() { _, _ = copies.PgConn().CopyFrom(ctx, rows, "COPY taken FROM STDIN") })
	for _, conn := range short {
		working.Go(func() {
			for ctx.Err() == nil {
				_, _ = conn.Exec(ctx, "SELECT 42")
			}
		})
	}
	for _, mode := range []string{"cache_statement", "simple_protocol"} {
		t.Run(mode, func(t *testing.T) {
			inMode := fmt.Sprintf("%s&default_query_exec_mode=%s", dsn, mode)
			r, err := NewReader(patience.Context(t), clustertest.Connect(t, inMode, "watcher"), "hidden")
			if err != nil {
				t.Fatal(err)
			}
			seen := map[string]int{}
			patience.Until(t, "both are seen often", func() bool {
				for range 100 {
					all, err := r.Read(patience.Context(t), 0)
					if err != nil {
						t.Fatal(err)
					}
					for _, s := range all {
						if s.Application == "short" && s.reads() {
							t.Fatalf("a statement that had ended: %+v", s)
						}
						if s.Application == "short" || s.reads() {
							seen[s.Application]++
						}
					}
				}
				return seen["short"] > 200 && seen["copies"] > 20
			})
		})
	}
}

func TestEvent_Class(t *testing.T) {
	for event, want := range map[Event]Class{
		{"IPC", "SyncRep"}: Standby, {"LWLock", "SyncRep"}: Standby, {"IO", "WalSync"}: WAL,
		{"LWLock", "WALWrite"}:     WAL,
		{"Timeout", "CommitDelay"}: WAL, {"Activity", "WalWriterMain"}: Idle, {"Lock", "tuple"}: Lock,
		{"", ""}: Running, {"Quantum", "Foam"}: Other,
	} {
		if got := event.Class(); got != want {
			t.Errorf("%s: %s, want %s", event, got, want)
		}
	}
}
