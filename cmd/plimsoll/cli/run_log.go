package cli

import (
	"cmp"
	"context"

	"github.com/jackc/pgx/v5/pgconn"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres"
	"plimsoll/ground/problem"
	"plimsoll/lab/recorded/pglog"
	"plimsoll/lab/recorded/sample"
	"plimsoll/lab/run"
	"plimsoll/lab/run/result"
	"plimsoll/lab/system"
)

// checkLog refuses --write-log where no log can be written.
func (o runOptions) checkLog(y system.System) error {
	log := []string{"write-log"}
	return refuseIdle(o.flags,
		idle{!y.OneC() && !y.ERP(), log, "is the log of the ERP or of a 1C load",
			"let the server log all statements: log_min_duration_statement = 0"},
		idle{y.ERP() && o.foreign(), log, "needs a local cluster and workers of its own",
			"leave out --dsn and --url, or let that server log all statements: log_min_duration_statement = 0"},
		idle{o.fleet.Agents != "", log, "has no effect with --agents, who run elsewhere", "leave one out"})
}

const emptyFolder = "name a folder that is empty or not there"

// runLogged writes a log of the run, if its folder is named.
func (a *app) runLogged(ctx context.Context, o runOptions, y system.System, options run.Options) (*result.Result,
	error) {
	switch {
	case o.log == "":
		return a.runKept(ctx, o.samples, options)
	case y.ERP():
		return a.runServerLogged(ctx, o, y, options)
	}
	config, err := pgconn.ParseConfig(options.DSN)
	if err != nil {
		return nil, err
	}
	log, err := sample.Create(o.log, sample.Options{Database: config.Database})
	if err != nil {
		return nil, problem.New(problem.Usage, err, emptyFolder)
	}
	options.Journal = log
	r, err := a.runKept(ctx, o.samples, options)
	truth, failed := log.Close()
	if failed != nil {
		return r, cmp.Or(err, problem.New(problem.Environment, failed, "is the disk full?"))
	}
	a.meter.Say("log of %s: %s; its truth is in %s", human.Count(truth.Statements, "statement"), o.log,
		sample.TruthName)
	return r, err
}

// runServerLogged keeps what the server logs of the workers' sessions. Those that watch the run and audit the books
// are no part of it.
func (a *app) runServerLogged(ctx context.Context, o runOptions, y system.System, options run.Options) (*result.Result,
	error) {
	log, err := pglog.Record(y.ServerLog(), o.log)
	if err != nil {
		return nil, problem.New(problem.Usage, err, emptyFolder)
	}
	options.ServeEnv = append(options.ServeEnv, "PLIMSOLL_DSN="+postgres.WithOptions(options.DSN, pglog.LogsAll))
	r, err := a.runKept(ctx, o.samples, options)
	bytes, failed := log.Close()
	if failed != nil {
		return r, cmp.Or(err, problem.New(problem.Environment, failed, "is the disk full?"))
	}
	a.meter.Say("log of the server: %s, %s", o.log, human.Bytes(bytes))
	return r, err
}
