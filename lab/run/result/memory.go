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
