package skew_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"plimsoll/erp/skew"
)

func TestPickFavoursTheFirst(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	const draws, n = 200_000, 1000
	for exponent, want := range map[int]float64{1: 0.2, skew.Mild: math.Sqrt(0.2), skew.Strong: math.Pow(0.2, 0.25)} {
		first := 0
		for range draws {
			i := skew.Pick(rng, n, exponent)
			if i < 0 || i >= n {
				t.Fatalf("%d of %d", i, n)
			}
			if i < n/5 {
				first++
			}
		}
		if got := float64(first) / draws; math.Abs(got-want) > 0.01 {
			t.Errorf("exponent %d: the first fifth was drawn with %.3f, want %.3f", exponent, got, want)
		}
	}
	if skew.Pick(rng, 1, skew.Strong) != 0 {
		t.Error("one thing is always the one")
	}
}
