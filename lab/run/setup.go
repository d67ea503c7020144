package run

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"plimsoll/ground/host/dirs"
	"plimsoll/ground/host/machine"
	"plimsoll/ground/host/process"
	"plimsoll/ground/postgres"
	"plimsoll/ground/problem"
	"plimsoll/lab/run/live"
)

// setup is a run with everything it holds while it lasts: its place in the store, the workers, and the watchers.
type setup struct {
	*record
	generator Generator
	board     *board
	feed      feed
	journal   *journal
	crew      *crew
	log       *serverLog // nil: not visible from here
	// workersSeen by a load that has no connection string.
	workersSeen *workersSeen
}

func newSetup(o Options) *setup {
	r := &record{Options: o, crowd: o.Crowd(), began: time.Now()}
	r.audit = r.unaudited()
	s := &setup{record: r, generator: o.generator(), board: newBoard(o.Progress)}
	if o.DSN == "" {
		s.workersSeen = &workersSeen{}
	}
	return s
}

// reserve creates the run's folder in the store, where its workers' logs go as well, and marks it as under way.
func (s *setup) reserve(ctx context.Context) (err error) {
	s.id = "unkept"
	if s.Store != nil {
		if s.id, err = s.Store.Begin(s.began, s.Users); err != nil {
			return err
		}
	}
	s.journal, err = mark(ctx, s.Store, s.id)
	return err
}

// open inspects the machine and the server and starts the workers.
func (s *setup) open(ctx context.Context) (err error) {
	s.feed = newFeed(s.Options, s.id, s.crowd.Operations)
	s.begin(Starting, s.End()+logInGuess(s.Users)+auditGuess)
	if s.machine, err = machine.Describe(dirs.State()); err != nil { // there is no state directory yet
		s.machine, _ = machine.Describe("/") // an unreadable fact stays empty: no reason to lose the result
	}
	if s.DSN != "" {
		if s.before, err = postgres.Inspect(ctx, s.DSN); err != nil {
			return problem.New(problem.Environment, err,
				"check host, port, user and password of --dsn; 'plimsoll status' shows the local servers")
		}
	}
	if err := s.checkConnections(ctx); err != nil {
		return err
	}
	if err := s.readData(ctx); err != nil {
		return err
	}
	s.log = openServerLog(s.postmaster())
	if s.crew, err = startWorkers(ctx, s.Options, s.id); err != nil {
		return err
	}
	s.servers = s.servedBy()
	s.crew.onExit = func(text string) { s.feed.say(live.Alarm, text) }
	s.workers = s.crew.conditions()
	if s.profilesBefore, err = readProfiles(ctx, s.Access.asker(), s.crew.urls()); err != nil {
		err = problem.New(problem.Usage, err, "name the token file of its 'plimsoll serve' with "+
			"--metrics-token-file, and reach it by https")
	} else {
		err = s.checkDatabase()
	}
	if err != nil {
		s.crew.stop()
		return err
	}
	s.auditBefore(ctx)
	return nil
}

// checkDatabase refuses workers that use another database than the one that is audited and described: the verdict would
// cover books that nobody wrote to.
func (s *setup) checkDatabase() error {
	if s.before == nil {
		return nil
	}
	if urls := s.profilesBefore.elsewhere(s.before.Database); len(urls) > 0 {
		return problem.New(problem.Usage, fmt.Errorf(
			"the application server %s works on another database than the one that would be audited", urls[0]),
			"name its database: --cluster NAME or --dsn")
	}
	return nil
}

// servedBy returns the processes of the measured application: the workers of this run, or whatever listens at the
// load's addresses on this machine.
func (s *setup) servedBy() []int {
	if len(s.crew.started) > 0 {
		return s.crew.pids()
	}
	var pids []int
	for _, url := range append(slices.Clone(s.URLs), s.Scenario.Own.Base) {
		pids = append(pids, process.Listening(url)...)
	}
	slices.Sort(pids)
	return slices.DeleteFunc(slices.Compact(pids), func(pid int) bool { return pid == os.Getpid() })
}

// postmaster of the database, if it is on this machine.
func (s *setup) postmaster() int {
	if s.before == nil {
		return 0
	}
	return s.before.Postmaster
}

// begin a phase, for all watchers.
func (s *setup) begin(phase Phase, left time.Duration) {
	s.board.begin(phase, left)
	s.feed.begin(phase, left)
}
