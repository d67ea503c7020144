package line

import "fmt"

// queue applies Little's law to a trial: how many operations were in service at once, and how many users waited for
// their turn. Throughput times the time in the system is the number in it; the time without a queue is what an
// operation takes when few users are there.
type queue struct {
	served  float64 // operations in service at once
	waiting float64
	rate    float64 // operations per second
	leastMS float64 // mean time of an operation without a queue
}

// queueOf a trial; nil if too little is known. By the response-time law X·Z of N users think at any moment, so N − X·Z
// are in the system; X counts whatever ended, since a user also thinks after a failure. Both laws are about means.
func queueOf(trials []Trial, at Trial, thinkS float64) *queue {
	var lightest *Trial
	for i, t := range trials {
		if t.LatencyMSMean != nil && t.Outcome != Void && (lightest == nil || t.Users < lightest.Users) {
			lightest = &trials[i]
		}
	}
	if lightest == nil || at.OpsPerS <= 0 {
		return nil
	}
	q := &queue{rate: at.OpsPerS, leastMS: *lightest.LatencyMSMean}
	q.served = q.rate * q.leastMS / 1000
	ended := q.rate
	if at.AllPerS != nil {
		ended = *at.AllPerS
	}
	q.waiting = max(0, float64(at.Users)-ended*thinkS-q.served)
	return q
}

// isLong says whether more operations wait than are served.
func (q *queue) isLong() bool { return q != nil && q.waiting >= 2 && q.waiting > q.served }

func (q *queue) evidence() string {
	return fmt.Sprintf(
		"by Little's law: %.1f operations/s of %.3g ms each are %.1f in service at once; %.0f users wait",
		q.rate, q.leastMS, q.served, q.waiting)
}
