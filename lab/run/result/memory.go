package result

// Holders of memory.
const (
	MemoryOfGenerator = "generator"
	MemoryOfWorkers   = "workers"
	MemoryOfDatabase  = "database"
)

// Memory is the private memory of all processes of one kind after the warm-up of the steady state, without shared
// memory such as a database's buffers. Bytes.
type Memory struct {
	Of    string  `json:"of"` // generator, workers, database
	FromS float64 `json:"from_s"`
	ToS   float64 `json:"to_s"`
	First float64 `json:"first_half"` // median of the first half of that time
	Last  float64 `json:"last_half"`  // and of the last
	Max   float64 `json:"max"`
}

// Growth is the relative increase from the first to the last half.
func (m Memory) Growth() float64 { return m.Last/max(m.First, 1) - 1 }

// Grows says that the growth exceeds what garbage collections do to the medians of two equal halves.
func (m Memory) Grows() bool { return m.Growth() > MemoryGrowthMax }

// MemoryGrowthMax is the largest growth that does not count.
const MemoryGrowthMax = 0.05

// How memory was measured.
const (
	LiveMemory    = "live"    // heap and stacks after garbage collection
	PrivateMemory = "private" // of whole processes, garbage included, shared memory not
)

// PerUserMin: the log-in of fewer users moves memory by less than other things do.
const PerUserMin = 50

// Footprint is the memory of all processes of one kind, in bytes: what is there without users of this run, what their
// log-in added, and what they hold while they work. Only PerUser is an estimate.
type Footprint struct {
	Of          string  `json:"of"`      // generator, workers, database
	Measure     string  `json:"measure"` // live, private
	Users       int     `json:"users"`   // that logged in
	BeforeLogIn float64 `json:"before_log_in"`
	AfterLogIn  float64 `json:"after_log_in"`
	// UnderLoad is the most in the steady state; live memory is read when the load has ended, with all counters.
	UnderLoad *float64 `json:"under_load"`
	// Connections is what was freed of it when they were closed after the load; null: unknown.
	Connections *float64 `json:"connections"`
	// PerUser is what the log-in of the second half of the users added, for each of them, and the user's share of the
	// connections. Null: too few users, or private memory, in which garbage hides it.
	PerUser *float64 `json:"per_user"`
}

// Add what another generator has. What one of them does not know is not known of both.
func (f *Footprint) Add(other Footprint) {
	both := func(a, b *float64, join func(a, b float64) float64) *float64 {
		if a == nil || b == nil {
			return nil
		}
		joined := join(*a, *b)
		return &joined
	}
	n, m := float64(f.Users), float64(other.Users)
	f.PerUser = both(f.PerUser, other.PerUser, func(a, b float64) float64 { return (a*n + b*m) / (n + m) })
	add := func(a, b float64) float64 { return a + b }
	f.UnderLoad, f.Connections = both(f.UnderLoad, other.UnderLoad, add), both(f.Connections, other.Connections, add)
	f.Users += other.Users
	f.BeforeLogIn += other.BeforeLogIn
	f.AfterLogIn += other.AfterLogIn
}
