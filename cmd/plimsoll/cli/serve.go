package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/erp"
	"plimsoll/erp/background"
	"plimsoll/erp/fill"
	"plimsoll/ground/problem"
	"plimsoll/platform/data/database"
	"plimsoll/platform/model/schema"
	"plimsoll/platform/worker/jobs"
	"plimsoll/platform/worker/server"
	"plimsoll/platform/worker/shape"
)

type serveOptions struct {
	target
	shapeOptions
	keepOptions
	secureOptions
	listen                                    string
	connections, concurrency, queue, sessions int
	jobs                                      int
	create                                    bool
	given                                     *pflag.FlagSet
}

func (a *app) addServe(root *cobra.Command) {
	var o serveOptions
	c := a.command(root, groupServer, &cobra.Command{
		Use:   "serve [flags]",
		Short: "Run one application-server worker",
		Long: `Run one worker of the ERP's application server: HTTP with JSON, until Ctrl-C or SIGTERM.
Requests under way are finished. 'run' starts its own workers; use this for workers on other
machines, or to try the API. The first line of stdout says where it listens.

In an empty database of --dsn the ERP's tables are created only with --create; a database that
holds tables of another application is refused.

On any address but loopback, users need passwords and connections must be encrypted, unless
--insecure is given. Log-ins and sessions of one client address are limited: raise
--address-logins and --address-sessions for a load generator on another machine.`,
		Example: `  plimsoll serve
  plimsoll serve --listen 127.0.0.1:0 --json
  plimsoll serve --shape classic                 row by row, as such systems are written
  plimsoll serve --shape classic --chain 100     with one of the tweaks
  plimsoll serve --listen 10.0.0.1:8443 --passwords --tls-cert lab.pem --tls-key lab.key`,
	}, func(ctx context.Context, _ []string) error { return a.serve(ctx, o) })
	fs := c.Flags()
	o.given = fs
	createFlag(fs, &o.create)
	config.FlagOnly(fs, "create")
	fs.StringVar(&o.listen, "listen", "127.0.0.1:8080", "`ADDRESS` and port to listen on; port 0 takes a free one")
	config.Count(fs, &o.connections, "connections", 0, 0, 10000,
		"maximum connections to the database; 0: the worker decides")
	config.Count(fs, &o.concurrency, "concurrency", 0, 0, 100000,
		"maximum requests carried out at once; 0: the worker decides")
	config.Count(fs, &o.queue, "queue", 0, 0, 1000000,
		"maximum requests that wait before more are refused; 0: the worker decides")
	config.Count(fs, &o.sessions, "sessions", 0, 0, 1000000, "maximum sessions at once; 0: the worker decides")
	o.secureOptions.flags(fs)
	shapeFlags(c, &o.shapeOptions)
	o.keepOptions.flags(fs)
	config.Count(fs, &o.jobs, "jobs", jobsDefault, 0, threadsMax,
		"maximum parts of background jobs at once; 0: leave them to other workers")
	a.targetFlags(c, &o.target)
}

// jobsDefault leaves most of a worker to its users.
const jobsDefault = 2

func (a *app) serve(ctx context.Context, o serveOptions) error {
	shaped, err := o.shape().Worker()
	if err == nil {
		err = refuseIdle(o.given, o.keepOptions.idle())
	}
	if err != nil {
		return err
	}
	if err := o.secureOptions.check(o.listen); err != nil {
		return err
	}
	dsn, err := a.database(ctx, o.target)
	if err != nil {
		return err
	}
	db, err := database.Open(ctx, dsn, shaped.Options(database.Options{Connections: o.connections, Worker: true}))
	if err != nil {
		return err
	}
	defer db.Close()
	if o.mayCreate(o.create) {
		if err := schema.Claim(ctx, db); err != nil {
			return err
		}
	}
	if err := erp.Migrate(ctx, db); err != nil {
		return err
	}
	if err := fill.Finished(ctx, db); err != nil {
		return err
	}
	collectRarely()
	listener, err := net.Listen("tcp", o.listen)
	if err != nil {
		return problem.New(problem.Environment, err, "choose another with --listen; port 0 takes a free one")
	}
	defer listener.Close()
	options := server.Config{
		Database: db, Shape: shaped, Log: a.workerLog(), Concurrency: o.concurrency, Queue: o.queue,
		MaxSessions: o.sessions, Name: listener.Addr().String(),
	}
	if err := o.secureOptions.apply(&options, options.Log); err != nil {
		return err
	}
	done, err := o.keepOptions.apply(&options)
	if err != nil {
		return err
	}
	defer done()
	background, end, err := a.background(ctx, dsn, shaped, o.jobs)
	if err != nil {
		return err
	}
	options.Jobs = background
	return errors.Join(a.listen(ctx, options, listener), end())
}

// background works on jobs until ctx is done; end waits for it. It has connections of its own, so that jobs take none
// from users. What jobs write commits as the worker's plan has it for the class background; the queue itself commits as
// the server is set.
func (a *app) background(ctx context.Context, dsn string, shaped shape.Shape, concurrency int) (all *jobs.Jobs,
	end func() error, err error) {
	connections := 2 // for requests about jobs
	if concurrency > 0 {
		connections = jobs.Connections(concurrency)
	}
	db, err := database.Open(ctx, dsn, database.Options{Connections: connections, Application: "plimsoll jobs",
		Durability: shaped.Options(database.Options{}).Durability})
	if err != nil {
		return nil, nil, err
	}
	if all, err = background.New(db, a.workerLog()); err != nil {
		db.Close()
		return nil, nil, err
	}
	working, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() {
		if concurrency > 0 {
			a.recoverGroups(working, db, all)
		}
		ended <- all.Work(working, concurrency)
	}()
	return all, func() error {
		stop()
		defer db.Close()
		return <-ended
	}, nil
}

// recoverGroups finishes groups that a crash left half-done; the worker continues if that fails.
func (a *app) recoverGroups(ctx context.Context, db *database.Database, all *jobs.Jobs) {
	log := a.workerLog()
	if err := background.Recover(ctx, db, all, log); err != nil && ctx.Err() == nil {
		log.Warn("find groups that are half-done", "error", err)
	}
}

func (a *app) listen(ctx context.Context, options server.Config, listener net.Listener) error {
	worker, err := erp.NewServer(options)
	if err != nil {
		return err
	}
	if err := a.sayListening(listener.Addr(), options.TLS != nil); err != nil {
		return err
	}
	return worker.Serve(ctx, listener)
}

// workerLog does not log successes: under load that would cost more than the work.
func (a *app) workerLog() *slog.Logger {
	return slog.New(slog.NewTextHandler(a.stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// sayListening writes one line, which a parent process waits for.
func (a *app) sayListening(at net.Addr, encrypted bool) error {
	url := "http://" + at.String()
	if encrypted {
		url = "https://" + at.String()
	}
	if a.json {
		return json.NewEncoder(a.stdout).Encode(map[string]string{"listening": url})
	}
	_, err := fmt.Fprintf(a.stdout, "listening on %s; how to use it: %s/docs; Ctrl-C stops\n", url, url)
	return err
}
