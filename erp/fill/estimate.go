package fill

import (
	"math"
	"time"

	"plimsoll/erp/skew"
)

// What things cost, measured on fills at scales 0.002 and 0.01: bytes on disk with indexes and totals, and seconds of
// one processor including the server's share. Disk time is not included: a base that fits into memory is written in
// the background; for a larger one the server writes several times its size, and the wait depends on the disk.
const (
	bytesPerDocument   = 8_900
	bytesPerElement    = 420
	documentsPerSecond = 5_700
	elementsPerSecond  = 135_000
	makingShare        = 0.15 // of what documents take is making them, which one stream does for an organisation
	tablesTake         = time.Second
	spareShare         = 0.25 // of the size: WAL, and what sorting writes
	spareLeast         = 1 << 30
)

// Estimate of a base's size and of the time to fill it.
type Estimate struct {
	Documents int           `json:"documents"`
	Elements  int           `json:"elements"`
	Bytes     int64         `json:"bytes"`      // of the database
	Needed    int64         `json:"disk_bytes"` // on the disk while it is filled
	Time      time.Duration `json:"time_ns"`
}

// EstimateOf a base filled with so many streams.
func EstimateOf(s Sizes, streams int) Estimate {
	e := Estimate{Documents: s.Total(), Elements: s.Elements()}
	e.Bytes = int64(e.Documents)*bytesPerDocument + int64(e.Elements)*bytesPerElement
	e.Needed = e.Bytes + max(spareLeast, int64(float64(e.Bytes)*spareShare))
	documents, elements := float64(e.Documents)/documentsPerSecond, float64(e.Elements)/elementsPerSecond
	biggest := math.Pow(1/float64(s.Organisations), 1.0/skew.Mild)
	seconds := max((documents+elements)/float64(max(1, streams)), biggest*makingShare*documents)
	e.Time = (tablesTake + time.Duration(seconds*float64(time.Second))).Round(time.Second)
	return e
}

// ScaleOf a size in bytes: the scale whose base comes closest.
func ScaleOf(bytes int64) float64 {
	low, high := ScaleMin, float64(ScaleMax)
	for range 60 {
		middle := math.Sqrt(low * high)
		if EstimateOf(scaled(middle), 1).Bytes < bytes {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}
