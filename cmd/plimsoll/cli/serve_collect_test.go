package cli

import "testing"

func TestAWorkerCollectsWhenItIsWorthIt(t *testing.T) {
	for name, c := range map[string]struct {
		live uint64
		want int
	}{
		"Nothing":         {0, 3200},
		"FewSessions":     {20 << 20, 400},
		"JustWorth":       {64 << 20, 200},
		"MoreThanThat":    {64<<20 + 1, 100},
		"MuchSessionData": {25 << 30, 100},
	} {
		t.Run(name, func(t *testing.T) {
			if got := collectAtLive(c.live); got != c.want {
				t.Errorf("got %d %%, want %d %%", got, c.want)
			}
		})
	}
}
