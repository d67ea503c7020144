package load

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"plimsoll/lab/load/scenario"
	"plimsoll/lab/load/users"
)

// Results name the profile, so it never changes: another mix needs another name.
func TestTheProfileIsFrozen(t *testing.T) {
	const frozen = "9d5867be9a5751ffb036f43ccb899f5056da1baa48edd6e40cd65dd53d723bf6"
	sum := sha256.Sum256(erp1)
	if got := hex.EncodeToString(sum[:]); got != frozen {
		t.Errorf("the profile erp-1 has the digest %s: leave it as it was, and make erp-2", got)
	}
	name, changes := Default().Profile()
	if name != "erp-1" || len(changes) > 0 {
		t.Errorf("the ERP's own mix is %q with %q: if that is meant, make a profile erp-2 of it", name, changes)
	}
}

func TestDeviationsFromTheProfileAreNamed(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Load)
		want   []string
	}{
		"MoreUsersAndTime": {func(l *Load) { l.Users, l.Duration, l.Seed = 30_000, time.Hour, 7 }, nil},
		"ThinkTime": {func(l *Load) { l.Think = &users.Think{Mean: 2 * time.Second} },
			[]string{"think time 2s instead of 10s"}},
		"Distribution": {func(l *Load) {
			l.Think = &users.Think{Mean: 10 * time.Second, Distribution: users.Constant}
		}, []string{"think time constant 10s instead of lognormal 10s"}},
		"ACap": {func(l *Load) { l.Think = &users.Think{Mean: 10 * time.Second, Cap: 20 * time.Second} },
			[]string{"think time at most 20s instead of 1m40s"}},
		"Arrivals": {func(l *Load) { l.Arrivals = &users.Arrivals{Spacing: users.Even, Rate: 60} },
			[]string{"60 arrivals per second instead of users who think"}},
		"Refusals": {func(l *Load) { l.Scenario.Refused, l.Scenario.Backdated = 0, 0.1 },
			[]string{"0 % of the sales must be refused instead of 3 %",
				"10 % of the documents back-dated instead of 0 %"}},
		"Target": {func(l *Load) { operation(l, "goods_sale.list").Target = 30 * time.Second },
			[]string{"T of goods_sale.list 30s instead of 500ms"}},
		"Priority": {func(l *Load) { operation(l, "goods_sale.list").Priority = 1 },
			[]string{"priority of goods_sale.list 1 instead of 2"}},
		"Day": {func(l *Load) {
			l.Scenario.Day = []scenario.Point{{At: time.Hour, Level: 1}, {At: 2 * time.Hour, Level: 2}}
		},
			[]string{"the pace of a day"}},
		"Mix": {func(l *Load) {
			l.Scenario.Roles[0].Weights = map[string]float64{"goods_sale.post": 1, "goods_sale.list": 3}
		}, []string{"mix: goods_sale.list 75.0 % instead of 10.0 %, goods_sale.post 25.0 % instead of 1.7 %, " +
			"goods_sale.card 0.0 % instead of 10.7 %, and 29 more"}},
		"Roles": {func(l *Load) {
			r := l.Scenario.Roles[0]
			r.Name, r.Think.Mean, r.Think.Cap = "clerk", time.Minute, 10*time.Minute
			l.Scenario.Roles = append(l.Scenario.Roles, r)
		}, []string{"think time of clerk 1m instead of 10s"}},
	} {
		t.Run(name, func(t *testing.T) {
			l := Default()
			c.change(&l)
			name, got := l.Resolve().Profile()
			if diff := cmp.Diff(c.want, got); name != "erp-1" || diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		})
	}
}

func TestALoadWithoutTheERPHasNoProfile(t *testing.T) {
	l := Default()
	l.Scenario.Application = scenario.NoERP
	if name, changes := l.Profile(); name != "" || len(changes) > 0 {
		t.Errorf("%q with %s", name, strings.Join(changes, ", "))
	}
}

func operation(l *Load, id string) *scenario.Operation {
	at := slices.IndexFunc(l.Scenario.Operations, func(op scenario.Operation) bool { return op.ID == id })
	return &l.Scenario.Operations[at]
}
