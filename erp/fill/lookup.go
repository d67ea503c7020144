package fill

import (
	"encoding/binary"
	"math/bits"

	"plimsoll/platform/data/id"
)

// key is a digest of a register, the number of its dimensions used, and their values. Two of a billion keys collide
// in one base of 10^20, and the digest of the base would still be the same on the next fill.
type key [2]uint64

// keyOf a register by its number and the number of dimensions that follow.
func keyOf(register uint8, dimensions int) key {
	return key{0x9e3779b97f4a7c15 * (uint64(register) + 1), 0xc2b2ae3d27d4eb4f * (uint64(dimensions) + 1)}
}

// add adds a dimension: two multiplications, so that every bit of both halves depends on it and on the order.
func (k key) add(v *id.ID) key {
	a, b := binary.LittleEndian.Uint64(v[:8]), binary.LittleEndian.Uint64(v[8:])
	high, low := bits.Mul64(a^k[0], b^0xa0761d6478bd642f)
	higher, lower := bits.Mul64(b^k[1], a^0xe7037ed1a0b428db)
	return key{high ^ lower ^ k[1], low ^ higher + k[0]}
}

// lookup is a hash map for keys that are random already: one half says where to look, and the first slot is mostly
// the right one, so that one cache line is fetched where Go's map fetches two or three. It holds no pointers for the
// garbage collector to follow.
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

// find returns the slot of a key, or the free slot where it belongs.
func (l *lookup[V]) find(k key) (at uint64, found bool) {
	mask := uint64(len(l.slots) - 1)
	for at = k[0] & mask; l.slots[at].key != (key{}); at = (at + 1) & mask {
		if l.slots[at].key == k {
			return at, true
		}
	}
	return at, false
}

// value returns the value of a key; the zero value when there is none.
func (l *lookup[V]) value(k key) (v V) {
	if l.used == 0 {
		return v
	}
	if at, found := l.find(k); found {
		v = l.slots[at].value
	}
	return v
}

// place returns the place of a key's value, which is made if missing; valid until another key is added or dropped.
func (l *lookup[V]) place(k key) *V {
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

// drop deletes a key. Those behind it move up, so that no gap hides them.
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
