package compare

import (
	"slices"

	"plimsoll/ground/host/kept"
	"plimsoll/lab/session"
)

// fingerprint is equal for plans of the same question. However many pairs they have, more can be added later. Whether
// the same servers and the same program answer it, foreign says, which can tell what differs.
func (p Plan) fingerprint() string {
	p.Pairs, p.Looks, p.Software = 0, nil, ""
	p.Sides = slices.Clone(p.Sides)
	for i := range p.Sides {
		if s := &p.Sides[i]; s.Server != nil { // it says more than the name
			s.Server, s.Name = nil, ""
		}
	}
	return kept.Fingerprint(p)
}

// foreign says why a plan of the same fingerprint was for other servers or another program: what names it.
func (p Plan) foreign(before Plan, what string) string {
	for i, side := range p.Sides {
		now := session.Origin{Program: p.Software, Server: side.Server}
		was := session.Origin{Program: before.Software, Server: before.Sides[i].Server}
		switch text := now.Foreign(was, what); {
		case text != "" && now.Program != was.Program:
			return text
		case text != "":
			return Letter(i) + ": " + text
		}
	}
	return ""
}
