package users

import (
	"fmt"
	"math"
)

// Role is users who work alike. The users of the roles together are the crowd.
type Role struct {
	Name    string
	Users   int
	Think   Think
	Weights []float64 // one per operation; 0 is never done
}

// RolesMax is how many roles there may be: a user knows its own by one byte.
const RolesMax = 256

// roles gives the crowd's, or the one that all are in when none are named.
func (c Crowd) roles() []Role {
	if len(c.Roles) > 0 {
		return c.Roles
	}
	one := Role{Name: "all", Users: c.Users, Think: c.Think}
	for _, op := range c.Operations {
		one.Weights = append(one.Weights, op.Weight)
	}
	return []Role{one}
}

func (c Crowd) checkRoles() error {
	sum := 0
	roles := c.roles()
	if len(roles) > RolesMax {
		return fmt.Errorf("%d roles: at most %d", len(roles), RolesMax)
	}
	for _, r := range roles {
		sum += r.Users
		if r.Users < 0 {
			return fmt.Errorf("role %s has %d users: must be 0 or more", r.Name, r.Users)
		}
		if _, err := newPart(r, c.Operations); err != nil {
			return fmt.Errorf("role %s: %w", r.Name, err)
		}
	}
	if sum != c.Users {
		return fmt.Errorf("the roles have %d users, the crowd %d", sum, c.Users)
	}
	return nil
}

// part is what users of one role do by chance.
type part struct {
	mix     mix
	thinker thinker
}

func newPart(r Role, operations []Operation) (p part, err error) {
	if len(r.Weights) != len(operations) {
		return p, fmt.Errorf("%d weights for %d operations", len(r.Weights), len(operations))
	}
	if p.mix, err = newMix(r.Weights, operations); err != nil {
		return p, err
	}
	p.thinker, err = newThinker(r.Think)
	return p, err
}

// assignRoles gives each user a role, so that any number of users from the first on are of
// the roles in their proportion: the ramp brings all roles at once.
func assignRoles(roles []Role, users, n int) []uint8 {
	dealt := make([]uint8, n)
	given := make([]int, len(roles))
	for user := range dealt {
		best, most := 0, math.Inf(-1)
		for i, r := range roles {
			owed := float64(r.Users)*float64(user+1)/float64(users) - float64(given[i])
			if owed > most && r.Users > 0 && (given[i] < r.Users || user >= users) {
				best, most = i, owed
			}
		}
		dealt[user] = uint8(best)
		given[best]++
	}
	return dealt
}

// Shares of the operations in all that the crowd does, 0..1, when answers take no time:
// a role acts the more often the less it thinks.
func (c Crowd) Shares() []float64 {
	all, sum := make([]float64, len(c.Operations)), 0.0
	for _, r := range c.roles() {
		rate, weights := float64(r.Users), 0.0
		if r.Think.Mean > 0 {
			rate /= r.Think.Mean.Seconds()
		}
		for _, w := range r.Weights {
			weights += w
		}
		for i, w := range r.Weights {
			all[i] += rate * w / weights
			sum += rate * w / weights
		}
	}
	for i := range all {
		all[i] /= max(sum, math.SmallestNonzeroFloat64)
	}
	return all
}
