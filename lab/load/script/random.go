package script

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
)

// Ranges of the distributions' parameters, those of pgbench.
const (
	gaussianMin = 2.0
	zipfianMin  = 1.001
	zipfianMax  = 1000.0
)

// span checks a range of random numbers and returns its size.
func span(args []Value) (least int64, size uint64, err error) {
	a, b, err := twoArgs(args, Value.asInt)
	switch {
	case err != nil:
		return 0, 0, err
	case a > b:
		return 0, 0, fmt.Errorf("random from %d to %d: the range is empty", a, b)
	case uint64(b)-uint64(a) >= math.MaxInt64:
		return 0, 0, fmt.Errorf("random from %d to %d: the range is too large", a, b)
	}
	return a, uint64(b-a) + 1, nil
}

func random(env *Environment, args []Value) (Value, error) {
	least, size, err := span(args)
	if err != nil {
		return Value{}, err
	}
	return Int(least + int64(env.RNG.Uint64N(size))), nil
}

// randomWith is a distribution with a parameter: draw gives an offset below size.
func randomWith(check func(float64) error,
	draw func(rng *rand.Rand, size uint64, parameter float64) int64) func(*Environment, []Value) (Value, error) {
	return func(env *Environment, args []Value) (Value, error) {
		least, size, err := span(args[:2])
		if err != nil {
			return Value{}, err
		}
		parameter, err := args[2].asDouble()
		if err == nil {
			err = check(parameter)
		}
		if err != nil {
			return Value{}, err
		}
		return Int(least + draw(env.RNG, size, parameter)), nil
	}
}

func checkExponential(p float64) error {
	if !(p > 0) {
		return fmt.Errorf("exponential parameter must be greater than zero, not %g", p)
	}
	return nil
}

func checkGaussian(p float64) error {
	if !(p >= gaussianMin) {
		return fmt.Errorf("gaussian parameter must be at least %g, not %g", gaussianMin, p)
	}
	return nil
}

func checkZipfian(p float64) error {
	if !(p >= zipfianMin && p <= zipfianMax) {
		return fmt.Errorf("zipfian parameter must be in %g to %g, not %g", zipfianMin, zipfianMax, p)
	}
	return nil
}

// exponential is the truncated exponential distribution, by inversion: the i-th of n values has the probability
// (e^(−p(i−1)/n) − e^(−pi/n)) / (1 − e^(−p)).
func exponential(rng *rand.Rand, size uint64, p float64) int64 {
	cut := math.Exp(-p)
	uniform := 1 - rng.Float64() // (0, 1]
	return offset(size, -math.Log(cut+(1-cut)*uniform)/p)
}

// gaussian is the normal distribution cut at ±p standard deviations, the ends of the range.
func gaussian(rng *rand.Rand, size uint64, p float64) int64 {
	for {
		if z := rng.NormFloat64(); z >= -p && z < p {
			return offset(size, (z+p)/(2*p))
		}
	}
}

func offset(size uint64, part float64) int64 {
	return int64(min(size-1, uint64(float64(size)*part)))
}

// zipfian gives k with a probability proportional to 1/k^p: rejection from the Pareto distribution (L. Devroye,
// "Non-Uniform Random Variate Generation", 1986, p. 550).
func zipfian(rng *rand.Rand, size uint64, p float64) int64 {
	if size <= 1 {
		return 0
	}
	b := math.Pow(2, p-1)
	for {
		u, v := rng.Float64(), rng.Float64()
		x := math.Floor(math.Pow(u, -1/(p-1)))
		t := math.Pow(1+1/x, p-1)
		if x <= float64(size) && v*x*(t-1)/(b-1) <= t/b {
			return int64(x) - 1
		}
	}
}

// fnv1a is FNV-1a (Fowler, Noll, Vo) over the eight bytes of value, the lowest first.
func fnv1a(value, seed uint64) uint64 {
	h := uint64(0xcbf29ce484222325) ^ seed
	for range 8 {
		h = (h ^ value&0xff) * 0x100000001b3
		value = uint64(int64(value) >> 8)
	}
	return h
}

// murmur2 is MurmurHash2 (A. Appleby), 64 bits, of eight bytes.
func murmur2(value, seed uint64) uint64 {
	const m, r = uint64(0xc6a4a7935bd1e995), 47
	mixed := value * m
	mixed = (mixed ^ mixed>>r) * m
	length := uint64(8)
	h := (seed ^ length*m ^ mixed) * m
	h = (h ^ h>>r) * m
	return h ^ h>>r
}

// prng is xoroshiro128** (D. Blackman, S. Vigna), seeded by splitmix64: permute must give pgbench's numbers, so it
// needs pgbench's generator.
type prng struct{ a, b uint64 }

func newPRNG(seed uint64) prng {
	split := func() uint64 {
		seed += 0x9e3779b97f4a7c15
		z := (seed ^ seed>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		return z ^ z>>31
	}
	first := split()
	return prng{first, split()}
}

func (p *prng) uint64() uint64 {
	out := bits.RotateLeft64(p.a*5, 7) * 9
	x := p.a ^ p.b
	p.a = bits.RotateLeft64(p.a, 24) ^ x ^ x<<16
	p.b = bits.RotateLeft64(x, 37)
	return out
}

// upTo draws uniformly from 0 to most, by rejection from the next power of two.
func (p *prng) upTo(most uint64) uint64 {
	if most == 0 {
		return 0
	}
	for {
		if x := p.uint64() >> bits.LeadingZeros64(most); x <= most {
			return x
		}
	}
}

// Permute is the function permute of scripts: a permutation of 0..size−1.
func Permute(value, size int64, seed uint64) int64 { return permute(value, size, seed) }

const permuteRounds = 6

// permute is a permutation of 0..size−1, the same for the same seed: rounds of an odd multiplication with xor and
// rotation, on the lower and then on the upper power of two within size, and an offset modulo size. Each step is
// invertible, so the whole is.
func permute(value, size int64, seed uint64) int64 {
	if size < 2 {
		return 0
	}
	n := uint64(size)
	width := bits.Len64(n) - 1
	mask := uint64(1)<<width - 1
	random := newPRNG(seed)
	scatter := func(x uint64) uint64 {
		odd, flip := random.uint64()&mask|1, random.uint64()&mask
		if x > mask {
			return x
		}
		x = (x*odd ^ flip) & mask
		return x<<1&mask | x>>(width-1)
	}
	x := uint64(value) % n
	for range permuteRounds {
		x = scatter(x)
		x = n - 1 - scatter(n-1-x)
		x = (x + random.upTo(n-1)) % n
	}
	return int64(x)
}
