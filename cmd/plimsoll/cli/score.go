package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/ground/host/dirs"
	"plimsoll/ground/host/kept"
	"plimsoll/ground/human"
	"plimsoll/ground/problem"
	"plimsoll/lab/recorded/mix"
	"plimsoll/lab/recorded/score"
)

type scoreOptions struct {
	score.Spec
	html            string
	details, resume bool
}

func (a *app) addScore(root *cobra.Command) {
	var o scoreOptions
	var c *cobra.Command
	c = a.command(root, groupJob, &cobra.Command{
		Use:   "score LOG... [flags]",
		Short: "Score production from its log: Apdex by operation and hour",
		Long: `Read the log of a 1C:Enterprise server or of a PostgreSQL server, or what a 1C application measured
itself, and score what its users did:
Apdex, median, p95 and the share beyond 4T for each operation and hour; how much of it the
database and locks had; lock timeouts, deadlocks, exceptions. Nothing is replayed or installed.

LOG is a folder, or a file of it; .gz too.

1C: the technological log, with a folder for each process as the server makes them
(rphost_1234/26112810.log), text or JSON. An operation is a CALL event with a context: it is named
by the context's outermost line, a background job or service by its method. The smallest useful log
has CALL events with Context; with DBPOSTGRS, TLOCK, TTIMEOUT, TDEADLOCK and EXCP the table has
their columns too. Without any CALL, pauses divide its statements as those of PostgreSQL.

1C's register of timings: the files that the standard library exports (performance monitor, XML;
unpack a ZIP first). Each measurement of a key operation counts, with the target of the export; one
that ended with an error is frustrated. Measurements of a unit of data are counted and not scored.

PostgreSQL: csvlog, jsonlog, or stderr with its log_line_prefix, which is found out if it is a
usual one. The log must have all statements (log_min_duration_statement = 0); log_lock_waits adds
the waits for locks. An operation is what a session does without a pause of more than --gap. It is
named by a comment that the application gives its statements (/*action='order'*/), else by the
tables that it writes or reads. Behind a pooler sessions are shared: take a smaller --gap.

pg_stat_statements: one snapshot, or two of which the difference counts, as CSV with a header or
JSON (row_to_json). It has sums, so there is no Apdex: calls, mean, rows and share of time of each
statement, and what cannot be said of them.

--targets names the target T of each operation: a table, or 1C's exports of timings, of which those
key operations count that the log names alike. Others have --target, or one that is proposed from
the calm half of the hours: then the score says how much worse the busy hours are than these.

--resume reads a log on that has grown since the last such command with the same paths, --gap,
--prefix and --database: what was counted then is kept (PLIMSOLL_STATE), each entry counts once, and
the score is of all. A file that was rotated or compressed is found by how it begins; one that was
cut off, or is gone, is named. The last entry of a file that may go on waits for the next. Ctrl-C
keeps what was read. A technological log needs CALL events for it.

What cannot be read is counted and shown with examples. Memory grows with the number of operations
and hours, not with the log.`,
		Example: `  plimsoll score /var/log/1c/techlog
  plimsoll score rphost_1234/26112810.log --target 1s --details
  plimsoll score /var/log/1c/techlog --targets targets.csv --html score.html
  plimsoll score exports --resume                    1C's register of timings
  plimsoll score /var/log/postgresql --database shop --gap 100ms
  plimsoll score /var/log/postgresql --resume        each hour, from cron
  plimsoll score postgresql.log --prefix '%m [%p] %u@%d '
  psql -c "\copy (SELECT now() AS at, * FROM pg_stat_statements) TO after.csv CSV HEADER"
  plimsoll score before.csv after.csv
  plimsoll score /var/log/1c/techlog --json | jq '.operations[] | select(.apdex < 0.85) | .name'`,
		Args: arguments(1, 1000, "a folder or file of a log"),
	}, func(ctx context.Context, args []string) error { return a.score(ctx, c.Flags(), args, o) })
	fs := c.Flags()
	logFlags(fs, &o.Spec, "PostgreSQL: only this database")
	scoredFlags(fs, &o.Spec, &o.details)
	fs.StringVar(&o.html, "html", "", "also write the HTML report to this `FILE`")
	fs.BoolVar(&o.resume, "resume", false, "read on where the last --resume of this log ended, and keep what was "+
		"counted")
	config.FlagOnly(fs, "html", "resume")
}

