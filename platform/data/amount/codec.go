package amount

import (
	"encoding/binary"

	"github.com/jackc/pgx/v5/pgtype"
)

// Register makes a connection's numerics, and arrays of them, convert to and from amounts directly. The driver's own
// conversion uses about a dozen big integers for each amount of a posting.
func Register(m *pgtype.Map) {
	numeric := &pgtype.Type{Name: "numeric", OID: pgtype.NumericOID, Codec: codec{}}
	m.RegisterType(numeric)
	m.RegisterType(&pgtype.Type{Name: "_numeric", OID: pgtype.NumericArrayOID,
		Codec: &pgtype.ArrayCodec{ElementType: numeric}})
}

// codec is the driver's, with its own binary plans for amounts.
type codec struct{ pgtype.NumericCodec }

func (c codec) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	if format == pgtype.BinaryFormatCode {
		switch value.(type) {
		case Money, Quantity:
			return encodePlan{}
		}
	}
	return c.NumericCodec.PlanEncode(m, oid, format, value)
}

func (c codec) PlanScan(m *pgtype.Map, oid uint32, format int16, target any) pgtype.ScanPlan {
	driver := c.NumericCodec.PlanScan(m, oid, format, target)
	if format == pgtype.BinaryFormatCode {
		switch target.(type) {
		case *Money, *Quantity:
			return scanPlan{driver}
		}
	}
	return driver
}

type encodePlan struct{}

func (encodePlan) Encode(value any, b []byte) ([]byte, error) {
	if m, ok := value.(Money); ok {
		return appendBinary(b, int64(m), moneyDigits), nil
	}
	return appendBinary(b, int64(value.(Quantity)), quantityDigits), nil
}

// scanPlan leaves other values to the driver, so that errors are the same.
type scanPlan struct{ driver pgtype.ScanPlan }

func (p scanPlan) Scan(b []byte, target any) error {
	switch to := target.(type) {
	case *Money:
		if v, ok := readBinary(b, moneyDigits); ok {
			*to = Money(v)
			return nil
		}
	case *Quantity:
		if v, ok := readBinary(b, quantityDigits); ok {
			*to = Quantity(v)
			return nil
		}
	}
	return p.driver.Scan(b, target)
}

// The server's binary format: number of digits, weight of the first, sign, decimals shown, each of 16 bits; then digits
// in base 10,000.
const (
	headerBytes  = 8
	base         = 10_000
	baseDigits   = 4
	signNegative = 0x4000
	// weightMax is the largest weight of amounts that surely fit with their decimals: below 10^12.
	weightMax = 2
)

var powers = [...]int64{1, 10, 100, 1000, base}

func appendBinary(b []byte, v int64, decimals int) []byte {
	sign, m := uint16(0), magnitude(v)
	if v < 0 {
		sign = signNegative
	}
	whole, fraction := m/uint64(powers[decimals]), m%uint64(powers[decimals])
	var digits [6]uint16 // the lowest first
	n := 1
	digits[0] = uint16(fraction * uint64(powers[baseDigits-decimals]))
	for ; whole > 0; n++ {
		digits[n], whole = uint16(whole%base), whole/base
	}
	// weight -1: the first decimals
	for _, header := range []uint16{uint16(n), uint16(n - 2), sign, uint16(decimals)} {
		b = binary.BigEndian.AppendUint16(b, header)
	}
	for n--; n >= 0; n-- {
		b = binary.BigEndian.AppendUint16(b, digits[n])
	}
	return b
}

// readBinary is exact, or false.
func readBinary(b []byte, decimals int) (v int64, ok bool) {
	if len(b) < headerBytes {
		return 0, false
	}
	n := int(binary.BigEndian.Uint16(b))
	weight := int(int16(binary.BigEndian.Uint16(b[2:])))
	sign := binary.BigEndian.Uint16(b[4:])
	if sign != 0 && sign != signNegative || len(b) != headerBytes+2*n || weight > weightMax || weight-n < -2 {
		return 0, false // not a number, too large for here, or further decimals
	}
	for place := weight; place >= -1; place-- { // trailing zeros are not sent
		digit := int64(0)
		if at := headerBytes + 2*(weight-place); at < len(b) {
			digit = int64(binary.BigEndian.Uint16(b[at:]))
		}
		if place >= 0 {
			v = v*base + digit
			continue
		}
		if digit%powers[baseDigits-decimals] != 0 {
			return 0, false
		}
		v = v*powers[decimals] + digit/powers[baseDigits-decimals]
	}
	if sign == signNegative {
		v = -v
	}
	return v, true
}
