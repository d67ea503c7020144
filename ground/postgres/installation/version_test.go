package installation

import "testing"

func TestNumber(t *testing.T) {
	for text, want := range map[string]int{"18.6": 180006, "15.14": 150014, "18devel": 180000, "18beta1": 180000,
		"19rc2": 190000, "x": 0} {
		if got := number(text); got != want {
			t.Errorf("%s: got %d, want %d", text, got, want)
		}
	}
}

func TestVersionText(t *testing.T) {
	for text, want := range map[string]string{
		"postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)\n": "15.18",
		"postgres (PostgreSQL) 18.6\n":                           "18.6",
		"postgres (PostgreSQL) 19beta2\n":                        "19beta2",
		"postgres (PostgreSQL) 18devel\n":                        "18devel",
	} {
		if got := versionText.FindStringSubmatch(text); got == nil || got[1] != want {
			t.Errorf("%q: got %q", text, got)
		}
	}
}
