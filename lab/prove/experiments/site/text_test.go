package site

import (
	"testing"
	"time"
)

func TestListed(t *testing.T) {
	for want, got := range map[string]string{
		"":                   Listed([]int{}),
		"10":                 Listed([]int{10}),
		"10 and 25":          Listed([]int{10, 25}),
		"100µs, 1ms and 2ms": Listed([]time.Duration{100 * time.Microsecond, time.Millisecond, 2 * time.Millisecond}),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
