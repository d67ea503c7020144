package stats_test

import (
	"testing"

	"plimsoll/lab/stats"
)

func TestRotation_IsBalancedAndMirrored(t *testing.T) {
	for seed := range uint64(50) {
		for rounds := 1; rounds <= 6; rounds++ {
			var n, place [3]int
			for i, side := range stats.Rotation(3, rounds, seed) {
				n[side]++
				place[side] += i
			}
			if n != [3]int{rounds, rounds, rounds} || rounds%2 == 0 && (place[0] != place[1] || place[1] != place[2]) {
				t.Fatalf("%d rounds: %v times, places %v", rounds, n, place)
			}
		}
	}
}
