package users

import "fmt"

// Segment is every Count-th user from Index on. Who does what and when is a matter of the
// seed and the user's number in the whole crowd, so crowds that are divided otherwise do the
// same; taken in turn, users enter over the ramp and roles mix alike in all segments.
type Segment struct {
	Index int `json:"index"`
	Count int `json:"count"` // 0: the whole crowd
}

func (s Segment) check(users int) error {
	if s.Count > 0 && (s.Index < 0 || s.Index >= s.Count || s.Index >= users) || s.Count < 0 {
		return fmt.Errorf("segment %d of %d does not exist with %d users", s.Index, s.Count, users)
	}
	return nil
}

// step from one user of the segment to the next.
func (s Segment) step() int { return max(1, s.Count) }

// Of the first n users of the crowd, how many are of the segment.
func (s Segment) Of(n int) int { return max(0, n-s.Index+s.step()-1) / s.step() }

// number in the crowd of the k-th user of the segment.
func (s Segment) number(k int) int { return s.Index + k*s.step() }

// has says whether a number, of a user or of an arrival, falls to the segment.
func (s Segment) has(number int) bool { return number%s.step() == s.Index }

// Each calls do for every user of the segment in [from, to).
func (s Segment) Each(from, to int, do func(user int)) {
	for user := s.number(s.Of(from)); user < to; user += s.step() {
		do(user)
	}
}
