// Package human owns what a person reads: text that steers no terminal and shows no secret, suggestions for mistyped
// words, and how numbers, shares, sizes and times are written.
package human

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Known is the text of a value, or what stands for one that is not known.
func Known[T any](value *T, unknown string, text func(T) string) string {
	if value == nil {
		return unknown
	}
	return text(*value)
}

// Thousands writes 1234567 as 1,234,567.
func Thousands[N int | int64](n N) string {
	s, sign := fmt.Sprint(n), ""
	if digits, negative := strings.CutPrefix(s, "-"); negative {
		s, sign = digits, "-"
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// Count of things by a noun whose plural has an s: 1 trial, 1,200 users.
func Count[N int | int64](n N, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return Thousands(n) + " " + noun
}

// Decimal has at most so many digits behind the point, without zeros at the end: 12.5, 12.
func Decimal(x float64, most int) string {
	scale := math.Pow10(most)
	return strconv.FormatFloat(math.Round(x*scale)/scale, 'f', -1, 64)
}

// Figure has so many significant digits; what is before the point is whole: 0.0123, 12.3, 12345.
func Figure(x float64, digits int) string {
	if math.Abs(x) >= math.Pow10(digits)-0.5 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.*g", digits, x)
}

// Percent of a share: 0.339 is 34 %.
func Percent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

// Percent1 has one digit behind the point: 33.9 %.
func Percent1(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

// Share is Percent, and Percent1 of less than a tenth: 34 %, 3.4 %, 0 %.
func Share(share float64) string {
	if share != 0 && math.Abs(share) < 0.1 {
		return Percent1(share)
	}
	return Percent(share)
}
