package counters

import (
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/lab/postgres/cluster/clustertest"
)

func TestMain(m *testing.M) { clustertest.Main(m) }

func TestRead(t *testing.T) {
	conn, err := pgx.Connect(t.Context(), clustertest.Database(t).Secret())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	var s Server
	if err := conn.QueryRow(t.Context(), `SELECT current_setting('server_version_num')::int,
		current_setting('track_io_timing')::bool, current_setting('track_wal_io_timing')::bool`).Scan(&s.Version,
		&s.TimesIO, &s.TimesWAL); err != nil {
		t.Fatal(err)
	}
	r, err := Read(t.Context(), conn, s)
	if err != nil {
		t.Fatal(err)
	}
	d := Between(r, r)
	for _, v := range views {
		why := d.Why(v.name)
		expected := v.name == Statements && strings.Contains(why, "CREATE EXTENSION") ||
			v.name == WaitSamples && strings.Contains(why, "extension pg_wait_sampling") ||
			v.from > s.Version && strings.Contains(why, "from")
		if why != "" && !expected {
			t.Errorf("%s cannot be read: %s", v.name, why)
		}
	}
	if grew := d.Sum(Databases, "", "xact_commit"); grew == nil || *grew != 0 {
		t.Errorf("between a reading and itself %v transactions committed", grew)
	}
	if !s.TimesIO {
		if grew := d.Sum(Databases, "", "blk_read_time"); grew != nil {
			t.Errorf("nobody took the time of reads, and it is %v", *grew)
		}
	}
}

func reading(version int, rows map[string]map[string]float64, missing map[string]string) *Reading {
	return &Reading{At: time.Unix(int64(version), 0), missing: missing,
		rows: map[string]map[string]map[string]float64{WAL: rows}}
}

func TestDelta(t *testing.T) {
	before := reading(0, map[string]map[string]float64{"a": {"n": 5, "reset": 9}}, nil)
	after := reading(10, map[string]map[string]float64{"a": {"n": 25, "reset": 2}, "new": {"n": 3}}, nil)
	d := Between(before, after)
	if grew := d.Grew(WAL, "a", "n"); grew == nil || *grew != 20 {
		t.Errorf("%v", grew)
	}
	if grew := d.Sum(WAL, "", "n"); grew == nil || *grew != 23 || *d.PerSecond(grew) != 2.3 {
		t.Errorf("%v: a row that was not there began at zero", grew)
	}
	for name, grew := range map[string]*float64{
		"reset": d.Grew(WAL, "a", "reset"), "no column": d.Grew(WAL, "a", "x"), "no row": d.Grew(WAL, "x", "n"),
		"no view": d.Sum(Transfers, "", "reads"), "nothing in a second": d.PerSecond(nil),
		"lost": Between(before, Lost("the server went away")).Sum(WAL, "", "n"),
	} {
		if grew != nil {
			t.Errorf("%s: %v, want nothing known", name, *grew)
		}
	}
}

func TestNumbers_OfTimesThatNobodyTookAreMissing(t *testing.T) {
	var io view
	for _, v := range views {
		if v.name == Transfers {
			io = v
		}
	}
	row := map[string]any{"object": "wal", "reads": 3.0, "fsync_time": 0.0, "read_bytes": nil}
	if got := numbers(row, io, Server{TimesIO: true}); len(got) != 1 || got["reads"] != 3 {
		t.Errorf("%v: track_wal_io_timing is off", got)
	}
	if got := numbers(row, io, Server{TimesWAL: true}); len(got) != 2 {
		t.Errorf("%v: track_wal_io_timing is on", got)
	}
}
