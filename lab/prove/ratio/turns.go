package ratio

import (
	"context"
	"math/rand/v2"
	"slices"
)

// Side of an A/B experiment.
type Side int

const (
	Base Side = iota
	Variant
)

func (s Side) String() string { return [...]string{"base", "variant"}[s] }

// Turns is the order of pairs·2 runs: blocks of ABBA or BAAB by the seed, so that a machine that warms up or slows down
// favours neither side. A single last pair is AB or BA.
func Turns(pairs int, seed uint64) []Side {
	rng := rand.New(rand.NewPCG(seed, 0))
	var turns []Side
	for left := pairs; left > 0; left -= 2 {
		first := Side(rng.IntN(2))
		turns = append(turns, first, 1-first)
		if left > 1 {
			turns = append(turns, 1-first, first)
		}
	}
	return turns
}

// Measure makes the runs in turns and returns the ratio. An error or a cancelled context ends it; figures made until
// then are returned as well.
func Measure(ctx context.Context, turns []Side,
	run func(ctx context.Context, side Side) (float64, error)) (figures [2][]float64, r Ratio, err error) {
	for _, side := range turns {
		if err := ctx.Err(); err != nil {
			return figures, r, err
		}
		figure, err := run(ctx, side)
		if err != nil {
			return figures, r, err
		}
		figures[side] = append(figures[side], figure)
	}
	r, err = Of(figures[Base], figures[Variant])
	return figures, r, err
}

// Rotation is Turns for more than two sides: blocks of a random order and its mirror image, rounds for each side.
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
