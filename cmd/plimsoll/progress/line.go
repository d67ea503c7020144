package progress

import (
	"math"
	"strings"
	"time"
)

// barCells is the width of the bar between its brackets.
const barCells = 24

// bar draws share (0..1) as [#####.....].
func bar(share float64) string {
	full := int(math.Round(min(max(share, 0), 1) * barCells))
	return "[" + strings.Repeat("#", full) + strings.Repeat(".", barCells-full) + "]"
}

// left estimates the time to go from the pace so far: elapsed·(total−done)/done.
// There is none before a hundredth is done or half a second has passed.
func left(elapsed time.Duration, done, total float64) (time.Duration, bool) {
	if total <= 0 || done <= 0 || done > total || done < total/100 || elapsed < time.Second/2 {
		return 0, false
	}
	return time.Duration(float64(elapsed) * (total - done) / done), true
}
