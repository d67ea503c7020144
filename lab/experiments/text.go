package experiments

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

func three(v float64) string { return fmt.Sprintf("%.3f", v) }

func nth(k, n int) string { return fmt.Sprintf("repetition %d of %d: ", k+1, n) }

// length writes a duration without its empty units: 20m, not 20m0s.
func length(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// spread is the middle of some figures and their range: 0.991 (0.985 to 0.994).
func spread(figures []float64, format string) string {
	if len(figures) == 0 {
		return "nothing"
	}
	if len(figures) == 1 {
		return fmt.Sprintf(format, figures[0])
	}
	return fmt.Sprintf(format+" ("+format+" to "+format+")", middle(figures), slices.Min(figures), slices.Max(figures))
}

// middle is the median; of an even number of figures the mean of the two in the middle.
func middle(figures []float64) float64 {
	if len(figures) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(figures))
	if n := len(sorted); n%2 == 0 {
		return (sorted[n/2] + sorted[n/2-1]) / 2
	}
	return sorted[len(sorted)/2]
}

// thousands writes 30000 as 30,000.
func thousands(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func because(measured, why string) string {
	if why != "" {
		measured += "; " + why
	}
	return measured
}
