package event

import (
	"strings"
	"testing"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/postgres/waits"
	"plimsoll/test/golden"
	"plimsoll/test/leak"
	"plimsoll/test/patience"
)

func TestMain(m *testing.M) { leak.Main(clustertest.Runner(m)) }

func TestTable(t *testing.T) { golden.Compare(t, "../../../docs/diagnose-waits.md", Table()) }

// Every event that the server knows has a meaning, and none is said to be in a version that does not have it.
func TestAll_AreTheServersOwn(t *testing.T) {
	conn := clustertest.Connect(t, clustertest.Database(t).Secret(), "")
	ctx := patience.Context(t)
	var version int
	if err := conn.QueryRow(ctx, "SELECT current_setting('server_version_num')::int / "+
		"10000").Scan(&version); err != nil {
		t.Fatal(err)
	}
	if version < 17 {
		t.Skipf("NOT TESTED: PostgreSQL %d has no pg_wait_events", version)
	}
	rows, err := conn.Query(ctx, "SELECT type, name FROM pg_wait_events")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	has := map[string]bool{}
	for rows.Next() {
		var e waits.Event
		if err := rows.Scan(&e.Type, &e.Name); err != nil {
			t.Fatal(err)
		}
		has[strings.ToLower(e.String())] = true
		if m, known := Of(e); !known {
			t.Errorf("%s has no meaning", e)
		} else if !m.In(version) {
			t.Errorf("%s is said not to be in %d", e, version)
		}
	}
	if err := rows.Err(); err != nil || len(has) < 200 {
		t.Fatalf("%d events, %v", len(has), err)
	}
	for _, m := range All() {
		if m.In(version) && !has[m.key()] && !unlisted[m.Name] {
			t.Errorf("%s:%s is said to be in %d, which does not know it", m.Type, m.Name, version)
		}
	}
}

// unlisted are events that some builds have and others have not.
var unlisted = map[string]bool{"AioUringCompletion": true, "AioIoUringSubmit": true, "AioIoUringExecution": true,
	"WaitForWalFlush": true, "WaitForWalReplay": true, "WaitForWalWrite": true, "WalReceiverUpstreamCatchup": true}

func TestOf(t *testing.T) {
	for e, want := range map[waits.Event]string{
		{Type: "IO", Name: "WALSync"}: "the log to be on disk", {Type: "IO", Name: "WalSync"}: "the log to be on disk",
		{Type: "IPC", Name: "SyncRep"}:         "a synchronous standby's confirmation",
		{Type: "LWLock", Name: "SyncRep"}:      "the list of commits that wait",
		{Type: "Extension", Name: "MyForeign"}: "what an extension calls MyForeign",
	} {
		if m, known := Of(e); !known || !strings.HasPrefix(m.Waits, want) {
			t.Errorf("%s: %+v, want %q", e, m, want)
		}
	}
	if m, known := Of(waits.Event{Type: "LWLock", Name: "Foam"}); known {
		t.Errorf("an event that nobody knows means %+v", m)
	}
}

func TestParse_RefusesALineWithoutItsSubject(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("it was taken")
		}
	}()
	parse("x.txt", "IO DataFileRead: a page\n")
}
