package run

import (
	"context"
	"fmt"
	"time"

	"plimsoll/erp/audit"
	"plimsoll/ground/postgres"
	"plimsoll/lab/load/onec"
	"plimsoll/lab/load/scenario"
	"plimsoll/lab/run/result"
	"plimsoll/platform/data/database"
)

const (
	// AuditWithin bounds the audit.
	AuditWithin = 30 * time.Minute

	lookAgain = 250 * time.Millisecond
)

// BackWithin is how long a database that was lost during the run may take to return for the audit.
var BackWithin = 30 * time.Second

// AuditPatience is the longest full audit; if it would take longer, only changes since the last clean point are
// checked, if there is one. Tests with many runs on one base lower it: an audit costs more than their load.
var AuditPatience = time.Minute

// AuditInterruptedWithin bounds the audit of a run that its user stopped, who is waiting. Tests that stop runs raise it
// in TestMain: on an overloaded machine the audit of a small base takes as long.
var AuditInterruptedWithin = 30 * time.Second

// inspect reads the database again and audits the books, also for a run that was stopped.
func (s *setup) inspect(ctx context.Context) {
	s.begin(Auditing, auditGuess)
	within := AuditWithin
	if s.stoppedByUser {
		within = AuditInterruptedWithin
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), within)
	defer cancel()
	s.profilesAfter, _ = readProfiles(ctx, s.Access.asker(), s.crew.checkAnswering(ctx)) // refusals were counted before
	var err error
	if s.before != nil {
		s.after, err = lookPatiently(ctx, s.DSN)
		if s.after == nil || s.restarted() || s.recovered() {
			s.lastFatal = s.log.lastFatal()
		}
	}
	if err == nil {
		s.reconcile(ctx)
	}
	if err == nil && !s.audit.None {
		err = s.auditBooks(ctx, &s.audit)
	}
	if err != nil {
		s.audit.Error = err.Error()
	}
	s.workerExits = s.crew.workerExits()
}

// lookPatiently gives a recovering server time to come back.
func lookPatiently(ctx context.Context, dsn string) (*postgres.Server, error) {
	ctx, cancel := context.WithTimeout(ctx, BackWithin)
	defer cancel()
	for {
		server, err := postgres.Inspect(ctx, dsn)
		if err == nil || ctx.Err() != nil {
			return server, err
		}
		select {
		case <-time.After(lookAgain):
		case <-ctx.Done():
			return nil, err
		}
	}
}

// auditBefore tells violations that were there before the run from new ones. With a clean point, which every successful
// audit leaves, it checks what has changed since.
func (s *setup) auditBefore(ctx context.Context) {
	if s.DSN == "" || s.audit.None {
		return
	}
	if s.AuditedBefore != nil {
		s.auditedBefore = s.AuditedBefore
		return
	}
	s.begin(Checking, s.End()+logInGuess(s.Users)+2*auditGuess)
	before := s.unaudited()
	if err := s.auditBooks(ctx, &before); err != nil {
		before.Error = err.Error()
	}
	s.auditedBefore = &before
}

func (s *setup) auditBooks(ctx context.Context, to *result.Audit) error {
	if s.Scenario.Application == scenario.OneC {
		return s.auditTotals(ctx, to)
	}
	db, err := database.Open(ctx, s.DSN, database.Options{Connections: audit.Connections(0) + 1})
	if err != nil {
		return fmt.Errorf("audit the books: %w", err)
	}
	defer db.Close()
	began := time.Now()
	report, err := audit.RunAs(ctx, db, audit.Options{Mode: audit.SinceClean, Patience: AuditPatience, Keep: true,
		Progress: s.board.audits()})
	if err != nil {
		return fmt.Errorf("audit the books: %w", err)
	}
	to.Done, to.Clean = true, report.Clean()
	to.Checks, to.Violations = len(report.Checks), int(report.Violations)
	to.Mode = string(report.Mode)
	to.DurationS = time.Since(began).Seconds()
	to.Findings = append(to.Findings, findings(report)...)
	return nil
}

// auditTotals checks a 1C base.
func (s *setup) auditTotals(ctx context.Context, to *result.Audit) error {
	began := time.Now()
	tell := s.board.audits()
	report, err := onec.Audit(ctx, s.DSN, func(done, all int) { tell(int64(done), int64(all)) })
	if err != nil {
		return fmt.Errorf("audit the totals: %w", err)
	}
	to.Done, to.Clean, to.Mode = true, report.Clean(), string(audit.All)
	to.Checks, to.Violations = len(report.Checks), int(report.Violations)
	to.DurationS = time.Since(began).Seconds()
	for _, check := range report.Checks {
		for _, example := range check.Examples {
			to.Findings = append(to.Findings, result.Finding{Check: check.Name, Detail: check.Title + ": " + example})
		}
	}
	return nil
}

func findings(report audit.Report) (all []result.Finding) {
	for _, check := range report.Checks {
		for _, v := range check.Examples {
			all = append(all, result.Finding{
				Check:  check.Invariant,
				Detail: fmt.Sprintf("%s: %s; expected %s, found %s", check.Title, v.Where(), v.Expected, v.Found),
			})
		}
	}
	return all
}
