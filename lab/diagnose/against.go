package diagnose

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/problem"
)

// RunAgainst diagnoses and subtracts another system's ledger: that of a file that Load reads, or of a server by its
// connection string, which is watched at the same time, or two snapshots of an MS SQL Server. Without another it is
// Run.
func RunAgainst(ctx context.Context, o Options, other string) (*Diagnosis, error) {
	subtract, err := o.watchOther(ctx, other)
	if err != nil {
		return nil, err
	}
	d, err := Run(ctx, o)
	if failed := subtract(d); err == nil {
		err = failed
	}
	return d, err
}

// watchOther starts the diagnosis of the other system. subtract waits for it.
func (o Options) watchOther(ctx context.Context, other string) (subtract func(*Diagnosis) error, err error) {
	if other == "" {
		return func(*Diagnosis) error { return nil }, nil
	}
	if snapshots, notes, err := snapshotsOf(other); err != nil || snapshots != nil {
		return func(d *Diagnosis) error {
			if d != nil && err == nil {
				before, after, _ := strings.Cut(other, ",")
				d.Compare(filepath.Base(before)+", "+filepath.Base(after), snapshots)
				d.Against.System, d.Against.Notes = "MS SQL Server", notes
			}
			return nil
		}, err
	}
	if _, err := os.Stat(other); err == nil || !strings.ContainsAny(other, ":=") {
		kept, err := Load(other)
		return func(d *Diagnosis) error {
			if d != nil {
				d.Compare(other, kept)
			}
			return nil
		}, err
	}
	server, err := pgx.ParseConfig(other)
	if err != nil {
		return nil, problem.New(problem.Usage, errors.New("--against is neither a file nor a connection string"),
			"plimsoll diagnose --against postgres://monitor@db.example/erp")
	}
	var found *Diagnosis
	var failed error
	done := make(chan struct{})
	ctx, stop := context.WithCancel(ctx)
	go func() {
		defer close(done)
		found, failed = Run(ctx, Options{DSN: other, Duration: o.Duration, Rate: o.Rate, Software: o.Software})
	}()
	return func(d *Diagnosis) error {
		defer stop()
		if d == nil {
			stop()
		}
		<-done
		switch {
		case d == nil:
			return nil
		case found != nil:
			d.Compare(fmt.Sprintf("%s of %s:%d", server.Database, server.Host, server.Port), found)
		}
		if failed != nil {
			return fmt.Errorf("diagnose the system of --against: %w", failed)
		}
		return nil
	}, nil
}
