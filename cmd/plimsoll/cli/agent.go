package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
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
	workers, err := o.workerAccess.Read()
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

// fleet of the agents that generate the load of runs.
func (a *app) fleet(o fleetOptions, workers run.AccessFiles) agents.Spec {
	return agents.Spec{Agents: o.agents, Local: agentCommand(workers), Bus: o.bus, Listen: o.listen,
		Access: o.access(), Software: software().Version, Wait: o.wait, Say: a.meter.Say, Errors: a.stderr}
}

// agentCommand starts this same program as an agent, which reads the same files; the address to join is added.
func agentCommand(o run.AccessFiles) []string {
	return []string{program(), "agent", "--quiet", "--password-file=" + o.Password, "--url-ca=" + o.Roots,
		fmt.Sprintf("--insecure=%v", o.Insecure)}
}
