package human

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

var units = []struct {
	name  string
	bytes float64
}{{"TB", 1 << 40}, {"GB", 1 << 30}, {"MB", 1 << 20}, {"kB", 1 << 10}}

// Bytes are an amount in the largest unit that it has one of, with at most one digit behind the point: 1.5 GB, 48 MB.
// Units are those of PostgreSQL: a kB has 1024 bytes.
func Bytes[N int64 | float64](n N) string {
	for _, u := range units {
		if float64(n) >= u.bytes {
			return Decimal(float64(n)/u.bytes, 1) + " " + u.name
		}
	}
	return fmt.Sprintf("%.0f bytes", float64(n))
}

// ParseBytes reads an amount with its unit: 20GB, 1.5 TB, 300mb.
func ParseBytes(text string) (int64, error) {
	for _, u := range units {
		number, is := strings.CutSuffix(strings.ToUpper(text), strings.ToUpper(u.name))
		if !is {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if bytes := n * u.bytes; err == nil && bytes >= 1 && bytes < math.MaxInt64 {
			return int64(bytes), nil
		}
		break
	}
	return 0, fmt.Errorf("%q is not a size", text)
}
