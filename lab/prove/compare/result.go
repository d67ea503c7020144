package compare

import (
	"io"
	"time"

	"plimsoll/ground/host/kept"
	"plimsoll/ground/postgres/identity"
	"plimsoll/ground/postgres/waits"
	"plimsoll/lab/prove/compare/verdict"
	"plimsoll/lab/recorded/replay"
	"plimsoll/lab/session"
)

// Schema is the version of the JSON. Only names are added.
const Schema = "plimsoll.compare/1"

// Comparison is the JSON of 'plimsoll compare', and the source of its text and page.
type Comparison struct {
	Schema   string    `json:"schema"`
	ID       string    `json:"id"`
	Title    string    `json:"title,omitempty"`
	Started  time.Time `json:"started_at"`
	Finished time.Time `json:"finished_at"`
	Software string    `json:"software,omitempty"`
	// Complete: all planned runs were made. Stopped says why the comparison ended early: by the user, budget, void
	// runs, or an error.
	Complete bool   `json:"complete"`
	Stopped  string `json:"stopped,omitempty"`

	Plan Plan `json:"plan"`
	// JudgedAfter is the number of pairs whose planned look the verdicts come from: the look that decided, or the last
	// one passed. Pairs made after it do not count yet. Absent: no look was passed, and no verdict is given.
	JudgedAfter int `json:"judged_after,omitempty"`
	// Findings compare each further side with the first.
	Findings []Finding `json:"findings"`
	// Floor is how far the first side differs from itself in the deciding metric; absent with too few runs.
	Floor    *float64  `json:"aa_floor,omitempty"`
	Warnings []string  `json:"warnings,omitempty"`
	Runs     []Replica `json:"runs"`
	// Beside is another comparison of the same systems; absent: none was named (--beside). It is not stored.
	Beside *Beside `json:"beside,omitempty"`
}

// Plan holds everything that the runs depend on; only runs of the same plan are combined.
type Plan struct {
	Sides   []Described    `json:"sides"`
	Metric  string         `json:"metric"` // that decides
	Margin  float64        `json:"margin"` // within which sides are equal, as a share
	Pairs   int            `json:"pairs"`  // at most
	Looks   []verdict.Look `json:"looks"`
	Control bool           `json:"control,omitempty"`
	Cold    bool           `json:"cold,omitempty"`
	// Restarted: the server is restarted before each run, for settings of the whole server.
	Restarted bool `json:"restarted,omitempty"`
	// Replay of a log in place of a load; absent: there is a load.
	Replay    *replay.Recording `json:"replay,omitempty"`
	Seed      uint64            `json:"seed"`
	DurationS float64           `json:"duration_s"`
	RampS     float64           `json:"ramp_s"`
	ThinkS    float64           `json:"think_s"`
	// TimeoutS is what a failed operation counts as in latencies.
	TimeoutS float64 `json:"timeout_s,omitempty"`
	Software string  `json:"software,omitempty"` // version of Plimsoll
}

// Described is a side without secrets: no connection string.
type Described struct {
	Name     string `json:"name"`
	Scenario string `json:"scenario,omitempty"`
	Digest   string `json:"scenario_digest,omitempty"`
	Serve    string `json:"serve,omitempty"` // shape of the ERP: how workers are started
	Workers  int    `json:"workers,omitempty"`
	Users    int    `json:"users,omitempty"`
	// Server and its database; absent for a command, and for requests to servers whose database is not known.
	Server   *identity.Identity `json:"server,omitempty"`
	URLs     []string           `json:"urls,omitempty"` // of application servers that run already
	Reset    string             `json:"reset,omitempty"`
	Settings map[string]string  `json:"settings,omitempty"`
	SQL      string             `json:"sql,omitempty"`
	// Restore is what restores it before each run: SQL, or !COMMAND.
	Restore string   `json:"clearing,omitempty"`
	Command []string `json:"command,omitempty"`
	Cold    bool     `json:"cold,omitempty"`
	// ProxyDelay is that of a proxy on the way to the database; absent: there is none.
	ProxyDelay string `json:"proxy_delay,omitempty"`
	// Refuses statements in this part of the time, as a self-test asks.
	Refuses float64 `json:"refuses,omitempty"`
	// Sampling of the diagnosis in its runs: 0 as usual, negative none.
	Sampling int `json:"sampling,omitempty"`
}

// Phase of a comparison.
type Phase string

const (
	Load    Phase = "load"
	Control Phase = "control" // one user who does not think
)

// Replica is one run.
type Replica struct {
	Phase   Phase     `json:"phase"`
	Round   int       `json:"round"`          // from 1; one run of each side in a round
	Side    string    `json:"side"`           // A, B…
	Void    string    `json:"void,omitempty"` // why it does not count; empty: it counts
	Run     string    `json:"run,omitempty"`  // id in the store of runs
	Seed    uint64    `json:"seed"`
	Started time.Time `json:"started_at"`
	TookS   float64   `json:"took_s"`
	// Figures by operation ("" for all together) and name.
	Figures map[string]map[string]float64 `json:"figures,omitempty"`
	Waits   *waits.Profile                `json:"waits,omitempty"`
	// Missing is what the cold start could not do.
	Missing []string `json:"missing,omitempty"`
	// HigherBetter lists the figures of a command of which more is better.
	HigherBetter []string `json:"higher_better,omitempty"`

	side int
}

// Finding compares one side with the first.
type Finding struct {
	Side string `json:"side"`
	Name string `json:"name"`
	// Headline is the deciding metric over all operations. Verdict is its verdict, unless Because says what overrides
	// it: who fails more operations is worse, and who does less of the work is not better.
	Verdict  verdict.Verdict `json:"verdict"`
	Because  string          `json:"because,omitempty"`
	Headline verdict.Row     `json:"headline"`
	// DecidedAfter is the number of pairs after which the comparison could stop; 0: not decided early.
	DecidedAfter int     `json:"decided_after,omitempty"`
	Tables       []Table `json:"tables"`
	Waits        []Wait  `json:"waits,omitempty"`
	// AtOneUser is the low-load control; absent if there was none.
	AtOneUser *AtOneUser `json:"at_one_user,omitempty"`
}

// Table is one metric: a row for all operations together and a row for each.
type Table struct {
	Metric
	Rows []OperationRow `json:"rows"`
}

// OperationRow is one row; Operation is empty for all together.
type OperationRow struct {
	Operation string `json:"operation"`
	verdict.Row
}

// Wait compares one wait of both sides, in milliseconds of waiting sessions per operation.
type Wait struct {
	Type  string `json:"type"`
	Event string `json:"event"`
	// OnlyIn is the letter of the only side that has this wait in at least half of its runs; empty: both have it, or it
	// may be chance.
	OnlyIn string `json:"only_in,omitempty"`
	verdict.Row
}

// AtOneUser compares the deciding metric for a single user without think time, who waits for nobody.
type AtOneUser struct {
	verdict.Row
	Says string `json:"says"`
}

// WriteJSON writes the comparison, indented, with a final newline.
func (c *Comparison) WriteJSON(w io.Writer) error { return kept.JSON(w, c) }

// StoppedBy is Stopped as a reader sees it.
func (c *Comparison) StoppedBy() string { return session.StoppedBy(c.Stopped) }
