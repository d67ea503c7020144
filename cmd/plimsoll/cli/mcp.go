package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/cmd/plimsoll/mcp"
	"plimsoll/ground/host/process"
	"plimsoll/ground/problem"
	"plimsoll/platform/worker/secret"
)

type mcpOptions struct {
	target
	databases, scenarios []string
	allowLoad            bool
	http, tokenFile      string
}

func (a *app) addMCP(root *cobra.Command) {
	var o mcpOptions
	c := a.command(root, groupJob, &cobra.Command{
		Use:   "mcp [flags]",
		Short: "Serve run, line, compare, diagnose and advise as tools of an assistant (MCP)",
		Long: `Speak the Model Context Protocol on stdin and stdout, so that a program such as an assistant or an
editor can call Plimsoll's commands as tools:

  diagnose          where the time of a database's sessions goes, and why
  advise            what to change on a server; nothing is applied
  results_list      stored runs, newest first
  results_show      one stored run
  results_compare   several stored runs side by side
  scenario_check    read a scenario file and say what is wrong with it
  run               put virtual users on a system and score it
  line              search for the number of users that a system carries
  compare           say whether one system is better than another

An answer is the JSON of the command of the same name, and a text with the verdict first. Long calls
report their progress. A call that is cancelled stops as after Ctrl-C: it leaves nothing running,
and line and compare continue with resume.

Only databases of this command line can be reached: local clusters, or with --dsn or --database
these alone. Only scenario files named by --scenario can be used. Loads (run, line, compare) are
refused without --allow-load, for they write to the database; with it, one runs at a time.
Passwords belong into PLIMSOLL_DSN or a password file; no answer shows one.

--http serves the same on loopback. Clients send the token that is printed at the start, or that of
--token-file, as Authorization: Bearer.`,
		Example: `  plimsoll mcp
  plimsoll mcp --dsn postgres://monitor@db.example/erp
  plimsoll mcp --database old=postgres://monitor@one/erp --database new=postgres://monitor@two/erp
  plimsoll mcp --dsn postgres://app@test.example/shop --scenario shop.toml --allow-load
  plimsoll mcp --http 127.0.0.1:7077 --token-file token`,
	}, func(ctx context.Context, _ []string) error { return a.mcp(ctx, o) })
	fs := c.Flags()
	a.targetFlags(c, &o.target)
	fs.StringArrayVar(&o.databases, "database", nil, "a database that tools may name: `NAME=DSN`; may be repeated")
	fs.StringArrayVar(&o.scenarios, "scenario", nil, "a scenario `FILE` that tools may name, without its folder and "+
		".toml; may be repeated")
	_ = c.MarkFlagFilename("scenario", "toml")
	fs.BoolVar(&o.allowLoad, "allow-load", false, "let tools put load on these systems")
	fs.StringVar(&o.http, "http", "", "listen on this `HOST:PORT` of loopback instead of speaking on stdin and stdout")
	fs.StringVar(&o.tokenFile, "token-file", "", "`FILE` with the token that clients of --http must send (default: a "+
		"new one, which is printed)")
	config.FlagOnly(fs, "database", "scenario", "allow-load", "http", "token-file")
	c.MarkFlagsMutuallyExclusive("cluster", "database")
}

func (a *app) mcp(ctx context.Context, o mcpOptions) error {
	within, err := o.scope()
	if err != nil {
		return err
	}
	if o.tokenFile != "" && o.http == "" {
		return problem.New(problem.Usage, errors.New("--token-file has no effect without --http"), "add --http")
	}
	s := mcp.New(ctx, software().Version, within.instructions(), within.tools())
	if o.http != "" {
		return a.mcpOverHTTP(ctx, s, o)
	}
	a.meter.Say("waiting for a client on stdin; %s", within)
	return problem.New(problem.Failure, s.Serve(ctx, a.stdin, a.rawOut), "")
}

// scope is what the tools may touch.
func (o mcpOptions) scope() (*mcpScope, error) {
	s := &mcpScope{loads: o.allowLoad}
	switch {
	case o.foreign():
		s.databases = append(s.databases, namedValue{"main", o.dsn})
	default:
		s.cluster = o.cluster
	}
	for _, text := range o.databases {
		name, dsn, is := strings.Cut(text, "=")
		if !is || !isToolName(name) {
			return nil, problem.New(problem.Usage, errors.New("--database takes NAME=DSN, with a name of letters, "+
				"digits, _ and -"), "such as --database shop=postgres://monitor@db.example/shop")
		}
		s.databases = append(s.databases, namedValue{name, dsn})
	}
	for _, d := range s.databases {
		if _, err := pgx.ParseConfig(d.value); err != nil {
			return nil, problem.New(problem.Usage, fmt.Errorf("database %s: %w", d.name, err),
				"such as postgres://user@host:5432/database")
		}
	}
	for _, path := range o.scenarios {
		name := strings.TrimSuffix(filepath.Base(path), ".toml")
		if !isToolName(name) {
			return nil, problem.New(problem.Usage, fmt.Errorf("--scenario %s: tools cannot name it", path),
				"call the file a name of letters, digits, _ and -")
		}
		if _, err := readScenario(path, ""); err != nil {
			return nil, err
		}
		s.scenarios = append(s.scenarios, namedValue{name, path})
	}
	for kind, all := range map[string][]namedValue{"database": s.databases, "scenario": s.scenarios} {
		if twice := nameTwice(all); twice != "" {
			return nil, problem.New(problem.Usage, fmt.Errorf("two are called %s %s", kind, twice),
				"each needs a name of its own; that of --dsn is main")
		}
	}
	return s, nil
}

// mcpOverHTTP serves until ctx ends.
func (a *app) mcpOverHTTP(ctx context.Context, s *mcp.Server, o mcpOptions) (err error) {
	if host, _, err := net.SplitHostPort(o.http); err != nil || !process.Loopback(host) {
		return problem.New(problem.Usage, fmt.Errorf("--http %s: must be HOST:PORT on loopback", o.http),
			"such as 127.0.0.1:7077; from another machine: ssh -L 7077:127.0.0.1:7077")
	}
	token := rand.Text()
	if o.tokenFile != "" {
		if token, err = secret.File(o.tokenFile); err != nil {
			return err
		}
	}
	listener, err := net.Listen("tcp", o.http)
	if err != nil {
		return problem.New(problem.Environment, fmt.Errorf("serve tools: %w", err),
			"choose another with --http; port 0 takes a free one")
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", s.Handler(token))
	web := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(io.Discard, "", 0)}
	served := make(chan error, 1)
	go func() { served <- web.Serve(listener) }()
	fmt.Fprintf(a.stderr, "tools: http://%s/mcp\n", listener.Addr()) // also for the quiet: they need it
	if o.tokenFile == "" {
		fmt.Fprintf(a.stderr, "token: %s\n", token)
	}
	select {
	case err = <-served:
	case <-ctx.Done():
		s.Close()
		err = web.Close()
		<-served
	}
	return problem.New(problem.Failure, err, "")
}
