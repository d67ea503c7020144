package image

import (
	"math"
	"math/rand/v2"

	"plimsoll/ground/host/dirs"
	"plimsoll/ground/postgres/storage"
)

// fate says what happens to the writes of one file that no flush covers.
type fate int

const (
	dropped fate = iota
	kept
	byWrite // each as a whole or not at all
	byBlock // in part, by blocks of 4096 bytes
	bySector
	fates
)

func (f fate) unit() int64 {
	switch f {
	case byBlock:
		return 4096
	case bySector:
		return 512
	}
	return 1 << 40
}

// content of a file after the cut.
func (r *replay) content(f *file, random *rand.Rand) (content []byte, err error) {
	if f.base != "" {
		if content, err = dirs.ReadIn(r.base, f.base, math.MaxInt64); err != nil {
			return nil, err
		}
	}
	fate := fate(random.IntN(int(fates)))
	for i, c := range f.changes {
		c.durable = c.durable || i < f.flushed
		content = c.apply(content, fate, random)
	}
	return content, nil
}

// apply returns the content after a change as the disk holds it. Writes are applied in order, each sector of a later
// one over earlier ones: a sector is as some write left it, or as it was.
func (c change) apply(content []byte, fate fate, random *rand.Rand) []byte {
	one := c.record
	survives := func() bool {
		return c.durable || fate == kept || fate != dropped && random.IntN(2) == 0
	}
	switch one.Kind {
	case storage.Truncate:
		if survives() {
			content = resize(content, one.Size)
		}
	case storage.Allocate:
		if survives() {
			content = resize(content, max(int64(len(content)), one.Offset+one.Size))
		}
	case storage.Write, storage.Zero:
		for from := one.Offset; from < one.Offset+one.Size; {
			end := min((from/fate.unit()+1)*fate.unit(), one.Offset+one.Size)
			if survives() {
				content = resize(content, max(int64(len(content)), end))
				if one.Kind == storage.Zero {
					clear(content[from:end])
				} else {
					copy(content[from:end], one.Data[from-one.Offset:end-one.Offset])
				}
			}
			from = end
		}
	}
	return content
}

func resize(content []byte, size int64) []byte {
	if size <= int64(len(content)) {
		return content[:size:size]
	}
	return append(content, make([]byte, size-int64(len(content)))...)
}
