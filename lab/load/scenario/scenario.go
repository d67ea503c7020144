// Package scenario owns the content of a load: which key operations there are, with their targets, who does them how
// often, how long people think, and how the day goes. It is read from a file or is the default, the ERP's own mix.
package scenario

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"plimsoll/erp/client"
	"plimsoll/erp/operations"
	"plimsoll/lab/load/custom"
	"plimsoll/lab/load/data"
	"plimsoll/lab/load/gate"
	"plimsoll/lab/load/onec"
	"plimsoll/lab/load/users"
)

// Defaults of a scenario.
const (
	UsersDefault         = 1000
	ThinkMeanDefault     = 10 * time.Second
	BackdatedDaysDefault = 30
	PriorityDefault      = 1
	WeightDefault        = 1
	roleDefault          = "user"
	nameDefault          = "default"
)

// Application is the system between the users and the database.
type Application string

const (
	ERP   Application = "erp"  // Plimsoll's ERP: workers are started, the books are audited
	NoERP Application = "none" // none of ours: operations talk to your database or server
	OneC  Application = "1c"   // a 1C server: SQL as its platform writes it, on a base of ours; the totals are audited
)

// Scenario is one load. It is checked when it is read.
type Scenario struct {
	Name        string      `json:"-"` // file name
	Title       string      `json:"title,omitempty"`
	Application Application `json:"application"`
	Operations  []Operation `json:"operations"`
	Roles       []Role      `json:"roles"`
	Day         []Point     `json:"day,omitempty"`
	Stages      []Stage     `json:"stages,omitempty"`
	// Shares of the ERP's postings.
	Refused       float64 `json:"refused"`   // sales that the stock control must refuse
	Backdated     float64 `json:"backdated"` // documents with a date in the past
	BackdatedDays int     `json:"backdated_days"`
	// Own are the settings of operations with an Action.
	Own custom.Settings `json:"own"`
	// Gates are conditions under which a run of it fails. They are no part of the load, nor of its digest.
	Gates []gate.Gate `json:"gates,omitempty"`
}

// Applications are all, by the names that files give them.
var Applications = []Application{ERP, OneC, NoERP}

// Operation is one key operation.
type Operation struct {
	ID       string         `json:"id"`
	Title    string         `json:"title"`
	Target   time.Duration  `json:"target_ns"`
	Priority int            `json:"priority"`
	Weight   float64        `json:"weight"`           // in the mix of roles without weights of their own
	Action   *custom.Action `json:"action,omitempty"` // nil: an operation of the ERP
	// Least is how many valid answers a run must have of it to be valid; 0: any number.
	Least int `json:"least,omitempty"`
	// RefusedShare is the expected share of refusals; nil: the scenario's.
	RefusedShare *float64 `json:"refused_share,omitempty"`
}

// Role is a group of people who work alike.
type Role struct {
	Name    string             `json:"name"`
	Users   int                `json:"users"`
	Think   users.Think        `json:"think"`
	Weights map[string]float64 `json:"weights,omitempty"` // by operation; none: the operations' own
}

// Point of the day curve: how fast work goes then. The whole curve is stretched over the steady state of a run.
type Point struct {
	At    time.Duration `json:"at_ns"` // since midnight
	Level float64       `json:"level"` // 1: the think times as they stand
}

// Default is the ERP with its own mix.
func Default() *Scenario {
	s := &Scenario{
		Name: nameDefault, Application: ERP, Refused: client.RefusedShareDefault, BackdatedDays: BackdatedDaysDefault,
		Own: custom.Settings{Connections: custom.ConnectionsDefault, Mode: custom.ModeDefault},
		Roles: []Role{{Name: roleDefault, Users: UsersDefault,
			Think: users.Think{Mean: ThinkMeanDefault}.WithDefaults()}},
	}
	s.Operations = operationsOf(ERP)
	return s
}

// Of1C is a 1C server with its own mix.
func Of1C() *Scenario {
	s := Default()
	s.Name, s.Application, s.Operations, s.Refused = string(OneC), OneC, operationsOf(OneC), 0
	return s
}

// operationsOf an application are those that it brings along.
func operationsOf(a Application) (all []Operation) {
	switch a {
	case ERP:
		for _, op := range operations.All() {
			all = append(all, Operation{ID: op.ID, Title: op.Title, Target: op.Target, Priority: op.Priority,
				Weight: op.Weight})
		}
	case OneC:
		for _, op := range onec.Operations() {
			all = append(all, Operation{ID: op.ID, Title: op.Title, Target: op.Target, Priority: op.Priority,
				Weight: op.Weight})
		}
	}
	return all
}

// brings says whether an operation is one of the application's own.
func (a Application) brings(id string) bool {
	return slices.ContainsFunc(operationsOf(a), func(op Operation) bool { return op.ID == id })
}

// Digest is equal for scenarios of equal content, whatever the name and layout of their files, the titles of their
// operations and their gates.
func (s *Scenario) Digest() string {
	untitled := *s
	untitled.Gates = nil
	untitled.Operations = slices.Clone(s.Operations)
	for i := range untitled.Operations {
		untitled.Operations[i].Title = ""
	}
	text, err := json.Marshal(untitled)
	if err != nil {
		panic(err) // numbers and texts that were read before: cannot fail
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:6])
}

// Users of all roles, or at the peak of the stages, who are of the roles in their proportion.
func (s *Scenario) Users() (all int) {
	if peak := s.peakUsers(); peak > 0 {
		return peak
	}
	for _, r := range s.Roles {
		all += r.Users
	}
	return all
}

// weights of a role, in the order of the operations.
func (s *Scenario) weights(r Role) []float64 {
	all := make([]float64, len(s.Operations))
	for i, op := range s.Operations {
		if all[i] = op.Weight; r.Weights != nil {
			all[i] = r.Weights[op.ID]
		}
	}
	return all
}

