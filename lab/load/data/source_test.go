package data

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func source(rows int, take Take, shuffle bool) *Source {
	return &Source{Name: "items", Rows: rows, Columns: []Column{{"id", "{{:row}}"}}, Take: take, Shuffle: shuffle}
}

// rows that a user takes.
func (s *Source) takes(user, users, n int) (rows []int) {
	rng := rand.New(rand.NewPCG(5, uint64(user)))
	for k := range n {
		if row, left := s.Row(user, users, uint32(k), 1, rng); left {
			rows = append(rows, row)
		}
	}
	return rows
}

func TestNoRowIsTakenTwiceByOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		users, n := rapid.IntRange(1, 40).Draw(t, "users"), rapid.IntRange(1, 300).Draw(t, "rows")
		s := source(n, Once, rapid.Bool().Draw(t, "shuffle"))
		seen := map[int]bool{}
		for user := range users + 3 { // more than were planned
			for _, row := range s.takes(user, users, n) {
				if seen[row] || row < 0 || row >= n {
					t.Fatalf("row %d of %d again", row, n)
				}
				seen[row] = true
			}
		}
		if len(seen) != n {
			t.Fatalf("%d of %d rows were taken", len(seen), n)
		}
	})
}

func TestRowsDependOnSeedAndNumberAlone(t *testing.T) {
	for _, c := range []struct {
		take    Take
		shuffle bool
		want    string // of users 0 and 2 of 3, of 7 rows
	}{
		{Sequence, false, "[0 3 6 2 5] [2 5 1 4 0]"},
		{Once, false, "[0 3 6] [2 5]"},
		{PerUser, false, "[0 0 0 0 0] [2 2 2 2 2]"},
	} {
		s := source(7, c.take, c.shuffle)
		if got := fmt.Sprint(s.takes(0, 3, 5), s.takes(2, 3, 5)); got != c.want {
			t.Errorf("%s: %s, want %s", c.take, got, c.want)
		}
	}
	one, other := source(1000, Sequence, true), source(1000, Sequence, true)
	other.Name = "others"
	if a, b := fmt.Sprint(one.takes(0, 3, 9)), fmt.Sprint(other.takes(0, 3, 9)); a == b ||
		a != fmt.Sprint(one.takes(0, 3, 9)) {
		t.Errorf("shuffled: %s, another source %s", a, b)
	}
	counts := make([]int, 10)
	for _, row := range source(10, Random, false).takes(1, 3, 1000) {
		counts[row]++
	}
	for row, n := range counts {
		if n < 50 || n > 150 {
			t.Errorf("random took row %d %d times of 1000", row, n)
		}
	}
}

func TestMadeRows(t *testing.T) {
	s := &Source{Name: "made", Rows: 5, Columns: []Column{{"id", "{{:row}}"}, {"mail", "u{{:row}}@x"},
		{"price", "{{random(1, 1000000)}}"}, {"other", "{{random(1, 1000000)}}"}, {"text", "plain"}}}
	if err := s.Prepare(); err != nil {
		t.Fatal(err)
	}
	value := func(row, column int, seed uint64) string {
		v, err := s.Value(row, column, seed)
		if err != nil {
			t.Fatal(err)
		}
		return v.String()
	}
	if got := value(4, 0, 1) + " " + value(4, 1, 1) + " " + value(4, 4, 1); got != "5 u5@x plain" {
		t.Error(got)
	}
	a := value(2, 2, 1)
	if a != value(2, 2, 1) || a == value(3, 2, 1) || a == value(2, 3, 1) || a == value(2, 2, 2) {
		t.Error("a drawn value depends on something else than seed, row and column")
	}
	for text, says := range map[string]string{"{{": "without }}", "{{1 +}}": "ends too soon", "{{:id}}": "not :id"} {
		if err := CheckColumn(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
