package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/ground/problem"
	"plimsoll/lab/run"
	"plimsoll/lab/run/agents"
	"plimsoll/lab/view/samples/keep"
)

// accessOptions say how coordinator and agents reach each other, on both sides.
type accessOptions struct{ token, ca, cert, key string }

func accessFlags(c *cobra.Command, o *accessOptions) {
	fs := c.Flags()
	fs.StringVar(&o.token, "token", "", "`SECRET` that coordinator and agents share; better in "+
		"PLIMSOLL_TOKEN, since everybody on a machine can read command lines")
	fs.StringVar(&o.ca, "tls-ca", "", "`FILE` with the certificate authorities that signed the other side's "+
		"certificate")
	fs.StringVar(&o.cert, "tls-cert", "", "`FILE` with this side's certificate; encrypts the connection")
	fs.StringVar(&o.key, "tls-key", "", "`FILE` with the private key of --tls-cert")
	config.Secret(fs, "token")
	config.Share(fs, "token", "tls-ca", "tls-cert", "tls-key")
}

func (o accessOptions) access() agents.Access {
	return agents.Access{Token: o.token, CA: o.ca, Cert: o.cert, Key: o.key}
}

type agentOptions struct {
	accessOptions
	workerAccess
	join, dsn string
	wait      time.Duration
	stay      bool
	samples   string
}

func (a *app) addAgent(root *cobra.Command) {
	var o agentOptions
	c := a.command(root, groupServer, &cobra.Command{
		Use:   "agent --join URL [flags]",
		Short: "Generate part of a run's load, on this or another machine",
		Long: `Generate part of the load for a coordinator: 'plimsoll run --agents N' or 'plimsoll line
--agents N'. Each agent takes every N-th user. All agents start at the same moment and report
their counts every second. An agent exits when the run is over (--stay keeps it), and stops its
users within seconds if it loses the coordinator. All must be the same version of plimsoll.

The coordinator sends no secrets. An agent needs its own connection string (--dsn) if the
scenario contains SQL, and its own --password-file if the application servers ask for
passwords. Between machines the connection must be encrypted.`,
		Example: `  PLIMSOLL_TOKEN=… plimsoll agent --join tls://10.0.0.1:4222 --tls-ca ca.pem
  PLIMSOLL_DSN=postgres://… PLIMSOLL_TOKEN=… plimsoll agent --join nats://127.0.0.1:4222
  plimsoll agent --join tls://nats.example:4222 --tls-ca ca.pem --stay`,
	}, func(ctx context.Context, _ []string) error { return a.agent(ctx, o) })
	fs := c.Flags()
	fs.StringVar(&o.join, "join", "", "`URL` of the coordinator, or of the NATS server that it uses")
	fs.StringVar(&o.dsn, "dsn", "", "connection string for scenarios that contain SQL; keep passwords in "+
		"PLIMSOLL_DSN, not on a command line")
	config.Share(fs, "dsn")
	config.Span(fs, &o.wait, "wait", agents.WaitDefault, 0,
		"how long to wait for the coordinator to start; 0: no limit")
	fs.BoolVar(&o.stay, "stay", false, "serve run after run, until Ctrl-C")
	fs.StringVar(&o.samples, "samples", "", "write every operation of this agent to a Parquet `FILE`, with the "+
		"agent's number before its ending, for 'plimsoll recompute'")
	config.FlagOnly(fs, "samples")
	accessFlags(c, &o.accessOptions)
	o.workerAccess.flags(c)
}

// keeping opens the file for the agent's operations; nil: they are not recorded.
func (o agentOptions) keeping() func(run.Plan) (agents.Keeper, error) {
	if o.samples == "" {
		return nil
	}
	return func(p run.Plan) (agents.Keeper, error) {
		f, err := keep.Create(samplesOf(o.samples, p.Segment.Index+1), keep.HeadOf(p.Load))
		if err != nil {
			return nil, problem.New(problem.Environment, err, samplesHint)
		}
		return f, nil
	}
}

func (a *app) agent(ctx context.Context, o agentOptions) error {
	if o.join == "" {
		return problem.New(problem.Usage, errors.New("--join: the URL of a coordinator is missing"),
			"'plimsoll run --agents N' prints it")
	}
	workers, err := o.workerAccess.read()
	if err != nil {
		return err
	}
	return agents.Join(ctx, agents.JoinOptions{
		URL: o.join, DSN: o.dsn, Workers: workers, Access: o.access(), Software: software().Version, Wait: o.wait,
		Stay: o.stay, Say: a.meter.Say, Keep: o.keeping(),
	})
}

const samplesHint = "name a file in a writable folder"

// samplesOf returns an agent's file: run.1.parquet for run.parquet.
func samplesOf(path string, agent int) string {
	ending := filepath.Ext(path)
	return fmt.Sprintf("%s.%d%s", strings.TrimSuffix(path, ending), agent, ending)
}