// Crowd is what the scenario decides of a crowd: n users, shared out to roles in proportion; zero takes the scenario's
// number. A given think time overrides those of the roles. Operations that nobody does are left out, unless they stand
// in for others: what is done must have a name to be counted under.
func (s *Scenario) Crowd(n int, think *users.Think) users.Crowd {
	if n == 0 {
		n = s.Users()
	}
	done := s.operationsCounted()
	c := users.Crowd{Users: n, Pace: s.pace(), Presence: s.presence()}
	for _, i := range done {
		op := s.Operations[i]
		c.Operations = append(c.Operations, users.Operation{ID: op.ID, Title: op.Title, Target: op.Target,
			Priority: op.Priority, Refused: s.refusedOf(op), Least: op.Least})
	}
	shares := apportion(s.Roles, n)
	for k, r := range s.Roles {
		role := users.Role{Name: r.Name, Users: shares[k], Think: r.Think}
		if think != nil {
			role.Think = *think
		}
		weights := s.weights(r)
		for _, i := range done {
			role.Weights = append(role.Weights, weights[i])
		}
		c.Roles = append(c.Roles, role)
	}
	share := c.Shares()
	for i := range c.Operations {
		c.Operations[i].Weight = share[i]
	}
	return c
}

// refusedOf is the expected share of refusals of an operation. The scenario's share applies to the ERP's only.
func (s *Scenario) refusedOf(op Operation) float64 {
	switch {
	case op.RefusedShare != nil:
		return *op.RefusedShare
	case op.Action == nil:
		return s.Refused
	}
	return 0
}

// Actions of the crowd's operations, in their order; nil for the ERP's.
func (s *Scenario) Actions() (all []*custom.Action) {
	for _, i := range s.operationsCounted() {
		all = append(all, s.Operations[i].Action)
	}
	return all
}

// NeedsDatabase says whether the scenario cannot run without a connection string.
func (s *Scenario) NeedsDatabase() bool {
	counted := func(a *custom.Action) bool { return a != nil && a.Count != "" }
	queried := func(source *data.Source) bool { return source.SQL != "" }
	return s.Application != NoERP || custom.NeedsDatabase(s.Own, s.Actions()) ||
		slices.ContainsFunc(s.Actions(), counted) || slices.ContainsFunc(s.Own.Data, queried)
}

// SpeaksSQL says whether the users themselves are clients of the database.
func (s *Scenario) SpeaksSQL() bool {
	return s.Application == OneC || custom.NeedsDatabase(s.Own, s.Actions())
}

// SpeaksHTTP says whether the users are clients of a web application of one's own.
func (s *Scenario) SpeaksHTTP() bool { return custom.NeedsHTTP(s.Own, s.Actions()) }

// OperationIDs are the names of all operations, as gates give them.
func (s *Scenario) OperationIDs() (all []string) {
	for _, op := range s.Operations {
		all = append(all, op.ID)
	}
	return all
}

// operationsDone are the operations that somebody does, by position.
func (s *Scenario) operationsDone() (places []int) {
	for i := range s.Operations {
		if slices.ContainsFunc(s.Roles, func(r Role) bool { return s.weights(r)[i] > 0 }) {
			places = append(places, i)
		}
	}
	return places
}

// operationsCounted are the operations that somebody does, and those of the ERP that are carried out in place of one
// that has nothing to act on, by position.
func (s *Scenario) operationsCounted() []int {
	places := s.operationsDone()
	for _, i := range slices.Clone(places) {
		if s.Operations[i].Action != nil {
			continue
		}
		for id := operations.StandIn(s.Operations[i].ID); id != ""; id = operations.StandIn(id) {
			places = append(places, slices.IndexFunc(s.Operations, func(op Operation) bool { return op.ID == id }))
		}
	}
	slices.Sort(places)
	return slices.DeleteFunc(slices.Compact(places), func(at int) bool { return at < 0 })
}

// Undone lists operations that the scenario gives users to do and that nobody of the crowd does: no role has a weight
// for it, or those that have one are of no user. Of the ERP's a role chooses some, so only those that it names count.
func (s *Scenario) Undone(c users.Crowd) (ids []string) {
	for i, op := range s.Operations {
		named := op.Action != nil || slices.ContainsFunc(s.Roles, func(r Role) bool { return s.weights(r)[i] > 0 })
		if named && !slices.ContainsFunc(c.Operations, func(o users.Operation) bool {
			return o.ID == op.ID && o.Weight > 0
		}) {
			ids = append(ids, op.ID)
		}
	}
	return ids
}

// apportion shares out n users by the roles' shares; the rest after rounding goes to the largest remainders (Hamilton's
// method).
func apportion(roles []Role, n int) []int {
	all := 0
	for _, r := range roles {
		all += r.Users
	}
	given, rests, left := make([]int, len(roles)), make([]int, len(roles)), n
	order := make([]int, len(roles))
	for i, r := range roles {
		given[i], rests[i], order[i] = n*r.Users/all, n*r.Users%all, i
		left -= given[i]
	}
	slices.SortStableFunc(order, func(a, b int) int { return rests[b] - rests[a] })
	for _, i := range order[:left] {
		given[i]++
	}
	return given
}

func (s *Scenario) pace() (p users.Pace) {
	if len(s.Day) == 0 {
		return s.ratePace()
	}
	from, to := s.Day[0].At, s.Day[len(s.Day)-1].At
	for _, point := range s.Day {
		p = append(p, users.PacePoint{At: float64(point.At-from) / float64(max(1, to-from)), Level: point.Level})
	}
	return p
}
