package process

import "testing"

func TestParseStat(t *testing.T) {
	const rest = " S 7 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 424242 1 2 3"
	for _, c := range []struct {
		name, text string
		want       stat
		fails      bool
	}{
		{"Plain", "12 (sleep)" + rest, stat{ID{12, 424242}, 7, 1, 'S'}, false},
		{"NameWithParenthesesAndBlanks", "12 (a) b) S 9 (" + ")" + rest, stat{ID{12, 424242}, 7, 1, 'S'}, false},
		{"CutShort", "12 (sleep) S 7", stat{}, true},
		{"NoNumber", "12 (sleep) S x 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 1", stat{}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := parseStat(12, c.text)
			if got != c.want || (err != nil) != c.fails {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func TestEnded(t *testing.T) {
	for _, c := range []struct {
		name string
		s    stat
		want bool
	}{
		{"Running", stat{state: 'R', threads: 1}, false},
		{"WaitsToBeReaped", stat{state: 'Z', threads: 1}, true},
		{"OtherThreadsStillHoldItsFiles", stat{state: 'Z', threads: 3}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.s.ended(); got != c.want {
				t.Errorf("got %v", got)
			}
		})
	}
}
