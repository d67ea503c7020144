package human

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// MS is a time in milliseconds, to the microsecond.
func MS(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// Millis writes milliseconds with a digit behind the point below 10: 9.8, 12, 12,346.
func Millis(ms float64) string {
	if ms < 9.95 {
		return fmt.Sprintf("%.1f", ms)
	}
	return Thousands(int64(math.Round(ms)))
}

// Seconds of a length of time: 0.05 s, 12.3 s, 130 s; whole minutes from two on: 20 min.
func Seconds(s float64) string {
	switch {
	case s > 0 && s < 1:
		return Decimal(s, 3) + " s"
	case s >= 120 && math.Mod(s, 60) == 0:
		return fmt.Sprintf("%.0f min", s/60)
	}
	return Decimal(s, 1) + " s"
}

// Duration is a length as options take it, without what is zero at its end: 1m and not 1m0s, 1h and not 1h0m0s.
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

// Roughly is an estimate: 90 s, 25 min, 2.5 h.
func Roughly(d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.1f h", d.Hours())
}

// Elapsed is what a clock has run, which keeps its width while it runs: 45s, 2m05s, 1h10m.
func Elapsed(d time.Duration) string {
	d = d.Round(time.Second)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	}
	return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
}

// Took is a measured time, rounded to what it is worth: 250ns, 52µs, 1.23ms.
func Took(d time.Duration) string {
	switch {
	case d >= time.Millisecond:
		return d.Round(10 * time.Microsecond).String()
	case d >= 10*time.Microsecond:
		return d.Round(time.Microsecond).String()
	}
	return d.Round(10 * time.Nanosecond).String()
}
