package apdex

import (
	"fmt"
	"math"
)

// Text is the score cut, not rounded, after three digits, so that 0.8499 does not look good.
func Text(score float64) string { return fmt.Sprintf("%.3f", math.Floor(score*1000+1e-9)/1000) }
