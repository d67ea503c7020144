package report

import (
	"testing"

	"plimsoll/lab/run/result"
)

func TestApdexGain(t *testing.T) {
	for want, g := range map[string]result.Gain{
		"no measurable gain in Apdex without it": {High: 0.0004},
		"Apdex up to 0.012 higher without it":    {Low: 0.0001, High: 0.012},
		"Apdex 0.010 higher without it":          {Low: 0.01, High: 0.0104},
		"Apdex 0.010 to 0.020 higher without it": {Low: 0.01, High: 0.02},
	} {
		if got := apdexGain(g); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
