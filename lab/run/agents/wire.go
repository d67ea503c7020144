package agents

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"plimsoll/lab/load/tally"
	"plimsoll/lab/load/users"
	"plimsoll/lab/run"
	"plimsoll/lab/run/result"
)

// Protocol version of the messages. Both sides must speak the same, and also be of the same version: a load generated
// by two versions belongs to neither.
const Protocol = 3

// Silence is how soon a loss is noticed, in one's own beats: ten seconds, twice what makes a run not valid
// (run.LagMax). A process that stood still for less continues, like a generator in the coordinator's own process:
// nothing is lost, what ended meanwhile counts where it ended, and the verdict says how late it was.
const (
	Beat       = 500 * time.Millisecond
	Silence    = 2 * run.LagMax
	SilenceMax = int(Silence / Beat)
)

const (
	whoSubject = "plimsoll.agents.coordinator" // answered by a running coordinator
	root       = "plimsoll.agents."
)

func ordersOf(agent string) string      { return root + "orders." + agent }
func beatsOf(coordinator string) string { return root + "beats." + coordinator }
func rowsOf(agent string) string        { return root + "rows." + agent }
func helloOf(agent string) string       { return root + "hello." + agent }
func inboxOf(agent string) string       { return "_INBOX." + agent } // answers to an agent

func reportsTo(coordinator, agent string) string {
	return root + "reports." + coordinator + "." + agent
}

// senderOf is the agent that sent a message: the server lets no other agent use that subject.
func senderOf(subject string) string { return subject[strings.LastIndexByte(subject, '.')+1:] }

// hello is sent by an agent that wants to join.
type hello struct {
	Protocol int    `json:"protocol"`
	Software string `json:"software"`
	ID       string `json:"id"`
	Host     string `json:"host"`
	Boot     string `json:"boot"`
	PID      int    `json:"pid"`
	Cores    int    `json:"cores"`
}

// welcome answers it.
type welcome struct {
	Coordinator string `json:"coordinator,omitempty"`
	Refused     string `json:"refused,omitempty"`
	Hint        string `json:"hint,omitempty"`
	Later       bool   `json:"later,omitempty"` // refused for now: another run may accept it
}

// Orders of the coordinator.
const (
	logIn = "login"
	clock = "clock"
	start = "start"
	enter = "enter"
	steer = "load"
	stop  = "stop"
	leave = "leave"
)

// order holds no secret but what stands in the scenario, such as passwords among its variables and the key of a TLS
// certificate: the agent takes its own connection string and replaces the database's name. It is acknowledged at once,
// and its outcome is reported later; only enter is answered when it is done.
type order struct {
	Do   string    `json:"do"`
	Plan *run.Plan `json:"plan,omitempty"`
	// Database for the scenario's SQL.
	Database string     `json:"database,omitempty"`
	At       time.Time  `json:"at,omitzero"` // by the agent's clock
	Load     users.Load `json:"load,omitzero"`
	// Ending comes with leave, if the run has a result.
	Ending *Ending `json:"ending,omitempty"`
	From   int     `json:"from,omitempty"` // users to add, numbered in the whole crowd
	To     int     `json:"to,omitempty"`
}

// Ending is what agents that record their operations must know about the run: its steady state, since the start of the
// ramp.
type Ending struct {
	Run  string        `json:"run"`
	From time.Duration `json:"from_ns"`
	To   time.Duration `json:"to_ns"`
}

// answer to an order.
type answer struct {
	Now   time.Time `json:"now"`
	Error string    `json:"error,omitempty"`
}

// report of an agent; an otherwise empty one is its beat.
type report struct {
	Agent    string       `json:"agent"`
	LoggedIn int64        `json:"logged_in"`
	Ready    bool         `json:"ready,omitempty"`
	Page     *tally.Page  `json:"page,omitempty"`
	Result   *agentResult `json:"made,omitempty"`
	// Written has changed since the last report with Ready, a Page or the Result: it stays known if the agent is lost.
	Written *run.Written `json:"written,omitempty"`
	// Workers that custom requests have reached, by their addresses as seen from the agent.
	Workers []string `json:"workers,omitempty"`
	Error   string   `json:"error,omitempty"` // it cannot go on
	Hint    string   `json:"hint,omitempty"`
}

// agentResult is what an agent knows at its end.
type agentResult struct {
	To       time.Duration     `json:"to_ns"` // end of its steady state
	CPUShare *float64          `json:"cpu_share"`
	Live     *result.Footprint `json:"live"`
	Frozen   []run.Frozen      `json:"frozen,omitempty"`
	Late     []string          `json:"late,omitempty"`
	Wrong    []string          `json:"wrong,omitempty"`
}

func encode(message any) []byte {
	text, err := json.Marshal(message)
	if err != nil {
		panic(err) // numbers and texts of our own: cannot fail
	}
	return text
}

func decode[T any](text []byte) (message T, err error) {
	if err = json.Unmarshal(text, &message); err != nil {
		err = fmt.Errorf("read message: %w", err)
	}
	return message, err
}
