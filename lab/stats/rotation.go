package stats

import (
	"math/rand/v2"
	"slices"
)

// Rotation is the order in which sides take turns: blocks of a random order and its mirror image by the seed, so that a
// machine that warms up or slows down favours none; so many rounds for each side. Two sides have blocks of ABBA or
// BAAB.
func Rotation(sides, rounds int, seed uint64) (turns []int) {
	rng := rand.New(rand.NewPCG(seed, 0))
	for left := rounds; left > 0; left -= 2 {
		order := rng.Perm(sides)
		turns = append(turns, order...)
		if left > 1 {
			slices.Reverse(order)
			turns = append(turns, order...)
		}
	}
	return turns
}
