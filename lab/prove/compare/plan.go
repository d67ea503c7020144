package compare

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"plimsoll/ground/postgres/identity"
	"plimsoll/ground/problem"
)

// fingerprint is equal for plans of the same question. However many pairs they have, more can be added later. Whether
// the same servers and the same program answer it says otherThan, which can tell what differs.
func (p Plan) fingerprint() string {
	p.Pairs, p.Looks, p.Software = 0, nil, ""
	p.Sides = slices.Clone(p.Sides)
	for i := range p.Sides {
		if s := &p.Sides[i]; s.Server != nil { // it says more than the name
			s.Server, s.Name = nil, ""
		}
	}
	text, err := json.Marshal(p)
	if err != nil {
		panic(err) // cannot fail: only numbers and text
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:6])
}

// sameAs fails where a plan of the same fingerprint was for other servers or another program: what names it.
func (p Plan) sameAs(before Plan, what string) error {
	if p.Software != before.Software {
		was := before.Software
		if was == "" {
			was = "an earlier version"
		}
		return startOver(fmt.Errorf("%s was recorded by Plimsoll %s, this is %s", what, was, p.Software))
	}
	for i, side := range p.Sides {
		if err := sameServer(side.Server, before.Sides[i].Server, what); err != nil {
			return startOver(fmt.Errorf("%s: %w", Letter(i), err))
		}
	}
	return nil
}

func sameServer(now, before *identity.Identity, what string) error {
	switch {
	case now == nil && before == nil:
		return nil
	case now == nil || before == nil:
		return fmt.Errorf("the database of %s is not known", what)
	}
	if difference := now.Difference(*before); difference != "" {
		return fmt.Errorf("a different database than that of %s: %s", what, difference)
	}
	return nil
}

func startOver(err error) error {
	return problem.New(problem.Usage, err,
		"resume it with its original settings, or start over: the same command without --resume")
}

// errNothingStopped says that no comparison of this question can go on.
var errNothingStopped = errors.New("there is no stopped comparison with these settings")
