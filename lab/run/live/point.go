package live

import (
	"time"

	"plimsoll/ground/human"
	"plimsoll/lab/load/apdex"
	"plimsoll/lab/load/tally"
)

// Point is the run over one second or one minute. Names are short because a page loads a thousand points; null means
// not measured.
type Point struct {
	N     int64   `json:"n"`
	T     float64 `json:"t"` // its start, seconds since the start of the ramp
	Width float64 `json:"w"` // seconds

	Users    int `json:"users"` // at its end
	InFlight int `json:"flight"`
	Backlog  int `json:"backlog"`
	// Operations that ended.
	OK       int64 `json:"ok"`
	Refused  int64 `json:"refused"`
	Errors   int64 `json:"errors"`
	Overload int64 `json:"overload"`
	// Milliseconds, of all operations that ended, failures being the longest; null where one is a failure.
	P50 *float64 `json:"p50"`
	P95 *float64 `json:"p95"`
	P99 *float64 `json:"p99"`
	Lag float64  `json:"lag"` // longest

	Operations []Zones   `json:"ops"`
	CPU        Shares    `json:"cpu"`
	Database   *Database `json:"db"`
	Workers    *Workers  `json:"workers"`
}

// Zones are satisfied, tolerating, frustrated.
type Zones [3]int64

func zones(c apdex.Counts) Zones { return Zones{c.Satisfied, c.Tolerating, c.Frustrated} }

func (z *Zones) add(other Zones) {
	for i, n := range other {
		z[i] += n
	}
}

// Counts are the zones by name.
func (z Zones) Counts() apdex.Counts {
	return apdex.Counts{Satisfied: z[0], Tolerating: z[1], Frustrated: z[2]}
}

// Answered per second.
func (p *Point) Answered() float64 { return float64(p.OK+p.Refused) / p.Width }

// Failed per second.
func (p *Point) Failed() float64 { return float64(p.Errors+p.Overload) / p.Width }

// Shares of all the machine's cores, 0..1; null where a process is not on this machine.
type Shares struct {
	Generator *float64 `json:"generator"`
	Workers   *float64 `json:"workers"`
	Database  *float64 `json:"database"`
	Machine   *float64 `json:"machine"`
}

func (s *Shares) columns() []**float64 {
	return []**float64{&s.Generator, &s.Workers, &s.Database, &s.Machine}
}

// Classes of what active sessions do, in the order of Database.Classes.
var Classes = [...]string{"running", "lock", "lightweight lock", "input and output", "client", "other"}

// classOf PostgreSQL's types of wait events.
func classOf(kind string) int {
	switch kind {
	case "":
		return 0
	case "Lock":
		return 1
	case "LWLock":
		return 2
	case "IO":
		return 3
	case "Client":
		return 4
	}
	return len(Classes) - 1
}

// Database holds the server's own figures.
type Database struct {
	Connections int                   `json:"connections"`
	Classes     [len(Classes)]float64 `json:"classes"` // active sessions, on average
	Waits       []Wait                `json:"waits"`   // most frequent first
	// Per second; null if not known: the log of a standby, the first look.
	WALBytes     *float64 `json:"wal"`
	TempBytes    *float64 `json:"temp_bytes"` // of files that sorts and hashes spilled
	Transactions *float64 `json:"transactions"`
}

// Active is the number of active sessions.
func (d *Database) Active() (sum float64) {
	for _, n := range d.Classes {
		sum += n
	}
	return sum
}

// Wait is an event with the average number of sessions waiting for it.
type Wait struct {
	Type     string  `json:"type"`
	Event    string  `json:"event"`
	Sessions float64 `json:"sessions"`
}

// Workers is what the application servers did per second.
type Workers struct {
	TempTables float64 `json:"temp_tables"` // used
	Statements float64 `json:"statements"`
	RoundTrips float64 `json:"round_trips"`
}

// newPoint makes the point of a second. It fills times with the latencies of all answers.
func newPoint(page tally.Page, times *tally.Times) *Point {
	p := &Point{
		T: (page.End() - time.Second).Seconds(), Width: 1, Users: page.Users, InFlight: page.InFlight,
		Backlog: page.Backlog,
		Lag:     human.MS(page.LagMax), Operations: make([]Zones, len(page.Judged)),
	}
	times.Reset()
	for i := range page.Judged {
		p.count(i, page.Judged[i], times)
		p.count(i, page.Others[i], times)
	}
	p.setTimes(times)
	return p
}

func (p *Point) count(operation int, c tally.Cell, times *tally.Times) {
	p.OK, p.Refused = p.OK+c.Outcomes[tally.OK], p.Refused+c.Outcomes[tally.Refused]
	p.Errors, p.Overload = p.Errors+c.Outcomes[tally.Failed], p.Overload+c.Outcomes[tally.Overload]
	p.Operations[operation].add(zones(c.Apdex))
	times.RecordAll(c.Latency)
}

func (p *Point) setTimes(times *tally.Times) {
	for percent, to := range map[float64]**float64{50: &p.P50, 95: &p.P95, 99: &p.P99} {
		if d, ok := times.PercentileWith(p.Errors+p.Overload, percent); ok {
			ms := human.MS(d)
			*to = &ms
		}
	}
}
