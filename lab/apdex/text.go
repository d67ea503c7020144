package apdex

import (
	"fmt"
	"math"
)

// Text of a score: cut, not rounded, after three digits, so that 0.8499 is not read as good, and the same wherever it is shown.
func Text(score float64) string { return fmt.Sprintf("%.3f", math.Floor(score*1000+1e-9)/1000) }
