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

// accessFlags say how coordinator and agents reach each other, on both sides.
func accessFlags(c *cobra.Command, o *agents.Access) {
	fs := c.Flags()
	fs.StringVar(&o.Token, "token", "", "`SECRET` that coordinator and agents share; better in "+
		"PLIMSOLL_TOKEN, since everybody on a machine can read command lines")
	fs.StringVar(&o.CA, "tls-ca", "", "`FILE` with the certificate authorities that signed the other side's "+
		"certificate")
	fs.StringVar(&o.Cert, "tls-cert", "", "`FILE` with this side's certificate; encrypts the connection")
	fs.StringVar(&o.Key, "tls-key", "", "`FILE` with the private key of --tls-cert")
	config.Secret(fs, "token")
	config.Share(fs, "token", "tls-ca", "tls-cert", "tls-key")
}

type agentOptions struct {
	access agents.Access
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
	accessFlags(c, &o.access)
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
		URL: o.join, DSN: o.dsn, Workers: workers, Access: o.access, Software: software().Version, Wait: o.wait,
		Stay: o.stay, Say: a.meter.Say, Keep: o.keeping(),
	})
}

const samplesHint = "name a file in a writable folder"

// samplesOf returns an agent's file: run.1.parquet for run.parquet.
func samplesOf(path string, agent int) string {
	ending := filepath.Ext(path)
	return fmt.Sprintf("%s.%d%s", strings.TrimSuffix(path, ending), agent, ending)
}

// fleetFlags are the coordinator's.
func fleetFlags(c *cobra.Command, o *agents.Spec) {
	fs := c.Flags()
	fs.StringVar(&o.Agents, "agents", "", "let `N` agents generate the load, and wait for them to join; local:N "+
		"starts them on this machine")
	fs.StringVar(&o.Listen, "agents-listen", agents.ListenDefault,
		"`ADDRESS` and port where agents join; port 0 takes a free one")
	fs.StringVar(&o.Bus, "agents-bus", "", "let agents join at the NATS server with this `URL` instead")
	config.Span(fs, &o.Wait, "agents-wait", agents.WaitDefault, time.Second, "how long to wait for the agents to join")
	accessFlags(c, &o.Access)
}

// agentCommand starts this same program as an agent, which reads the same files; the address to join is added.
func agentCommand(o run.AccessFiles) []string {
	return []string{program(), "agent", "--quiet", "--password-file=" + o.Password, "--url-ca=" + o.Roots,
		fmt.Sprintf("--insecure=%v", o.Insecure)}
}
