package fill

import (
	"encoding/binary"
	"math/bits"

	"plimsoll/platform/id"
)

// key stands for a register, how many of its dimensions, and their values: a digest of them. That two of a billion keys are the same happens in one base of
// 10^20, and then its digest of what was filled is still that of the next fill.
type key [2]uint64

// keyOf a register by its number, under so many dimensions, which are to come.
func keyOf(register uint8, dimensions int) key {
	return key{0x9e3779b97f4a7c15 * (uint64(register) + 1), 0xc2b2ae3d27d4eb4f * (uint64(dimensions) + 1)}
}

// with one more dimension: two products of all that there is, so that each bit of both halves depends on it, and on the order.
func (k key) with(v *id.ID) key {
	a, b := binary.LittleEndian.Uint64(v[:8]), binary.LittleEndian.Uint64(v[8:])
	high, low := bits.Mul64(a^k[0], b^0xa0761d6478bd642f)
	higher, lower := bits.Mul64(b^k[1], a^0xe7037ed1a0b428db)
	return key{high ^ lower ^ k[1], low ^ higher + k[0]}
}

// lookup is a map of what is kept under keys. Keys are as good as chance, so that one half of them says where to look, and what lies there is mostly it: one
// line of the processor's cache is fetched where a map of the language fetches two or three. It holds no pointers that the collector would follow.
type lookup[V any] struct {
	slots []slot[V]
	used  int
}

type slot[V any] struct {
	key   key // zero when it is free
	value V
}

// lookupLeast is a power of two, as all sizes are.
const lookupLeast = 1 << 10

// find the slot of a key, or the free one where it would be.
func (l *lookup[V]) find(k key) (at uint64, found bool) {
	mask := uint64(len(l.slots) - 1)
	for at = k[0] & mask; l.slots[at].key != (key{}); at = (at + 1) & mask {
		if l.slots[at].key == k {
			return at, true
		}
	}
	return at, false
}

// of a key; the zero value when nothing is kept.
func (l *lookup[V]) of(k key) (v V) {
	if l.used == 0 {
		return v
	}
	if at, found := l.find(k); found {
		v = l.slots[at].value
	}
	return v
}

// to is where the value of a key is kept, from now on; it is good until something else is kept or dropped.
func (l *lookup[V]) to(k key) *V {
	if 3*l.used >= 2*len(l.slots) {
		l.grow()
	}
	at, found := l.find(k)
	if !found {
		l.slots[at].key = k
		l.used++
	}
	return &l.slots[at].value
}

func (l *lookup[V]) grow() {
	before := l.slots
	l.slots = make([]slot[V], max(lookupLeast, 2*len(before)))
	for i := range before {
		if before[i].key != (key{}) {
			at, _ := l.find(before[i].key)
			l.slots[at] = before[i]
		}
	}
}

// drop what is kept under a key. Those behind it move up, so that no gap parts them from where they are looked for.
func (l *lookup[V]) drop(k key) {
	if l.used == 0 {
		return
	}
	gap, found := l.find(k)
	if !found {
		return
	}
	l.used--
	mask := uint64(len(l.slots) - 1)
	for i := (gap + 1) & mask; l.slots[i].key != (key{}); i = (i + 1) & mask {
		if home := l.slots[i].key[0] & mask; (i-home)&mask >= (i-gap)&mask {
			l.slots[gap], gap = l.slots[i], i
		}
	}
	l.slots[gap] = slot[V]{}
}
