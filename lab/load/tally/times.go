package tally

import (
	"fmt"
	"math"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Range and error of Times: a value is kept within one part in a thousand,
// longer ones count as TimesMax.
const (
	TimesUnit   = time.Microsecond
	TimesMax    = 30 * time.Minute
	timesDigits = 3
)

// Times is a histogram of durations.
type Times struct{ counts *hdrhistogram.Histogram }

// NewTimes is empty and takes about 200 KB.
func NewTimes() *Times {
	return &Times{hdrhistogram.New(1, int64(TimesMax/TimesUnit), timesDigits)}
}

// Record counts one duration.
func (t *Times) Record(d time.Duration) {
	t.RecordAll(Values{microseconds(d)})
}

// RecordAll counts values of a page.
func (t *Times) RecordAll(all Values) {
	for _, v := range all {
		if err := t.counts.RecordValue(min(max(v, 0), int64(TimesMax/TimesUnit))); err != nil {
			panic(err) // the value was forced into the range
		}
	}
}

func microseconds(d time.Duration) int64 { return int64(min(max(d, 0), TimesMax) / TimesUnit) }

// N is how many were recorded.
func (t *Times) N() int64 { return t.counts.TotalCount() }

// Below is how many were shorter, as far as the histogram tells values apart.
func (t *Times) Below(d time.Duration) (n int64) {
	limit := microseconds(d)
	for _, bar := range t.counts.Distribution() {
		if bar.To >= limit {
			break
		}
		n += bar.Count
	}
	return n
}

// Percentile p (0..100): the least value that so large a share does not exceed; false when nothing was recorded.
func (t *Times) Percentile(p float64) (time.Duration, bool) {
	if t.N() == 0 {
		return 0, false
	}
	return time.Duration(t.counts.ValueAtPercentile(t.nextRank(p))) * TimesUnit, true
}

// nextRank is the percentage of the next whole rank: the histogram itself rounds ranks, down as well as up, so that its
// p95 of 14 values is the 13th of them, which only 93 % do not exceed.
func (t *Times) nextRank(p float64) float64 {
	const rounding = 1e-9
	n := float64(t.N())
	return 100 * math.Ceil(p/100*n-rounding) / n
}

// PercentileWith is the percentile p of what was recorded and of failures, which take for ever; false when it is one of
// those, or when there is nothing.
func (t *Times) PercentileWith(failures int64, p float64) (time.Duration, bool) {
	rank := int64(math.Ceil(p / 100 * float64(t.N()+failures)))
	if t.N() == 0 || rank > t.N() {
		return 0, false
	}
	return t.Percentile(100 * float64(rank) / float64(t.N()))
}

// Mean and standard deviation; zero when nothing was recorded.
func (t *Times) Mean() (mean, deviation time.Duration) {
	unit := float64(TimesUnit)
	if t.N() == 0 {
		return 0, 0
	}
	return time.Duration(t.counts.Mean() * unit), time.Duration(t.counts.StdDev() * unit)
}

// Max is the longest; zero when nothing was recorded.
func (t *Times) Max() time.Duration { return time.Duration(t.counts.Max()) * TimesUnit }

// Merge adds the counts of other.
func (t *Times) Merge(other *Times) error {
	if dropped := t.counts.Merge(other.counts); dropped != 0 {
		return fmt.Errorf("merge times: %d values out of range", dropped)
	}
	return nil
}

// Reset forgets everything.
func (t *Times) Reset() { t.counts.Reset() }

// MarshalText is the HdrHistogram V2 encoding: small, exact, readable by the
// histogram's implementations in other languages.
func (t *Times) MarshalText() ([]byte, error) {
	return t.counts.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
}

// UnmarshalText reads it back.
func (t *Times) UnmarshalText(text []byte) error {
	counts, err := hdrhistogram.Decode(text)
	if err != nil {
		return fmt.Errorf("decode times: %w", err)
	}
	t.counts = counts
	return nil
}
