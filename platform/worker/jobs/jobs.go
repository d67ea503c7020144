package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"

	"plimsoll/platform/data/database"
)

const (
	// AttemptsMax of a part before its job has failed.
	AttemptsMax = 3
	// Kept is how long finished jobs are remembered.
	Kept = 30 * 24 * time.Hour
	// AliveEvery is how often workers check whether others have died.
	AliveEvery = 3 * time.Second

	schemaName = "river"
	queueWhole = "whole" // jobs, which only watch their parts
	queuePart  = "part"
	wholesMax  = 64
	forever    = 10 * 365 * 24 * time.Hour
)

var (
	// ErrUnknownKind means that the application has no such job.
	ErrUnknownKind = errors.New("no such kind of job")
	// ErrUnknown means that the owner has no such job.
	ErrUnknown = errors.New("no such job")
)

// Kind of job, as registered by an application.
type Kind struct {
	Name, Title string
	// Arguments parses and checks a job's arguments; the result, encoded, is passed to the other functions. Nil: the
	// kind takes no arguments.
	Arguments func(owner string, given json.RawMessage) (any, error)
	// Plan splits a job into parts. Nil: one part, with the job's arguments.
	Plan func(ctx context.Context, arguments json.RawMessage) ([]Part, error)
	// Work does a part and returns its result.
	Work func(ctx context.Context, t Task) (result any, err error)
	// Sum combines the results of the parts. Nil: the result of the only part.
	Sum func(results []json.RawMessage) (any, error)
	// Unique kinds have at most one unfinished job per arguments; submitting another returns that one.
	Unique bool
	// Independent parts go on when another one has failed or was dropped; the job fails when all have ended.
	Independent bool
}

// Part of a job. Weight is its size, in a unit of the kind.
type Part struct {
	Arguments any
	Weight    int64
}

// Task is a part as its worker sees it.
type Task struct {
	Arguments json.RawMessage
	// Progress reports how much of the weight is done. It may be called often.
	Progress func(done int64)
}

// Jobs of an application on a database.
type Jobs struct {
	db     *database.Database
	kinds  map[string]*Kind
	order  []string
	client *river.Client[pgx.Tx] // for submitting only
	log    *slog.Logger
}

var kindName = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)

// New makes the jobs of an application; nothing runs until Work.
func New(db *database.Database, log *slog.Logger, kinds []Kind) (*Jobs, error) {
	if log == nil {
		log = slog.Default()
	}
	j := &Jobs{db: db, kinds: map[string]*Kind{}, log: log}
	for i := range kinds {
		k := &kinds[i]
		if !kindName.MatchString(k.Name) || j.kinds[k.Name] != nil || k.Work == nil {
			return nil, fmt.Errorf("jobs: kind %q is a duplicate, has an invalid name, or has no work function", k.Name)
		}
		j.kinds[k.Name] = k
		j.order = append(j.order, k.Name)
	}
	var err error
	j.client, err = river.NewClient(riverpgxv5.New(db.Driver()), &river.Config{Schema: schemaName, Logger: quiet(log)})
	if err != nil {
		return nil, fmt.Errorf("jobs: %w", err)
	}
	return j, nil
}

// Kinds by name and title, as they were registered.
func (j *Jobs) Kinds() []Kind {
	all := make([]Kind, len(j.order))
	for i, name := range j.order {
		all[i] = *j.kinds[name]
	}
	return all
}

// whole is a job and part one of its parts, as stored in the database.
type whole struct {
	Name      string          `json:"name"`
	Owner     string          `json:"owner"`
	Arguments json.RawMessage `json:"arguments"`
}

type part struct {
	Of        int64           `json:"of" river:"unique"`
	N         int             `json:"n" river:"unique"`
	Name      string          `json:"name"`
	Weight    int64           `json:"weight"`
	Arguments json.RawMessage `json:"arguments"`
}

func (whole) Kind() string { return "whole" }
func (part) Kind() string  { return "part" }

// Submit submits a job for an owner, who alone sees it. Fresh is false if an unfinished unique one already existed.
func (j *Jobs) Submit(ctx context.Context, kind, owner string, arguments json.RawMessage) (number int64, fresh bool,
	err error) {
	k := j.kinds[kind]
	if k == nil {
		return 0, false, ErrUnknownKind
	}
	var checked any
	if k.Arguments != nil {
		if checked, err = k.Arguments(owner, arguments); err != nil {
			return 0, false, err
		}
	}
	encoded, err := json.Marshal(checked)
	if err != nil {
		return 0, false, fmt.Errorf("submit %s: %w", kind, err)
	}
	// parts are retried, the job itself is not
	options := &river.InsertOpts{Queue: queueWhole, MaxAttempts: 1}
	if k.Unique {
		options.UniqueOpts = river.UniqueOpts{ByArgs: true, ByState: unfinished()}
	}
	inserted, err := j.client.Insert(ctx, whole{kind, owner, encoded}, options)
	if err != nil {
		return 0, false, fmt.Errorf("submit %s: %w", kind, err)
	}
	return inserted.Job.ID, !inserted.UniqueSkippedAsDuplicate, nil
}

// quiet logs only river's own errors; errors of jobs are stored with the jobs.
func quiet(log *slog.Logger) *slog.Logger { return slog.New(above{log.Handler()}) }

type above struct{ slog.Handler }

func (a above) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelError && a.Handler.Enabled(ctx, l)
}

func (a above) Handle(ctx context.Context, r slog.Record) error {
	if strings.HasPrefix(r.Message, "jobexecutor.") {
		return nil
	}
	return a.Handler.Handle(ctx, r)
}

func (a above) WithAttrs(attrs []slog.Attr) slog.Handler { return above{a.Handler.WithAttrs(attrs)} }
func (a above) WithGroup(name string) slog.Handler       { return above{a.Handler.WithGroup(name)} }

// numbered makes the parts of a job as they are stored.
func numbered(job int64, name string, parts []Part) (all []river.InsertManyParams, err error) {
	for n, p := range parts {
		encoded, err := json.Marshal(p.Arguments)
		if err != nil {
			return nil, err
		}
		all = append(all, river.InsertManyParams{Args: part{job, n, name, max(1, p.Weight), encoded},
			InsertOpts: &river.InsertOpts{Queue: queuePart, MaxAttempts: AttemptsMax,
				UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: rivertype.JobStates()}}})
	}
	return slices.Clip(all), nil
}
