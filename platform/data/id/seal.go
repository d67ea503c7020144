package id

import (
	"crypto/sha256"
	"fmt"
)

const (
	sealedVersion = 8 // of UUIDs whose bits have a meaning of their own
	sealedFrom    = 12
	sealBytes     = 2
)

// Sealed is the ID with seals of two texts in place of its last random bits, so that a later change of one of them
// shows; one change in 65,536 does not. It keeps its moment and its place in the order.
func (v ID) Sealed(first, second string) ID {
	v[6] = v[6]&0x0f | sealedVersion<<4
	for i, text := range []string{first, second} {
		hash := sha256.Sum256([]byte(text))
		copy(v[sealedFrom+i*sealBytes:], hash[:sealBytes])
	}
	return v
}

// BrokenSealSQL are the conditions, for the first and the second text, that a column's ID was sealed with another one
// than the expression gives; an ID without seals never was.
func BrokenSealSQL(column string, expressions [2]string) (broken [2]string) {
	for i, text := range expressions {
		broken[i] = fmt.Sprintf("get_byte(uuid_send(%[1]s), 6) >> 4 = %[2]d AND substring(uuid_send(%[1]s) FROM %[3]d "+
			"FOR %[4]d) <> substring(sha256(convert_to(%[5]s, 'UTF8')) FROM 1 FOR %[4]d)", column, sealedVersion,
			sealedFrom+i*sealBytes+1, sealBytes, text)
	}
	return broken
}
