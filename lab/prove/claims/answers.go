package claims

// Answers to the three questions that make a verdict: does the effect show, is it of the claimed size, and is this the
// report's situation?
type Answers struct {
	Direction Direction `json:"direction"`
	Size      Size      `json:"size"`
	Situation []Met     `json:"situation,omitempty"`
}

// Direction of a measured effect.
type Direction string

// Directions.
const (
	InClaimedDirection Direction = "claimed" // surely: its interval excludes none
	AgainstClaim       Direction = "against"
	OpenDirection      Direction = "open"
)

// Size of a measured effect.
type Size string

// Sizes.
const (
	AsClaimed       Size = "claimed" // surely within the band around the claim
	LessThanClaimed Size = "smaller"
	MoreThanClaimed Size = "larger"
	OpenSize        Size = "open"
	NoSize          Size = "none claimed"
)

// And of two effects of one claim is that of the one that says less for it.
func (s Size) And(other Size) Size {
	for _, worse := range []Size{LessThanClaimed, OpenSize, MoreThanClaimed} {
		if s == worse || other == worse {
			return worse
		}
	}
	return s
}

// Met is a condition of the report's situation, what is here, and whether that is as much.
type Met struct {
	Name   string `json:"name"`
	Report string `json:"report,omitempty"`
	Here   string `json:"here"`
	Met    bool   `json:"met"`
}

// Words of a verdict, with what it says of the size: "in direction, smaller", "small scale, size open".
func (v Verdict) Words(a *Answers) string {
	switch {
	case a != nil && v == Inconclusive && a.Direction == AgainstClaim:
		return string(v) + ", against it at this scale"
	case a == nil || v != InDirection && v != SmallScale:
		return string(v)
	}
	switch a.Size {
	case LessThanClaimed, MoreThanClaimed:
		return string(v) + ", " + string(a.Size)
	case OpenSize:
		return string(v) + ", size open"
	}
	return string(v)
}

// Text of the condition: "users: 3,000 (report: 30,000), not met".
func (m Met) Text() string {
	text := m.Name + ": " + m.Here
	if m.Report != "" {
		text += " (report: " + m.Report + ")"
	}
	if !m.Met {
		text += ", not met"
	}
	return text
}