// fleetOptions are the coordinator's.
type fleetOptions struct {
	accessOptions
	workers             workerAccess // of the run; local agents read the same files
	agents, listen, bus string
	wait                time.Duration
}

func fleetFlags(c *cobra.Command, o *fleetOptions) {
	fs := c.Flags()
	fs.StringVar(&o.agents, "agents", "", "let `N` agents generate the load, and wait for them to join; local:N "+
		"starts them on this machine")
	fs.StringVar(&o.listen, "agents-listen", agents.ListenDefault,
		"`ADDRESS` and port where agents join; port 0 takes a free one")
	fs.StringVar(&o.bus, "agents-bus", "", "let agents join at the NATS server with this `URL` instead")
	config.Span(fs, &o.wait, "agents-wait", agents.WaitDefault, time.Second, "how long to wait for the agents to join")
	accessFlags(c, &o.accessOptions)
}

// check finds mistakes before anything is created.
func (o fleetOptions) check() error {
	if o.agents == "" {
		return nil
	}
	_, err := o.options()
	return err
}

// fleet waits for the agents of a run; nil if it has none.
func (a *app) fleet(ctx context.Context, o fleetOptions, dsn, samples string) (*agents.Fleet, error) {
	if o.agents == "" {
		return nil, nil
	}
	options, err := a.fleetPlan(o, dsn)
	if err != nil {
		return nil, err
	}
	if samples != "" && len(options.Local) == 0 {
		return nil, problem.New(problem.Usage, errors.New("--samples: agents on other machines write their own "+
			"samples"),
			"plimsoll agent --samples FILE")
	}
	if samples != "" {
		if samples, err = filepath.Abs(samples); err != nil {
			return nil, err
		}
		options.Local = append(options.Local, "--samples", samples)
	}
	return agents.Open(ctx, options)
}

// newGenerator opens a fleet for each run, on whichever database it is; nil when there are no agents.
func (a *app) newGenerator(o fleetOptions) (func(ctx context.Context, dsn string) (run.Generator, func(), error),
	error) {
	if o.agents == "" {
		return nil, nil
	}
	options, err := a.fleetPlan(o, "")
	if err != nil {
		return nil, err
	}
	if len(options.Local) == 0 {
		a.meter.Say("the agents must join again for each run: start them with --stay")
	}
	return func(ctx context.Context, dsn string) (run.Generator, func(), error) {
		options.DSN = dsn
		fleet, err := agents.Open(ctx, options)
		if err != nil {
			return nil, nil, err
		}
		options.Say = func(string, ...any) {} // the same agents each time
		return fleet, fleet.Dismiss, nil
	}, nil
}

// fleetPlan says how agents are started, and which token agents on other machines need.
func (a *app) fleetPlan(o fleetOptions, dsn string) (agents.Options, error) {
	options, err := o.options()
	if err != nil {
		return options, err
	}
	options.Say, options.Errors, options.DSN = a.meter.Say, a.stderr, dsn
	if o.token == "" && len(options.Local) == 0 && o.bus == "" {
		a.meter.Say("start agents with this token: PLIMSOLL_TOKEN=%s", options.Access.Token)
	}
	return options, nil
}

func (o fleetOptions) options() (agents.Options, error) {
	text, local := strings.CutPrefix(o.agents, "local:")
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > agents.AgentsMax {
		return agents.Options{}, problem.New(problem.Usage, fmt.Errorf("--agents: takes a number of agents, or "+
			"local: and a number, not %q", o.agents),
			fmt.Sprintf("such as --agents 3 or --agents local:3, at most %d", agents.AgentsMax))
	}
	options := agents.Options{Agents: n, Bus: o.bus, Listen: o.listen, Access: o.access(), Software: software().Version,
		Wait: o.wait}
	if local {
		if options.Local, err = agentCommand(o.workers); err != nil {
			return options, err
		}
	}
	if o.bus == "" && o.token == "" {
		if host, _, err := net.SplitHostPort(o.listen); err == nil && !isLoopback(host) {
			return options, problem.New(problem.Usage, fmt.Errorf("--agents-listen %s: other machines can reach this "+
				"address, and no token is set", o.listen), "set the same PLIMSOLL_TOKEN on both sides")
		}
		options.Access.Token = rand.Text()
	}
	address := o.listen
	if o.bus != "" {
		address = o.bus
	}
	return options, agents.Secure(address, options.Access)
}

// agentCommand starts this same program as an agent; the address to join is added.
func agentCommand(o workerAccess) ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	return []string{self, "agent", "--quiet", "--password-file=" + o.passwordFile, "--url-ca=" + o.roots,
		fmt.Sprintf("--insecure=%v", o.insecure)}, nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
