// Package human owns what a person reads: text that steers no terminal and shows no secret, suggestions for mistyped
// words, and how numbers, shares, sizes and times are written.
package human

import (
	"fmt"
	"strings"
	"time"
)

// Thousands writes 1234567 as 1,234,567.
func Thousands[N int | int64](n N) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Duration writes 1m0s as 1m and 1h0m0s as 1h.
func Duration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
