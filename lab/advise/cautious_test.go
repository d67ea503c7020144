package advise

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"plimsoll/ground/host/machine"
	"plimsoll/ground/postgres/cluster/clustertest"
)

// aLockedTable, as by an ALTER TABLE that waits, makes no class unavailable: nothing waits for it.
func aLockedTable(t *testing.T, b *bench) {
	dsn := b.database(t)
	b.on(t, dsn, orders, "CREATE INDEX ON orders (lower(text)) WHERE id > 0")
	owner := clustertest.Connect(t, dsn, "migration")
	run(t, owner, "BEGIN", "LOCK TABLE orders", "CREATE TEMP TABLE t AS SELECT * FROM orders", "REINDEX TABLE orders")
	for _, u := range advised(t, dsn).Unavailable {
		if strings.Contains(u.Why, "lock timeout") {
			t.Errorf("%+v waited for a lock", u)
		}
	}
}

func point(x float64) *float64 { return &x }

// Amounts that a busy server makes in a moment say nothing; time does.
func TestReplica_LagsByTime(t *testing.T) {
	primary := &server{settings: map[string]setting{}}
	standby := &server{Server: Server{Standby: true}, settings: map[string]setting{
		"recovery_min_apply_delay": {Setting: "3600000"}}}
	for name, c := range map[string]struct {
		s            *server
		r            replica
		behind, long bool
	}{
		"AMomentOfMuchLog": {primary, replica{Seconds: point(0.2), Bytes: point(1 << 30)}, false, false},
		"SomeSeconds":      {primary, replica{Seconds: point(8), Bytes: point(1 << 20)}, true, false},
		"AMinute":          {primary, replica{Seconds: point(80), Bytes: point(1 << 20)}, true, true},
		"AgeNotKnown":      {primary, replica{Bytes: point(1 << 30)}, true, false},
		"LateOnPurpose":    {standby, replica{Seconds: point(3601), Bytes: point(1 << 30)}, false, false},
		"IdlePrimary":      {standby, replica{Seconds: point(9000), Bytes: point(100)}, false, false},
		"Paused":           {standby, replica{Seconds: point(9000), Bytes: point(100), Paused: true}, true, true},
	} {
		if behind, long := c.r.lags(c.s); behind != c.behind || long != c.long {
			t.Errorf("%s: %v, %v", name, behind, long)
		}
	}
}

func TestOnce_KeepsTheEvidenceOfEach(t *testing.T) {
	few := mergeSame([]Advice{{ID: "a", Level: Note, Evidence: []string{"x"}}, {ID: "b"},
		{ID: "a", Level: Problem, Evidence: []string{"x", "y"}}})
	if len(few) != 2 || few[0].Level != Problem || !slices.Equal(few[0].Evidence, []string{"x", "y"}) {
		t.Errorf("merged to %+v, want two, the first a problem with the evidence of both", few)
	}
}

// --all never drops an index that may be used once a year, nor terminates a session, however high the price.
func TestIDs_LeaveOutWhatMayCostSomebodyElse(t *testing.T) {
	price := 0.9
	a := index{Name: "yearly", Schema: "public", Table: "orders"}.unread(nil)
	a.price([]string{"unused-indexes"}, []Cause{{Name: "unused-indexes", Title: "of public.orders", Price: &price}})
	if a.Level != Note && a.Level != Problem {
		t.Fatalf("level of %+v, want a note or a problem", a)
	}
	a.Level = Problem
	if ids := (&Report{Advice: []Advice{a}}).IDs(); len(ids) != 0 || !a.Applicable() {
		t.Errorf("--all takes %q", ids)
	}
}

// A table of a short name is not priced by every finding.
func TestAdvice_IsAboutItsObjectByName(t *testing.T) {
	c := Cause{Title: "Statements read all of public.order_lines", Evidence: []string{"42 scans"}}
	for object, want := range map[string]bool{"order_lines": true, "lines": false, "a": false, "order": false,
		"": true} {
		if got := (&Advice{object: object}).isAbout(c); got != want {
			t.Errorf("%q: %v", object, got)
		}
	}
}

