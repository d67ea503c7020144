package compare

import (
	"path/filepath"
	"slices"
	"testing"

	"plimsoll/lab/diagnose"
)

// One system stands for all, changed by what is particular to each; a server elsewhere may be one of the sides.
func TestRequest_SidesOfOneSystem(t *testing.T) {
	for _, c := range []struct {
		systems []string
		own     map[int]SideSpec
		want    []string
	}{
		{[]string{"a", "b", "c"}, nil, []string{"a", "b", "c"}},
		{[]string{"a"}, nil, []string{"a"}},
		{[]string{"a"}, map[int]SideSpec{0: {SQL: "x"}}, []string{"a, with SQL before each run", "a"}},
		{[]string{"a"}, map[int]SideSpec{2: {SQL: "x"}}, []string{"a", "a", "a, with SQL before each run"}},
		{[]string{"a"}, map[int]SideSpec{1: {DSN: "host=h dbname=d user=u"}}, []string{"a", "h:5432/d"}},
		{nil, map[int]SideSpec{0: {Command: "one"}, 1: {Name: "again"}}, []string{"one", "again"}},
		{nil, map[int]SideSpec{1: {SQL: "x"}}, nil},
	} {
		q := Request{Systems: c.systems}
		for i := range q.Own {
			q.Own[i] = c.own[i]
			q.Own[i].Sampling = diagnose.RateDefault
		}
		var got []string
		for _, f := range q.given() {
			got = append(got, f.title())
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.systems, got, c.want)
		}
	}
}

// Sides of a connection string are told apart by where they are; passwords are not shown.
func TestSideSpec_IsNamedByItsServer(t *testing.T) {
	all := []SideSpec{{DSN: "postgres://me:secret@db1:5433/erp"}, {DSN: "host=db2 user=me password=secret dbname=erp"},
		{DSN: "postgres://db1/erp", Scenario: "own.toml"}, {DSN: "postgres://db1/erp", Name: "old"}}
	want := []string{"db1:5433/erp", "db2:5432/erp", "db1:5432/erp, own.toml", "old"}
	for i, s := range all {
		s.Sampling = diagnose.RateDefault
		if got := s.title(); got != want[i] {
			t.Errorf("%q, want %q", got, want[i])
		}
	}
	own := SideSpec{Scenario: filepath.Join("a", "b.toml"), URL: "http://x", Sampling: 7,
		Settings: map[string]string{"jit": "off"}, Tweaks: map[string]string{"chain": "1"}}
	if got := own.title(); got != "a/b.toml, http://x jit=off chain=1, 7 samples per second" {
		t.Error(got)
	}
}
