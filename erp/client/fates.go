package client

import (
	"strconv"
	"strings"
)

// Fate is what a client knows of a writing operation.
type Fate byte

const (
	// Unknown: no answer said whether it was carried out. The connection was lost, the server failed, or there is no
	// answer yet.
	Unknown Fate = iota
	Acknowledged
	// NotDone: the server's answer was that it did not do it.
	NotDone
)

// Key names one writing operation of one client: the idempotency key without the client's prefix.
type Key struct {
	Series string
	N      int64
}

// changes ends the names of the series whose operations create no document.
const changes = ".change"

func (k Key) keyed() bool { return k.Series != "" }

func (k Key) String() string { return k.Series + "-" + strconv.FormatInt(k.N, 10) }

// Creates reports that the operation creates a document.
func (k Key) Creates() bool { return !strings.HasSuffix(k.Series, changes) }

// DocumentType in the database.
func (k Key) DocumentType() string { return strings.TrimSuffix(k.Series, changes) }

// ParseKey is the opposite of String; false: no client makes such a key.
func ParseKey(text string) (k Key, ok bool) {
	at := strings.LastIndexByte(text, '-')
	if at <= 0 {
		return k, false
	}
	n, err := strconv.ParseInt(text[at+1:], 10, 64)
	k = Key{text[:at], n}
	return k, err == nil && n >= 0 && k.String() == text
}

// Fates of the operations of one series, by the number in their keys. A million take a quarter of a megabyte.
type Fates struct {
	N int64 `json:"n"` // keys drawn
	// From is how many bytes before Packed have not changed, in what News returns; otherwise 0.
	From   int64  `json:"from,omitempty"`
	Packed []byte `json:"packed"`
}

const (
	fatesInByte = 4
	fateBits    = 2
	fateMask    = 1<<fateBits - 1
)

// draw the next number; its fate is unknown.
func (f *Fates) draw() int64 {
	if f.N%fatesInByte == 0 {
		f.Packed = append(f.Packed, 0)
	}
	f.N++
	return f.N - 1
}

func (f *Fates) set(n int64, fate Fate) {
	shift := n % fatesInByte * fateBits
	b := &f.Packed[n/fatesInByte]
	*b = *b&^(fateMask<<shift) | byte(fate)<<shift
}

// At is the fate of operation n of N.
func (f Fates) At(n int64) Fate {
	return Fate(f.Packed[n/fatesInByte] >> (n % fatesInByte * fateBits) & fateMask)
}

// Update takes in what News returned; false: something before it is missing.
func (f *Fates) Update(news Fates) bool {
	if news.From < 0 || news.From > int64(len(f.Packed)) ||
		news.From+int64(len(news.Packed)) != (news.N+fatesInByte-1)/fatesInByte || news.N < f.N {
		return false
	}
	f.N, f.Packed = news.N, append(f.Packed[:news.From], news.Packed...)
	return true
}