// ALTER SYSTEM has no effect where the database, its role or the command line sets the same.
func TestComplete_ChangesNothingInVain(t *testing.T) {
	for source, applicable := range map[string]bool{"configuration file": true, "default": true, "database": false,
		"command line": false, "user": false} {
		s := &server{settings: map[string]setting{"work_mem": {Source: source, Context: "user"}}}
		a := Advice{Level: Problem, Changes: []Change{s.set("work_mem", "8MB")}}
		s.complete(&a)
		if a.Applicable() != applicable || !strings.Contains(strings.Join(a.Do, ";"), "work_mem = ") || a.Prove == "" {
			t.Errorf("%s: %+v", source, a)
		}
	}
}

// Settings may hold passwords and keys.
func TestFileSettings_ShowNoSecrets(t *testing.T) {
	s := &server{settings: map[string]setting{}}
	var lines []fileSetting
	for n, name := range []string{"primary_conninfo", "app.jwt_secret", "restore_command"} {
		lines = append(lines, fileSetting{Name: name, Setting: "hush", File: "a.conf", Line: n, Error: "wrong"},
			fileSetting{Name: name, Setting: "hush2", File: "a.conf", Line: n + 10})
	}
	if text := fmt.Sprint(s.inFiles(lines)); strings.Contains(text, "hush") || !strings.Contains(text, "line 12") {
		t.Errorf("%s, want lines without their secrets", text)
	}
}

// Where the memory is not known, and where huge pages must be reserved before, a person decides.
func TestMemory_IsAppliedOnlyWhereItIsKnown(t *testing.T) {
	s := &server{settings: map[string]setting{"work_mem": {Setting: "4096", Unit: "kB"},
		"max_connections": {Setting: "100"}, "hash_mem_multiplier": {Setting: "2"}, "huge_pages": {Setting: "off"},
		"shared_buffers": {Setting: "16384", Unit: "8kB"}}}
	busy := &databaseFigures{Spills: 1e6, Spilled: 1e13, Since: point(1000), Hit: 1e9, Read: 1e9, Size: 1 << 40}
	if a := s.workMem(busy); a.Level != Problem || !a.asked {
		t.Errorf("without knowing the memory: %+v", a)
	}
	s.host = &machine.Facts{MemoryBytes: 64 << 30}
	if a := s.sharedBuffers(busy); a.Level != Problem || a.asked {
		t.Errorf("a million blocks a second: %+v", a)
	}
	rare := *busy
	rare.Since = point(1e9)
	if a := s.sharedBuffers(&rare); a.Level != Note {
		t.Errorf("a block a second: %+v", a)
	}
	if a := s.workMem(&databaseFigures{Spills: 5000, Spilled: 1e9, Since: point(1e7)}); a != nil {
		t.Errorf("a report now and then: %+v", a)
	}
	s.settings["huge_pages"] = setting{Setting: "on"}
	if a := s.sharedBuffers(busy); !a.asked {
		t.Errorf("advice %+v, want it applied by its ID alone", a)
	}
}

// A twin is looked for in its own table: ten thousand tables have a hundred million pairs.
func TestNeedlessOf(t *testing.T) {
	same := []index{{Name: "pkey", Keys: "1", Valid: true, Needed: true}, {Name: "again", Keys: "1", Valid: true},
		{Name: "built_now", Building: true}, {Name: "left"}, {Name: "other", Keys: "2", Valid: true, Scans: 1}}
	var got []string
	for _, n := range needlessOf(same) {
		got = append(got, n.Name)
	}
	if want := []string{"again", "left"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A standby's statistics do not count what its primary writes, so zeros there do not mean that all is well.
func TestClasses_ThatOnlyAPrimaryCounts(t *testing.T) {
	var names []string
	for _, c := range classes {
		if c.primary {
			names = append(names, c.name)
		}
	}
	want := []string{"statistics", "autovacuum", "foreign keys", "indexes", "temp table churn"}
	if !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
}
