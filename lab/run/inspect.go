package run

import (
	"context"
	"fmt"
	"time"

	"plimsoll/erp/audit"
	"plimsoll/lab/postgres"
	"plimsoll/lab/result"
	"plimsoll/platform/database"
)

const (
	// BackWithin is how long a database that went away in mid-run may take to come
	// back for the audit.
	BackWithin = 30 * time.Second
	// AuditWithin bounds the audit, AuditInterruptedWithin that of a run stopped by
	// hand: whoever stops it waits for it.
	AuditWithin            = 30 * time.Minute
	AuditInterruptedWithin = 30 * time.Second
	// AuditPatience is what looking at all the books may take; beyond it only what has changed since their clean point is looked at, if
	// they have one.
	AuditPatience = time.Minute

	lookAgain = 250 * time.Millisecond
)

// inspect looks at the database again and audits the books. It is done for a run
// that was stopped, too.
func (r *running) inspect(ctx context.Context) {
	r.begin(Auditing, auditGuess)
	within := AuditWithin
	if r.stoppedByHand {
		within = AuditInterruptedWithin
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), within)
	defer cancel()
	r.crew.call(ctx)
	r.toldAfter = ask(ctx, r.crew.urls())
	r.audit = r.unaudited()
	var err error
	if r.before != nil {
		r.after, err = lookPatiently(ctx, r.DSN)
	}
	if err == nil && !r.audit.None {
		err = r.auditBooks(ctx)
	}
	if err != nil {
		r.audit.Error = err.Error()
	}
}

// lookPatiently gives a server that is recovering the time to come back.
func lookPatiently(ctx context.Context, dsn string) (*postgres.Server, error) {
	ctx, cancel := context.WithTimeout(ctx, BackWithin)
	defer cancel()
	for {
		server, err := postgres.Look(ctx, dsn)
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

func (r *running) auditBooks(ctx context.Context) error {
	db, err := database.Open(ctx, r.DSN, database.Options{Connections: audit.Connections(0) + 1})
	if err != nil {
		return fmt.Errorf("audit the books: %w", err)
	}
	defer db.Close()
	began := time.Now()
	report, err := audit.RunAs(ctx, db, audit.Options{Mode: audit.SinceClean, Patience: AuditPatience, Keep: true})
	if err != nil {
		return fmt.Errorf("audit the books: %w", err)
	}
	r.audit.Done, r.audit.Clean = true, report.Clean()
	r.audit.Checks, r.audit.Violations = len(report.Checks), int(report.Violations)
	r.audit.Mode = string(report.Mode)
	r.audit.DurationS = time.Since(began).Seconds()
	r.audit.Findings = append(r.audit.Findings, findings(report)...)
	return nil
}

func findings(report audit.Report) (all []result.Finding) {
	for _, check := range report.Checks {
		for _, v := range check.Examples {
			all = append(all, result.Finding{
				Check:  check.Invariant,
				Detail: fmt.Sprintf("%s: %s; expected %s, found %s", check.Title, v.Subject, v.Expected, v.Found),
			})
		}
	}
	return all
}
