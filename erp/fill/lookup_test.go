package fill

import (
	"math/rand/v2"
	"testing"

	"plimsoll/platform/data/id"
)

// What is kept and dropped at random is what a map of the language keeps, also where keys lie close together and
// round the end.
func TestLookupIsAMap(t *testing.T) {
	for _, close := range []uint64{1, 7, lookupLeast - 1, 1 << 40} {
		rng := rand.New(rand.NewPCG(close, 1))
		var l lookup[int]
		model := map[key]int{}
		for step := range 40_000 {
			k := key{lookupLeast - 4 + rng.Uint64N(close), 1 + rng.Uint64N(3000)}
			switch {
			case rng.IntN(3) == 0 || len(model) > 3000:
				l.drop(k)
				delete(model, k)
			default:
				*l.place(k) = step
				model[k] = step
			}
			if l.value(k) != model[k] || l.used != len(model) {
				t.Fatalf("keys within %d, step %d: %d, %d wanted; %d kept, %d wanted", close, step, l.value(k),
					model[k],
					l.used, len(model))
			}
		}
		for k, v := range model {
			if l.value(k) != v {
				t.Errorf("keys within %d: %v has %d, %d wanted", close, k, l.value(k), v)
			}
		}
	}
}

func TestKeysTellCombinationsApart(t *testing.T) {
	a, b := id.New(), id.New()
	seen := map[key]string{}
	for name, k := range map[string]key{
		"a": keyOf(1, 1).add(&a), "b": keyOf(1, 1).add(&b), "ab": keyOf(1, 2).add(&a).add(&b),
		"ba": keyOf(1, 2).add(&b).add(&a), "aa": keyOf(1, 2).add(&a).add(&a),
		"another register": keyOf(2, 1).add(&a), "nothing": keyOf(1, 1).add(&id.ID{}),
		"twice nothing": keyOf(1, 2).add(&id.ID{}).add(&id.ID{}),
	} {
		if twin, found := seen[k]; found {
			t.Errorf("%s is %s", name, twin)
		}
		seen[k] = name
	}
}
