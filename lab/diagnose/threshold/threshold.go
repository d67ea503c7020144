// Package threshold owns the limits by which findings and advice are judged, each with its reason.
package threshold

// Limit is a threshold with its reason.
type Limit struct {
	Name   string  `json:"name"`
	Value  float64 `json:"value"`
	Reason string  `json:"reason"`
}

// List of all thresholds of one judge; its report carries them.
type List []*Limit

// Add a limit to the list.
func (l *List) Add(name string, value float64, reason string) *Limit {
	return l.Share(&Limit{name, value, reason})
}

// Share a limit with another judge.
func (l *List) Share(shared *Limit) *Limit {
	*l = append(*l, shared)
	return shared
}
