package tally

import "time"

// Between is what ended in a part of the run: intervals count by their middle, since long runs have wide ones.
func (l *Timeline) Between(from, to time.Duration) (sum Interval, err error) {
	sum.P50, sum.P95, sum.P99 = NoPercentile, NoPercentile, NoPercentile
	for k, interval := range l.Intervals {
		middle := time.Duration(k)*l.Width + l.Width/2
		if middle < from || middle >= to {
			continue
		}
		if err := sum.append(interval); err != nil {
			return sum, err
		}
	}
	return sum, nil
}
