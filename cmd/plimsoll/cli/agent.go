package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/lab/agents"
	"plimsoll/lab/run"
	"plimsoll/platform/problem"
)

// accessOptions are how coordinator and agents reach each other, on both sides.
type accessOptions struct{ token, ca, cert, key string }

func accessFlags(c *cobra.Command, o *accessOptions) {
	fs := c.Flags()
	fs.StringVar(&o.token, "token", "", "`SECRET` that coordinator and agents share; better in PLIMSOLL_TOKEN,\nsince everybody on a machine can read command lines")
	fs.StringVar(&o.ca, "tls-ca", "", "`FILE` of the certificates that must have signed the other side's")
	fs.StringVar(&o.cert, "tls-cert", "", "`FILE` of one's own certificate; with it the connection is encrypted")
	fs.StringVar(&o.key, "tls-key", "", "`FILE` of its key")
	config.Secret(fs, "token")
	config.Share(fs, "token", "tls-ca", "tls-cert", "tls-key")
}

func (o accessOptions) access() agents.Access {
	return agents.Access{Token: o.token, CA: o.ca, Cert: o.cert, Key: o.key}
}

type agentOptions struct {
	accessOptions
	join string
	wait time.Duration
	stay bool
}

func (a *app) addAgent(root *cobra.Command) {
	var o agentOptions
	c := a.command(root, groupServer, &cobra.Command{
		Use:   "agent --join URL [flags]",
		Short: "Make a part of a run's load, on this or another machine",
		Long: `Make a part of the load of a run, or of the runs of a search, that is coordinated elsewhere
('plimsoll run --agents N', 'plimsoll line --agents N').
The agent gets every N-th user, starts with the others at one moment, and tells every second
what it counted. It leaves when the run is over, and stops its users within seconds when the
coordinator is gone. Both sides must be of the same version.`,
		Example: `  PLIMSOLL_TOKEN=… plimsoll agent --join nats://10.0.0.1:4222
  plimsoll agent --join tls://nats.example:4222 --tls-ca ca.pem --stay`,
	}, func(ctx context.Context, _ []string) error { return a.agent(ctx, o) })
	fs := c.Flags()
	fs.StringVar(&o.join, "join", "", "`URL` of the coordinator, or of the NATS server that it uses")
	config.Span(fs, &o.wait, "wait", agents.WaitDefault, 0, "for a coordinator that is not there yet; 0: as long as it takes")
	fs.BoolVar(&o.stay, "stay", false, "serve run after run, until Ctrl-C")
	accessFlags(c, &o.accessOptions)
}

func (a *app) agent(ctx context.Context, o agentOptions) error {
	if o.join == "" {
		return problem.New(problem.Usage, errors.New("--join: the URL of a coordinator is missing"), "'plimsoll run --agents N' says which")
	}
	return agents.Join(ctx, agents.JoinOptions{
		URL: o.join, Access: o.access(), Software: software().Version, Wait: o.wait, Stay: o.stay, Say: a.meter.Say,
	})
}

// fleetOptions are the coordinator's.
type fleetOptions struct {
	accessOptions
	agents, listen, bus string
	wait                time.Duration
}

func fleetFlags(c *cobra.Command, o *fleetOptions) {
	fs := c.Flags()
	fs.StringVar(&o.agents, "agents", "", "let `N` agents make the load, which join by themselves; local:N starts them here")
	fs.StringVar(&o.listen, "agents-listen", agents.ListenDefault, "`ADDRESS` and port where agents join; port 0 takes a free one")
	fs.StringVar(&o.bus, "agents-bus", "", "`URL` of a NATS server that runs already, where agents join instead")
	config.Span(fs, &o.wait, "agents-wait", agents.WaitDefault, time.Second, "how long to wait for them")
	accessFlags(c, &o.accessOptions)
}

// check what can be checked before anything is made.
func (o fleetOptions) check() error {
	if o.agents == "" {
		return nil
	}
	_, err := o.options()
	return err
}

// fleet waits for the agents of a run; nil when it has none.
func (a *app) fleet(ctx context.Context, o fleetOptions) (*agents.Fleet, error) {
	if o.agents == "" {
		return nil, nil
	}
	options, err := a.fleetPlan(o)
	if err != nil {
		return nil, err
	}
	return agents.Open(ctx, options)
}

// muster brings the agents anew for each run of a search; nil when it has none.
func (a *app) muster(o fleetOptions) (func(context.Context) (run.Generator, func(), error), error) {
	if o.agents == "" {
		return nil, nil
	}
	options, err := a.fleetPlan(o)
	if err != nil {
		return nil, err
	}
	if len(options.Local) == 0 {
		a.meter.Say("each trial calls the agents anew: start them with --stay")
	}
	return func(ctx context.Context) (run.Generator, func(), error) {
		fleet, err := agents.Open(ctx, options)
		if err != nil {
			return nil, nil, err
		}
		options.Say = func(string, ...any) {} // the same agents each time
		return fleet, fleet.Dismiss, nil
	}, nil
}

// fleetPlan says how the agents are had, and which token those need who come by themselves.
func (a *app) fleetPlan(o fleetOptions) (agents.Options, error) {
	options, err := o.options()
	if err != nil {
		return options, err
	}
	options.Say, options.Errors = a.meter.Say, a.stderr
	if o.token == "" && len(options.Local) == 0 && o.bus == "" {
		a.meter.Say("agents need this token: PLIMSOLL_TOKEN=%s", options.Access.Token)
	}
	return options, nil
}

func (o fleetOptions) options() (agents.Options, error) {
	text, local := strings.CutPrefix(o.agents, "local:")
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > agents.AgentsMax {
		return agents.Options{}, problem.New(problem.Usage, fmt.Errorf("--agents: takes a number of agents, or local: and a number, not %q", o.agents),
			fmt.Sprintf("such as --agents 3 or --agents local:3, at most %d", agents.AgentsMax))
	}
	options := agents.Options{Agents: n, Bus: o.bus, Listen: o.listen, Access: o.access(), Software: software().Version, Wait: o.wait}
	if local {
		if options.Local, err = agentCommand(); err != nil {
			return options, err
		}
	}
	if o.bus == "" && o.token == "" {
		if host, _, err := net.SplitHostPort(o.listen); err == nil && !isLoopback(host) {
			return options, problem.New(problem.Usage, fmt.Errorf("--agents-listen %s is reached by others, and there is no token", o.listen), "give both sides the same one in PLIMSOLL_TOKEN")
		}
		options.Access.Token = rand.Text()
	}
	return options, nil
}

// agentCommand starts this same program as an agent; where it joins is added.
func agentCommand() ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	return []string{self, "agent", "--quiet"}, nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
