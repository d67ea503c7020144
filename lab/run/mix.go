package run

import (
	"plimsoll/lab/load/users"
	"plimsoll/lab/run/result"
)

// shares of the mix, 0..1, of the operations that are in it.
func shares(planned []users.Operation) map[string]float64 {
	all := map[string]float64{}
	for _, op := range planned {
		if op.Weight > 0 {
			all[op.ID] = op.Weight
		}
	}
	return all
}

// roles of the crowd that have users. With open arrivals nobody thinks.
func roles(all []users.Role, arrive bool) (some []result.Role) {
	for _, r := range all {
		if r.Users > 0 {
			role := result.Role{Name: r.Name, Users: r.Users}
			if !arrive {
				role.Think = think(r.Think)
			}
			some = append(some, role)
		}
	}
	return some
}

func think(t users.Think) *result.Think {
	return &result.Think{Distribution: string(t.Distribution), MeanS: t.Mean.Seconds(), CapS: t.Cap.Seconds()}
}

// meanThink summarizes the roles' think times: the mean over users, the longest cap. Nil: nobody thinks.
func meanThink(all []result.Role) *result.Think {
	if len(all) == 0 || all[0].Think == nil {
		return nil
	}
	var sum result.Think
	users := 0
	for i, r := range all {
		users += r.Users
		sum.MeanS += float64(r.Users) * r.Think.MeanS
		sum.CapS = max(sum.CapS, r.Think.CapS)
		if i > 0 && sum.Distribution != r.Think.Distribution {
			sum.Distribution = "mixed"
		} else {
			sum.Distribution = r.Think.Distribution
		}
	}
	sum.MeanS /= float64(max(1, users))
	return &sum
}
