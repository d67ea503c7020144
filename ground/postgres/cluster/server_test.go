package cluster

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"plimsoll/ground/postgres/installation"
	"plimsoll/test/files"
)

// A stopped cluster remembers the server of its last start, which may have been rebuilt since.
func TestServerNow_IsTheOneOfTheNextStart(t *testing.T) {
	engine := os.Getenv("PLIMSOLL_TEST_ENGINE")
	now, err := installation.Find(t.Context(), engine)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	c := &Cluster{store: Open(dir), dir: filepath.Join(dir, "cluster")}
	c.Engine, c.marker.Server = engine, installation.Server{Version: "15.1", Prefix: "/of/the/last/start"}
	if err := os.MkdirAll(c.DataDir(), 0o700); err != nil {
		t.Fatal(err)
	}
	files.Write(t, c.DataDir(), "PG_VERSION", fmt.Sprintln(now.Major()))
	got, err := c.ServerNow(t.Context())
	if err != nil || got != now {
		t.Errorf("%+v, %v; want %+v", got, err, now)
	}
}
