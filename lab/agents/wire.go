package agents

import (
	"encoding/json"
	"fmt"
	"time"

	"plimsoll/lab/run"
	"plimsoll/lab/tally"
	"plimsoll/lab/users"
)

// Protocol of the messages; both sides must speak the same, and be of the same version too:
// a load that two versions make is that of none.
const Protocol = 1

// Beat and SilenceMax decide how soon a loss is noticed: three seconds.
const (
	Beat       = 500 * time.Millisecond
	SilenceMax = 6
)

const (
	helloSubject = "plimsoll.agents.hello"
	whoSubject   = "plimsoll.agents.coordinator" // answered by a coordinator that is there already
	root         = "plimsoll.agents."
)

func ordersOf(agent string) string        { return root + "orders." + agent }
func beatsOf(coordinator string) string   { return root + "beats." + coordinator }
func reportsTo(coordinator string) string { return root + "reports." + coordinator }

// hello is who wants to join.
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
	Later       bool   `json:"later,omitempty"` // refused for now: another run may take it
}

// Orders of the coordinator.
const (
	logIn = "login"
	clock = "clock"
	start = "start"
	enter = "enter"
	load  = "load"
	stop  = "stop"
	leave = "leave"
)

// order is acknowledged at once, and what comes of it is reported; only enter is answered when
// it is done.
type order struct {
	Do   string     `json:"do"`
	Plan *run.Plan  `json:"plan,omitempty"`
	At   time.Time  `json:"at,omitzero"` // by the agent's clock
	Load users.Load `json:"load,omitzero"`
	From int        `json:"from,omitempty"` // of users to enter, in the whole crowd
	To   int        `json:"to,omitempty"`
}

// answer to an order.
type answer struct {
	Now   time.Time `json:"now"`
	Error string    `json:"error,omitempty"`
}

// report of an agent; one that says nothing else is its beat.
type report struct {
	Agent    string      `json:"agent"`
	LoggedIn int64       `json:"logged_in"`
	Ready    bool        `json:"ready,omitempty"`
	Page     *tally.Page `json:"page,omitempty"`
	Made     *made       `json:"made,omitempty"`
	Error    string      `json:"error,omitempty"` // it cannot go on
	Hint     string      `json:"hint,omitempty"`
}

// made is what an agent knows at its end.
type made struct {
	To         time.Duration `json:"to_ns"` // end of its steady state
	CPUShare   *float64      `json:"cpu_share"`
	UsersBytes *float64      `json:"users_bytes"`
}

func encode(message any) []byte {
	text, err := json.Marshal(message)
	if err != nil {
		panic(err) // numbers and texts of our own
	}
	return text
}

func decode[T any](text []byte) (message T, err error) {
	if err = json.Unmarshal(text, &message); err != nil {
		err = fmt.Errorf("read message: %w", err)
	}
	return message, err
}