// scoreMix shows what pg_stat_statements counted: one snapshot, or what came between two.
func (a *app) scoreMix(fs *pflag.FlagSet, paths []string, o scoreOptions) error {
	if len(paths) > 2 {
		return problem.New(problem.Usage, fmt.Errorf("%d snapshots of pg_stat_statements", len(paths)),
			"give one, or two: before and after")
	}
	idleNames := append([]string{"target", "html", "resume"}, score.Flags...)
	if err := refuseIdle(fs, idle{true, idleNames, "has no effect on pg_stat_statements, which has sums alone",
		"leave it out"}); err != nil {
		return err
	}
	m, err := mix.Read(paths)
	if err != nil {
		return problem.New(problem.Usage, err, "save pg_stat_statements with all its columns, as CSV with a header")
	}
	return a.answer(m, func(w io.Writer) error { return m.Text(w, o.details) })
}

// logFlags are those of all that reads a log.
func logFlags(fs *pflag.FlagSet, o *score.Spec, database string) {
	fs.StringVar(&o.Targets, "targets", "",
		"`FILE` of targets, one operation of the log a line: Document.Order.Post;1.5; or 1C's exports of timings")
	fs.DurationVar(&o.Gap, "gap", score.GapDefault,
		"PostgreSQL, or 1C without CALL: a longer pause of a session begins another operation of the log")
	fs.StringVar(&o.Prefix, "prefix", "",
		"PostgreSQL: `PREFIX` of the log's lines in the format stderr, the server's log_line_prefix")
	fs.StringVar(&o.Database, "database", "", database)
	config.FlagOnly(fs, score.Flags...)
}

// scoredFlags are those of a table of the log's operations.
func scoredFlags(fs *pflag.FlagSet, o *score.Spec, details *bool) {
	fs.StringVar(&o.Target, "target", "", "target of operations without one of their own, in seconds or as 800ms")
	fs.BoolVar(details, "details", false, "show all operations, not only the worst")
}

func (a *app) score(ctx context.Context, fs *pflag.FlagSet, paths []string, o scoreOptions) error {
	if mix.Is(paths) {
		return a.scoreMix(fs, paths, o)
	}
	o.Paths = paths
	options, err := o.Options(ctx)
	if err != nil {
		return problem.New(problem.Usage, err, "plimsoll score --help")
	}
	if err := kept.Page(o.html).Check(); err != nil {
		return err
	}
	if o.resume {
		options.Resume = options.ResumePath(dirs.State())
		release, err := options.HoldResume(ctx)
		if err != nil {
			return err
		}
		defer release()
	}
	a.meter.Phase("read", 0, "MB")
	options.Progress = func(read, all int64) {
		a.meter.Grow(float64(all) / 1e6)
		a.meter.Update(float64(read)/1e6, "")
	}
	r, err := score.Read(ctx, options)
	a.meter.End()
	if err != nil && ctx.Err() != nil && o.resume {
		return problem.New(problem.Interrupted, errors.New("stopped; what was read is kept"),
			"the same command goes on")
	}
	if err != nil {
		return score.Problem(err)
	}
	a.unusedTargets(r, options.Targets)
	if a.json {
		err = a.emit(r)
	} else {
		err = r.Text(a.stdout, o.details)
	}
	if err != nil {
		return err
	}
	return kept.Page(o.html).Write(r.HTML)
}

// unusedMost targets are named one by one.
const unusedMost = 5

// unusedTargets says which targets name no operation of the log.
func (a *app) unusedTargets(r *score.Result, targets map[string]time.Duration) {
	var known, unused []string
	for _, op := range r.Operations {
		known = append(known, op.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(targets)) {
		if !slices.Contains(known, name) {
			unused = append(unused, name)
		}
	}
	for _, name := range unused[:min(len(unused), unusedMost)] {
		a.meter.Say("the log has no operation %s; %s", human.PlainLine(name),
			human.NearestHint(name, known, "--details lists those it has"))
	}
	if len(unused) > unusedMost {
		a.meter.Say("the log has none of %s of --targets, of %d in all", human.Count(len(unused), "operation"),
			len(targets))
	}
}
