// Package amount represents money and quantities as exact integers: kopecks and thousandths. In JSON they are decimal
// strings, in the database numeric; floating point is never used.
package amount

import (
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// Money counts kopecks.
type Money int64

// Quantity counts thousandths of a unit.
type Quantity int64

const (
	moneyDigits    = 2
	quantityDigits = 3
	thousand       = 1000
	// hundred per cent
	percent = 100
)

// Limits of a single amount; sums of many stay far below the 18 digits kept in the database.
const (
	MoneyMax    Money    = 999_999_999_999_99       // 10^12 roubles
	QuantityMax Quantity = 999_999_999_999          // 10^9 units
	sumMax               = 9_999_999_999_999_999_99 // what numeric(18,2) holds
)

var (
	// ErrOverflow means that a result does not fit what the database keeps.
	ErrOverflow = errors.New("amount too large")
	errSyntax   = errors.New("not a decimal number")
)

// ParseMoney reads at most two decimals: "12.50", "-3".
func ParseMoney(s string) (Money, error) {
	v, err := parse(s, moneyDigits)
	return Money(v), err
}

// ParseQuantity reads at most three decimals.
func ParseQuantity(s string) (Quantity, error) {
	v, err := parse(s, quantityDigits)
	return Quantity(v), err
}

func parse(s string, digits int) (int64, error) {
	text, negative := strings.CutPrefix(s, "-")
	whole, fraction, point := strings.Cut(text, ".")
	if whole == "" || point && fraction == "" || len(whole) > 16 || !allDigits(whole) || !allDigits(fraction) {
		return 0, fmt.Errorf("%.40q: %w", s, errSyntax)
	}
	if len(fraction) > digits {
		return 0, fmt.Errorf("%.40q: more than %d decimals", s, digits)
	}
	v, err := strconv.ParseInt(whole+fraction+"000"[:digits-len(fraction)], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%.40q: %w", s, ErrOverflow)
	}
	if negative {
		v = -v
	}
	return v, nil
}

func allDigits(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' }) < 0
}

func (m Money) String() string    { return string(appendDecimal(nil, int64(m), moneyDigits)) }
func (q Quantity) String() string { return string(appendDecimal(nil, int64(q), quantityDigits)) }

// AppendText appends the decimal form.
func (m Money) AppendText(b []byte) []byte    { return appendDecimal(b, int64(m), moneyDigits) }
func (q Quantity) AppendText(b []byte) []byte { return appendDecimal(b, int64(q), quantityDigits) }

func appendDecimal(b []byte, v int64, digits int) []byte {
	magnitude := uint64(v)
	if v < 0 {
		b, magnitude = append(b, '-'), -magnitude
	}
	scale := uint64(powers[digits])
	b = strconv.AppendUint(b, magnitude/scale, 10)
	b = append(b, '.')
	for rest := magnitude % scale; scale > 1; rest %= scale {
		scale /= 10
		b = append(b, '0'+byte(rest/scale))
	}
	return b
}

// MarshalText and UnmarshalText make both JSON strings.
func (m Money) MarshalText() ([]byte, error)    { return m.AppendText(nil), nil }
func (q Quantity) MarshalText() ([]byte, error) { return q.AppendText(nil), nil }

func (m *Money) UnmarshalText(b []byte) (err error) {
	*m, err = ParseMoney(string(b))
	return err
}

func (q *Quantity) UnmarshalText(b []byte) (err error) {
	*q, err = ParseQuantity(string(b))
	return err
}

// Times is price × quantity, rounded half away from zero to a kopeck.
func (m Money) Times(q Quantity) (Money, error) { return m.Portion(q, thousand) }

// Percent is p hundredths of m, rounded half away from zero.
func (m Money) Percent(p int64) (Money, error) { return m.Portion(Quantity(p), percent) }

// Portion is m × part / whole for a positive whole, rounded half away from zero: the value of a part of a quantity. It
// is exact however large the product is.
func (m Money) Portion(part, whole Quantity) (Money, error) {
	if whole <= 0 {
		return 0, errors.New("cannot divide zero into portions")
	}
	negative := (m < 0) != (part < 0)
	high, low := bits.Mul64(magnitude(int64(m)), magnitude(int64(part)))
	low, carry := bits.Add64(low, uint64(whole)/2, 0)
	high += carry
	if high >= uint64(whole) {
		return 0, ErrOverflow
	}
	result, _ := bits.Div64(high, low, uint64(whole))
	if result > sumMax {
		return 0, ErrOverflow
	}
	if negative {
		return -Money(result), nil
	}
	return Money(result), nil
}

func magnitude(v int64) uint64 {
	if v < 0 {
		return -uint64(v)
	}
	return uint64(v)
}

// Sum adds and reports overflow.
func Sum[T Money | Quantity](values ...T) (total T, err error) {
	for _, v := range values {
		next := total + v
		if (next > total) != (v > 0) && v != 0 || magnitude(int64(next)) > sumMax {
			return 0, ErrOverflow
		}
		total = next
	}
	return total, nil
}
