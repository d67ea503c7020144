// Package id owns references: UUIDv7 values that are passed to and from PostgreSQL in binary.
package id

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"
)

var errFormat = errors.New("not an id: 36 characters expected")

// ID refers to a catalog element or a document. The zero ID is the empty reference.
type ID [16]byte

// New makes an ID that sorts after those made before it in this process.
func New() ID { return ID(uuid.Must(uuid.NewV7())) }

// At makes an ID from a moment and given random bytes: equal arguments give equal IDs.
func At(moment time.Time, high, low uint64) (v ID) {
	binary.BigEndian.PutUint64(v[:8], uint64(moment.UnixMilli())<<16|high&0xfff|0x7000)
	binary.BigEndian.PutUint64(v[8:], low&(1<<62-1)|1<<63)
	return v
}

// Moment is the time of creation, to the millisecond.
func (v ID) Moment() time.Time { return time.UnixMilli(int64(binary.BigEndian.Uint64(v[:8]) >> 16)) }

// Parse parses the usual 36-character form.
func Parse(s string) (ID, error) {
	if len(s) != 36 { // the library would also take braces and URNs
		return ID{}, errFormat
	}
	v, err := uuid.Parse(s)
	return ID(v), err
}

// IsZero tells an empty reference.
func (v ID) IsZero() bool { return v == ID{} }

// Compare orders as PostgreSQL orders uuid: byte by byte.
func (v ID) Compare(other ID) int { return bytes.Compare(v[:], other[:]) }

func (v ID) String() string { return string(v.AppendText(nil)) }

// AppendText appends the 36-character form.
func (v ID) AppendText(b []byte) []byte {
	var text [36]byte
	hex.Encode(text[:8], v[:4])
	hex.Encode(text[9:13], v[4:6])
	hex.Encode(text[14:18], v[6:8])
	hex.Encode(text[19:23], v[8:10])
	hex.Encode(text[24:], v[10:])
	text[8], text[13], text[18], text[23] = '-', '-', '-', '-'
	return append(b, text[:]...)
}

// MarshalText and UnmarshalText make it a JSON string.
func (v ID) MarshalText() ([]byte, error) { return v.AppendText(make([]byte, 0, 36)), nil }

func (v *ID) UnmarshalText(b []byte) (err error) {
	*v, err = Parse(string(b))
	return err
}

// UUIDValue and ScanUUID let pgx pass it in binary.
func (v ID) UUIDValue() (pgtype.UUID, error) { return pgtype.UUID{Bytes: v, Valid: true}, nil }

func (v *ID) ScanUUID(u pgtype.UUID) error {
	*v = u.Bytes
	return nil
}
