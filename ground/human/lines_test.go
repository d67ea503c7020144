package human

import "testing"

func TestLastLines(t *testing.T) {
	for _, c := range []struct {
		text string
		most int
		want string
	}{
		{"", 3, ""},
		{" \n\n", 1, ""},
		{"one\n", 3, "one"},
		{"one\ntwo\nthree\n\n", 1, "three"},
		{"one\ntwo\nthree", 2, "two; three"},
	} {
		if got := LastLines(c.text, c.most); got != c.want {
			t.Errorf("%d of %q are %q, want %q", c.most, c.text, got, c.want)
		}
	}
}
