package apdex

// Band is the rating of a score.
type Band string

const (
	Excellent    Band = "excellent"
	Good         Band = "good"
	Fair         Band = "fair"
	Poor         Band = "poor"
	Unacceptable Band = "unacceptable"
	NoSample     Band = "no sample"
)

// Lower limits of the bands (claim C01; specification §5).
const (
	ExcellentFrom = 0.94
	GoodFrom      = 0.85
	FairFrom      = 0.70
	PoorFrom      = 0.50
)

// BandOf rates a score. It compares the exact score, never a rounded one: 0.8499 is fair.
func BandOf(score float64) Band {
	switch {
	case score >= ExcellentFrom:
		return Excellent
	case score >= GoodFrom:
		return Good
	case score >= FairFrom:
		return Fair
	case score >= PoorFrom:
		return Poor
	}
	return Unacceptable
}
