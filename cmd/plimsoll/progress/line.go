package progress

import (
	"fmt"
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

// short writes a duration as a person says it: 45s, 2m05s, 1h10m.
func short(d time.Duration) string {
	d = d.Round(time.Second)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	}
	return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
}

// left estimates the time to go from the pace so far: elapsed·(total−done)/done.
// There is none before a hundredth is done or half a second has passed.
func left(elapsed time.Duration, done, total float64) (time.Duration, bool) {
	if total <= 0 || done <= 0 || done > total || done < total/100 || elapsed < time.Second/2 {
		return 0, false
	}
	return time.Duration(float64(elapsed) * (total - done) / done), true
}
