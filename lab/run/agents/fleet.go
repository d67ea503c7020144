package agents

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"plimsoll/ground/host/machine"
	"plimsoll/ground/problem"
	"plimsoll/lab/run"
	"plimsoll/platform/data/id"
)

// Defaults of Options.
const (
	ListenDefault = "127.0.0.1:4222"
	WaitDefault   = time.Minute
	// AgentsMax is the most agents that one NATS server should serve each second.
	AgentsMax = 256
)

// Options of a coordinator.
type Options struct {
	Agents int
	// Local is the command that starts an agent on this machine, once for each agent; the address and the token are
	// added to it. Empty: agents join by themselves.
	Local []string
	// DSN is given to local agents in the environment; others have their own.
	DSN string
	// Errors receives the stderr of local agents.
	Errors io.Writer
	// Bus is the URL of a running NATS server; empty: one inside this process, at Listen.
	Bus      string
	Listen   string
	Access   Access
	Software string
	Wait     time.Duration // for the agents
	Say      func(format string, args ...any)
}

// Fleet is the coordinator's view of a run's agents. It is a run.Generator.
type Fleet struct {
	Options
	id     string
	server *server.Server
	conn   *nats.Conn
	who    *nats.Subscription // answers that this run coordinates
	rows   *nats.Subscription // answers agents that ask for rows; nil: there are none
	url    string

	mu      sync.Mutex
	members []*member // by number; complete once the fleet is open
	full    chan struct{}

	reports  chan *nats.Msg
	children []*child
	beating  chan struct{}
	beats    sync.WaitGroup
	load     work
	ending   *Ending
}

// member is an agent that was accepted.
type member struct {
	hello
	number       int // from 0: its segment
	clock        offset
	silent       int // our own beats since its last message
	lost         string
	hint         string
	ready        bool
	logged       int64
	queue        pages
	result       *agentResult
	written      run.Written // as reported
	lag          lags
	lostFor      time.Duration // since the start of the ramp
	lossReported bool          // that it is lost
}

func (m *member) name() string {
	return fmt.Sprintf("agent %d (%s, process %d)", m.number+1, m.Host, m.PID)
}

// gone is how long to wait for agents to leave.
func (m *member) gone() bool { return m.lost != "" }

// Open waits for the agents. The caller must dismiss the fleet.
func Open(ctx context.Context, o Options) (*Fleet, error) {
	if o.Agents < 1 || o.Agents > AgentsMax {
		return nil, problem.New(problem.Usage, fmt.Errorf("%d agents: must be between 1 and %d", o.Agents, AgentsMax),
			"")
	}
	f := &Fleet{Options: o, id: id.New().String(), full: make(chan struct{}),
		reports: make(chan *nats.Msg, 64*o.Agents), beating: make(chan struct{})}
	if err := f.open(ctx); err != nil {
		f.Dismiss()
		return nil, err
	}
	return f, nil
}

func (f *Fleet) open(ctx context.Context) error {
	if err := f.connect(); err != nil {
		return err
	}
	if err := f.listenForAgents(); err != nil {
		return err
	}
	f.beats.Add(1)
	go f.beat()
	if err := f.startLocal(); err != nil {
		return problem.New(problem.Environment, fmt.Errorf("start a local agent: %w", err), "")
	}
	return f.wait(ctx)
}

func (f *Fleet) connect() (err error) {
	own := f.Access
	f.url = f.Bus
	if f.Bus == "" {
		secret := rand.Text()
		if f.server, err = listen(f.Listen, f.Access, secret); err != nil {
			return err
		}
		own.Token = secret
		f.url = f.server.ClientURL()
	}
	if f.conn, err = dial(f.url, "", own); err != nil {
		return err
	}
	if f.Bus == "" {
		return nil
	}
	if _, err := f.conn.Request(whoSubject, nil, connectWithin); !errors.Is(err, nats.ErrNoResponders) {
		return problem.New(problem.Environment, fmt.Errorf("another run coordinates agents at %s", f.Bus),
			"wait for its end, or use another NATS server")
	}
	return nil
}

func (f *Fleet) listenForAgents() (err error) {
	f.who, err = f.conn.Subscribe(whoSubject, func(m *nats.Msg) { _ = m.Respond(nil) })
	_, reports := f.conn.ChanSubscribe(reportsTo(f.id, "*"), f.reports)
	_, hellos := f.conn.Subscribe(helloOf("*"), func(m *nats.Msg) {
		_ = m.Respond(encode(f.admit(senderOf(m.Subject), m.Data)))
	})
	return errors.Join(err, reports, hellos, f.conn.Flush())
}

