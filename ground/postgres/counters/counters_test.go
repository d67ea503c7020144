package counters

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"plimsoll/ground/postgres/cluster/clustertest"
)

func TestMain(m *testing.M) { clustertest.Main(m) }

func TestRead(t *testing.T) {
	conn := clustertest.Connect(t, clustertest.Database(t).Secret(), "")
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
			v.name == WaitTimes && strings.Contains(why, "CREATE EXTENSION plimsoll") ||
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
	if grew := d.Grew(WAL, "a", "n"); grew == nil {
		t.Error("the growth of n is unknown, want 20")
	} else if *grew != 20 {
		t.Errorf("n grew by %v, want 20", *grew)
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

// The list of tables is cut: one that was not in the first reading has years of history, not of this minute.
func TestGrew_OfARowBeyondACutReadingIsUnknown(t *testing.T) {
	tables := func(n int) map[string]map[string]map[string]float64 {
		rows := map[string]map[string]float64{}
		for i := range n {
			rows[fmt.Sprint("public.t", i)] = map[string]float64{"n_tup_ins": 7}
		}
		return map[string]map[string]map[string]float64{Tables: rows}
	}
	most := viewOf(Tables).most
	whole, cut := tables(most-1), tables(most)
	after := tables(most)
	after[Tables]["public.history"] = map[string]float64{"n_tup_ins": 50_000_000}
	begin, end := time.Unix(0, 0), time.Unix(60, 0)
	if grew := Between(Planted(begin, cut), Planted(end, after)).Grew(Tables, "public.history",
		"n_tup_ins"); grew != nil {
		t.Errorf("%v rows, perhaps of years", *grew)
	}
	if grew := Between(Planted(begin, whole), Planted(end, after)).Grew(Tables, "public.history",
		"n_tup_ins"); grew == nil || *grew != 50_000_000 {
		t.Errorf("%v: all tables were read before, so it is new", grew)
	}
}

// The busy database's statistics were reset; what the others did is not all.
func TestSum_WithAResetRowIsUnknown(t *testing.T) {
	databases := func(erp, postgres float64) map[string]map[string]map[string]float64 {
		return map[string]map[string]map[string]float64{Databases: {"erp": {"xact_commit": erp},
			"postgres": {"xact_commit": postgres}}}
	}
	begin, end := time.Unix(0, 0), time.Unix(60, 0)
	d := Between(Planted(begin, databases(1_000_000, 500)), Planted(end, databases(40_000, 520)))
	if sum := d.Sum(Databases, "", "xact_commit"); sum != nil {
		t.Errorf("%v transactions", *sum)
	}
	if sum := d.Sum(Databases, "postgres", "xact_commit"); sum == nil || *sum != 20 {
		t.Errorf("%v: this one was not reset", sum)
	}
}
