// Package gate owns the conditions under which a run fails, as people write them:
//
//	[OPERATION:] FIGURE COMPARED LIMIT      goods_sale.post: p95 > 200ms      errors > 1%      *: apdex < 0.85
//
// A gate says what fails, not what is wished for. It names one key operation, each of them (*), or the whole run.
package gate

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"plimsoll/ground/human"
	"plimsoll/lab/load/apdex"
	"plimsoll/lab/stats"
)

// Each stands for each key operation.
const Each = "*"

// Figure is what a gate limits.
type Figure string

// Figures of gates. Percentiles are of all operations, failed ones being the longest; the mean is of answered ones.
const (
	Percentile Figure = "percentile"
	Mean       Figure = "mean"
	Max        Figure = "max"
	Errors     Figure = "errors"  // failed, or refused for overload, as a share of all operations
	Refused    Figure = "refused" // by a business control, as a share of the valid answers
	Throughput Figure = "throughput"
	Apdex      Figure = "apdex"
)

// Unit of a limit and of what is measured.
type Unit string

const (
	Milliseconds Unit = "ms"
	Share        Unit = "share"
	PerSecond    Unit = "per second"
	Score        Unit = "score"
	Users        Unit = "users"
	Ratio        Unit = "ratio" // to what was measured before
)

// Unit of the figure.
func (f Figure) Unit() Unit {
	switch f {
	case Errors, Refused:
		return Share
	case Throughput:
		return PerSecond
	case Apdex:
		return Score
	}
	return Milliseconds
}

// ofRun: the whole run has the figure too. Latencies it has not: a percentile of operations that are meant to take
// different times moves with the mix.
func (f Figure) ofRun() bool { return f.Unit() != Milliseconds }

// lessIsBetter: such a figure fails above its limit.
func (f Figure) lessIsBetter() bool { return f != Throughput && f != Apdex }

// Gate is one condition.
type Gate struct {
	Operation string  `json:"operation,omitempty"` // an id, Each, or empty: the whole run
	Figure    Figure  `json:"figure"`
	Percent   float64 `json:"percent,omitempty"` // of a percentile, such as 99.9
	// AtLimit: the limit itself fails too (>=, <=).
	AtLimit bool    `json:"at_limit,omitempty"`
	Limit   float64 `json:"limit"` // in the unit of the figure
}

// Fails says whether a measured figure fails the gate.
func (g Gate) Fails(measured float64) bool {
	switch {
	case g.AtLimit && measured == g.Limit:
		return true
	case g.Figure.lessIsBetter():
		return measured > g.Limit
	}
	return measured < g.Limit
}

// For the gate of one operation, of one for each.
func (g Gate) For(operation string) Gate {
	g.Operation = operation
	return g
}

// String is the gate as a person writes it.
func (g Gate) String() string {
	text := g.FigureText() + " " + g.comparison() + " " + g.limitText()
	if g.Operation == "" {
		return text
	}
	return quoted(g.Operation) + ": " + text
}

// quoted where the name alone would be read otherwise.
func quoted(operation string) string {
	if strings.ContainsAny(operation, ":\"") || operation != strings.TrimSpace(operation) {
		return strconv.Quote(operation)
	}
	return operation
}

// FigureText is the figure as it is written: p99.9, apdex.
func (g Gate) FigureText() string {
	if g.Figure == Percentile {
		return "p" + strconv.FormatFloat(g.Percent, 'f', -1, 64)
	}
	return string(g.Figure)
}

func (g Gate) comparison() string {
	sign := "<"
	if g.Figure.lessIsBetter() {
		sign = ">"
	}
	if g.AtLimit {
		sign += "="
	}
	return sign
}

func (g Gate) limitText() string {
	switch g.Figure.Unit() {
	case Milliseconds:
		return human.Duration(time.Duration(math.Round(g.Limit * float64(time.Millisecond))))
	case Share:
		return human.Decimal(100*g.Limit, 6) + "%"
	case PerSecond:
		return strconv.FormatFloat(g.Limit, 'f', -1, 64) + "/s"
	}
	return strconv.FormatFloat(g.Limit, 'f', -1, 64)
}

// Text of a measured figure.
func (u Unit) Text(x float64) string {
	switch u {
	case Milliseconds:
		return human.Millis(x) + " ms"
	case Share:
		return human.Decimal(100*x, 2) + " %"
	case PerSecond:
		return human.Decimal(x, 1) + "/s"
	case Users:
		return human.Thousands(int64(math.Round(x))) + " users"
	case Ratio:
		return fmt.Sprintf("%+.1f %%", 100*(x-1))
	}
	return apdex.Text(x)
}

// Least is how many operations a run must have to pass the gate. A percentile is a share of operations that are slower,
// and so all of these figures are shares of good and bad operations: with fewer, the 95 % interval of the share would
// reach beyond the limit although every single operation was good (stats.Wilson at 0 and 1):
//
//	z²/(n+z²) ≤ bad   ⇒   n ≥ z²·(1−bad)/bad       p95: 73   p99: 381   p99.9: 3,838   errors > 1%: 381
//
// To fail takes no such number: what was measured lies beyond the limit.
func (g Gate) Least() int64 {
	bad := 0.0
	switch g.Figure {
	case Percentile:
		bad = 1 - g.Percent/100
	case Errors, Refused:
		bad = g.Limit
	case Apdex:
		bad = 1 - g.Limit
	}
	switch {
	case g.Figure == Apdex && bad <= 0:
		return apdex.SmallGroup
	case bad <= 0 || bad >= 1:
		return 1
	}
	const rounding = 1e-9 // 1 − 0.95 is 0.05000000000000004
	return max(1, int64(math.Ceil(stats.Z*stats.Z*(1-bad)/bad-rounding)))
}
