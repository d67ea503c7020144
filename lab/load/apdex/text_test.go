package apdex

import "testing"

func TestText_IsCutSoThatNothingLooksReached(t *testing.T) {
	for score, want := range map[float64]string{0.84999: "0.849", 0.8499999: "0.849", 0.85: "0.850", 0.29: "0.290",
		1: "1.000", 0: "0.000"} {
		if got := Text(score); got != want {
			t.Errorf("%v is shown as %s, want %s", score, got, want)
		}
	}
}