// admit accepts an agent, or says why not.
func (f *Fleet) admit(sender string, text []byte) welcome {
	h, err := decode[hello](text)
	if err == nil && h.ID != sender {
		err = errors.New("it uses another agent's name")
	}
	if err != nil {
		return welcome{Refused: err.Error()}
	}
	if h.Protocol != Protocol || h.Software != f.Software {
		return welcome{
			Refused: fmt.Sprintf("it is version %s, the coordinator is %s", h.Software, f.Software),
			Hint:    "install the same version of plimsoll on all machines",
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.members) == f.Agents {
		return welcome{Refused: fmt.Sprintf("the run already has its %d agents", f.Agents), Later: true}
	}
	m := &member{hello: h, number: len(f.members), lag: newLags()}
	f.members = append(f.members, m)
	f.Say("%s has joined, with %d cores; %d of %d", m.name(), m.Cores, len(f.members), f.Agents)
	if len(f.members) == f.Agents {
		close(f.full)
	}
	return welcome{Coordinator: f.id}
}

// wait until all agents have joined.
func (f *Fleet) wait(ctx context.Context) error {
	if len(f.children) == 0 {
		f.Say("waiting for %d agents: plimsoll agent --join %s", f.Agents, f.url)
	}
	patience := time.NewTimer(f.Wait)
	defer patience.Stop()
	select {
	case <-f.full:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case err := <-f.childDied():
		return problem.New(problem.Environment, fmt.Errorf("start a local agent: %w", err), "")
	case <-patience.C:
		f.mu.Lock()
		defer f.mu.Unlock()
		return problem.New(problem.Environment,
			fmt.Errorf("%d of %d agents have joined within %v", len(f.members), f.Agents, f.Wait),
			fmt.Sprintf("start them with: plimsoll agent --join %s", f.url))
	}
}

// beat tells the agents that the coordinator is alive.
func (f *Fleet) beat() {
	defer f.beats.Done()
	often := time.NewTicker(Beat)
	defer often.Stop()
	for {
		select {
		case <-often.C:
			_ = f.conn.Publish(beatsOf(f.id), nil) // lost beats show as silence, which the agents count
		case <-f.beating:
			return
		}
	}
}

// order waits only for the acknowledgement, as long as an agent may stand still.
func (f *Fleet) order(m *member, o order) (answer, error) {
	reply, err := f.conn.Request(ordersOf(m.ID), encode(o), Silence)
	if err != nil {
		return answer{}, fmt.Errorf("%s does not answer: %w", m.name(), err)
	}
	a, err := decode[answer](reply.Data)
	if err == nil && a.Error != "" {
		err = errors.New(a.Error)
	}
	return a, err
}

// present returns the agents that are not lost.
func (f *Fleet) present() (some []*member) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range f.members {
		if !m.gone() {
			some = append(some, m)
		}
	}
	return some
}

// each gives an order to all present agents at the same time.
func (f *Fleet) each(do func(*member) error) {
	var all sync.WaitGroup
	for _, m := range f.present() {
		all.Add(1)
		go func() {
			defer all.Done()
			if err := do(m); err != nil {
				f.mu.Lock()
				m.lost, m.lostFor = err.Error(), f.sinceStart()
				f.mu.Unlock()
			}
		}()
	}
	all.Wait()
}

// Conclude tells agents that record their operations how the run ended.
func (f *Fleet) Conclude(e Ending) { f.ending = &e }

// Dismiss sends the agents away and ends what the fleet started.
func (f *Fleet) Dismiss() {
	if f.conn != nil {
		f.each(func(m *member) error { _, err := f.order(m, order{Do: leave, Ending: f.ending}); return err })
	}
	close(f.beating)
	f.beats.Wait()
	f.stopLocal()
	if f.conn != nil {
		f.stopCoordinating()
		f.conn.Close()
	}
	if f.server != nil {
		f.server.Shutdown()
		f.server.WaitForShutdown()
	}
}

// stopCoordinating so that the next run of the same server finds no coordinator: without the flush it may ask before
// the server has noticed that the connection is closed.
func (f *Fleet) stopCoordinating() {
	if f.who == nil || !f.conn.IsConnected() {
		return
	}
	_ = f.who.Unsubscribe() // the closing of the connection does the same, later
	_ = f.conn.FlushTimeout(connectWithin)
}

// onThisMachine reports whether the agent runs on this machine.
func (m *member) onThisMachine() bool { return m.Boot == machine.Boot() }
