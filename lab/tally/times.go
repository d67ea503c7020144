package tally

import (
	"fmt"
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
	d = min(max(d, 0), TimesMax)
	if err := t.counts.RecordValue(int64(d / TimesUnit)); err != nil {
		panic(err) // the value was forced into the range
	}
}

// N is how many were recorded.
func (t *Times) N() int64 { return t.counts.TotalCount() }

// Percentile p (0..100); false when nothing was recorded.
func (t *Times) Percentile(p float64) (time.Duration, bool) {
	if t.N() == 0 {
		return 0, false
	}
	return time.Duration(t.counts.ValueAtPercentile(p)) * TimesUnit, true
}

// Percentiles p, ascending, in one pass; all zero when nothing was recorded.
func (t *Times) Percentiles(p ...float64) []time.Duration {
	found := make([]time.Duration, len(p))
	for i, v := range t.counts.ValueAtPercentilesSlice(p) {
		found[i] = time.Duration(v) * TimesUnit
	}
	return found
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
