package condition

import (
	"slices"
	"testing"
)

func TestLevels(t *testing.T) {
	for sql, want := range map[string][]string{
		"SELECT a FROM t ORDER BY random() LIMIT 1": {"SELECT a FROM t ORDER BY random() LIMIT 1"},
		"SELECT p FROM (SELECT rank() OVER (ORDER BY n) FROM t) r": {"SELECT p FROM () r",
			"SELECT rank() OVER () FROM t"},
		"SELECT a FROM t WHERE a NOT IN (SELECT b FROM u WHERE lower(": {"SELECT a FROM t WHERE a NOT IN ()",
			"SELECT b FROM u WHERE lower()"},
	} {
		if got := Levels(sql); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", sql, got, want)
		}
	}
	for level, want := range map[string]bool{"SELECT a FROM t ORDER BY a": false, "SELECT a, b FROM t": false,
		"SELECT a FROM t ORDER BY a, b": false, "SELECT a FROM t, u": true, "SELECT a FROM t JOIN u USING (a)": true,
		"SELECT a FROM t WHERE a = ?": true} {
		if Narrows(level) != want {
			t.Errorf("%s narrows: want %v", level, want)
		}
	}
}
