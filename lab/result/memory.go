package result

// Holders of memory.
const (
	MemoryOfGenerator = "generator"
	MemoryOfWorkers   = "workers"
	MemoryOfDatabase  = "database"
)

// Memory is what all processes of one kind held for themselves behind the warm-up of the steady state: what they wrote,
// not what they share, so that a database's buffers are not in it. Bytes.
type Memory struct {
	Of    string  `json:"of"` // generator, workers, database
	FromS float64 `json:"from_s"`
	ToS   float64 `json:"to_s"`
	First float64 `json:"first_half"` // median of the first half of that time
	Last  float64 `json:"last_half"`  // and of the last
	Max   float64 `json:"max"`
}

// Growth is by what share the last half was above the first.
func (m Memory) Growth() float64 { return m.Last/max(m.First, 1) - 1 }

// Grows says that it is more than what the moments of collections do to the medians of two like halves.
func (m Memory) Grows() bool { return m.Growth() > MemoryGrowthMax }

// MemoryGrowthMax is where growth begins to be one.
const MemoryGrowthMax = 0.05
