package cli

import "testing"

func TestAWorkerCollectsWhenItIsWorthIt(t *testing.T) {
	for name, c := range map[string]struct {
		live uint64
		want int
	}{
		"Nothing":         {0, 3200},
		"FewSessions":     {40 << 20, 600},
		"JustWorth":       {128 << 20, 200},
		"LittleMore":      {128<<20 + 1, 150},
		"MuchSessionData": {25 << 30, 100},
	} {
		t.Run(name, func(t *testing.T) {
			if got := collectAtLive(c.live); got != c.want {
				t.Errorf("got %d %%, want %d %%", got, c.want)
			}
		})
	}
}
