package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river/rivertype"
)

// State of a job.
type State string

const (
	Queued      State = "queued"
	Running     State = "running"
	Interrupted State = "interrupted" // nobody coordinates it, until another worker does; its parts may go on
	Done        State = "done"
	Failed      State = "failed"
	Cancelled   State = "cancelled"
)

// Ended says whether the job is final.
func (s State) Ended() bool { return s == Done || s == Failed || s == Cancelled }

// Job is a job as its owner sees it.
type Job struct {
	Number    int64           `json:"number"`
	Kind      string          `json:"kind"`
	State     State           `json:"state"`
	Arguments json.RawMessage `json:"arguments"`
	Created   time.Time       `json:"created"`
	Started   *time.Time      `json:"started,omitempty"`
	Ended     *time.Time      `json:"ended,omitempty"`
	Parts     Parts           `json:"parts"`
	// Done of Total, in the kind's unit; Total is zero until it is planned.
	Done  int64 `json:"done"`
	Total int64 `json:"total"`
	// LeftS estimates the remaining seconds from the speed so far; absent while unknown.
	LeftS  *float64        `json:"left_s,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  string          `json:"error,omitempty"`
}

// Parts by outcome.
type Parts struct {
	All     int64 `json:"all"`
	Running int64 `json:"running"`
	Done    int64 `json:"done"`
	Failed  int64 `json:"failed"`
}

func unfinished() []rivertype.JobState {
	return []rivertype.JobState{rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRetryable,
		rivertype.JobStateRunning, rivertype.JobStateScheduled}
}

const showSQL = `SELECT j.id, j.args->>'name', j.state::text, j.args->'arguments', j.created_at, j.attempted_at,
	j.finalized_at, j.metadata->'output',
	coalesce(j.errors[array_upper(j.errors, 1)]->>'error', ''), j.metadata ? 'cancel_attempted_at',
	j.metadata ? 'planned', p.parts, p.running, p.done, p.failed, p.progress, p.total,
	extract(epoch FROM clock_timestamp() - j.attempted_at)::float8
FROM ` + schemaName + `.river_job j LEFT JOIN LATERAL (
	SELECT count(*) AS parts, count(*) FILTER (WHERE state = 'running') AS running,
		count(*) FILTER (WHERE state = 'completed') AS done,
		count(*) FILTER (WHERE ` + failedSQL + `) AS failed,
			coalesce(sum((args->>'weight')::bigint), 0)::bigint AS total,
		coalesce(sum(CASE WHEN state = 'completed' THEN (args->>'weight')::bigint
			ELSE least((args->>'weight')::bigint, coalesce((metadata->>'done')::bigint, 0)) END), 0)::bigint AS progress
	FROM ` + schemaName + `.river_job WHERE kind = 'part' AND args @> jsonb_build_object('of', j.id)
) p ON true WHERE j.kind = 'whole' AND j.args->>'owner' = $1 AND (j.id = $2 OR $2 = 0) ORDER BY j.id DESC LIMIT $3`

// ListMax is the longest list.
const ListMax = 200

// List returns the latest jobs of an owner, newest first.
func (j *Jobs) List(ctx context.Context, owner string, limit int) ([]Job, error) {
	return j.read(ctx, owner, 0, min(limit, ListMax))
}

// Show returns one of them.
func (j *Jobs) Show(ctx context.Context, owner string, number int64) (Job, error) {
	found, err := j.read(ctx, owner, number, 1)
	if err == nil && (len(found) == 0 || number == 0) {
		err = ErrUnknown
	}
	if err != nil {
		return Job{}, err
	}
	return found[0], nil
}

func (j *Jobs) read(ctx context.Context, owner string, number int64, limit int) ([]Job, error) {
	rows, err := j.db.Driver().Query(ctx, showSQL, owner, number, limit)
	if err != nil {
		return nil, fmt.Errorf("read jobs: %w", err)
	}
	found, err := pgx.CollectRows(rows, scan)
	if err != nil {
		return nil, fmt.Errorf("read jobs: %w", err)
	}
	return found, nil
}

func scan(row pgx.CollectableRow) (b Job, err error) {
	var state string
	var cancelling, planned bool
	var elapsed *float64
	err = row.Scan(&b.Number, &b.Kind, &state, &b.Arguments, &b.Created, &b.Started, &b.Ended, &b.Result, &b.Error,
		&cancelling, &planned,
		&b.Parts.All, &b.Parts.Running, &b.Parts.Done, &b.Parts.Failed, &b.Done, &b.Total, &elapsed)
	b.State = stateOf(rivertype.JobState(state), cancelling)
	if b.State == Queued && planned {
		b.State = Interrupted
	}
	if b.State == Running && elapsed != nil && b.Done > 0 {
		left := *elapsed * float64(b.Total-b.Done) / float64(b.Done)
		b.LeftS = &left
	}
	return b, err
}

func stateOf(state rivertype.JobState, cancelling bool) State {
	switch state {
	case rivertype.JobStateRunning:
		return Running
	case rivertype.JobStateCompleted:
		return Done
	case rivertype.JobStateDiscarded:
		return Failed
	case rivertype.JobStateCancelled:
		if !cancelling { // by itself: it failed
			return Failed
		}
		return Cancelled
	}
	return Queued
}

const cancelQueuedSQL = "UPDATE " + schemaName +
	`.river_job SET state = 'cancelled', finalized_at = now(), metadata = metadata || '{"cancel_attempted_at": true}'
WHERE kind = 'part' AND args @> jsonb_build_object('of', $1::bigint)
	AND state IN ('available', 'retryable', 'scheduled', 'pending')`

// toldSQL tells the coordinator of a job to end it, whoever it will be.
const toldSQL = "UPDATE " + schemaName + `.river_job
SET metadata = metadata || jsonb_build_object('cancel_attempted_at', now())
WHERE id = $1 AND finalized_at IS NULL RETURNING state = 'running'`

const runningSQL = "SELECT id FROM " + schemaName +
	".river_job WHERE kind = 'part' AND args @> jsonb_build_object('of', $1::bigint) AND state = 'running'"

// Cancel ends a job: running parts are told to stop, waiting ones are dropped, and when the last one has ended, the job
// has. Committed work of parts stays.
func (j *Jobs) Cancel(ctx context.Context, owner string, number int64) error {
	if _, err := j.Show(ctx, owner, number); err != nil {
		return err
	}
	// the job first, so that it does not take its cancelled parts for failures
	var coordinated bool
	err := j.db.Driver().QueryRow(ctx, toldSQL, number).Scan(&coordinated)
	if errors.Is(err, pgx.ErrNoRows) { // it has ended
		return nil
	}
	if err != nil {
		return fmt.Errorf("cancel job: %w", err)
	}
	if _, err := j.db.Driver().Exec(ctx, rescueSQL, int64(lifeSpace)); err != nil { // what the dead had begun is over
		return fmt.Errorf("cancel job: %w", err)
	}
	running, err := j.cancelParts(ctx, number)
	if err != nil || running > 0 && !coordinated {
		return err // who takes it over ends it with them
	}
	if _, err := j.client.JobCancel(ctx, number); err != nil && !errors.Is(err, rivertype.ErrNotFound) {
		return fmt.Errorf("cancel job: %w", err)
	}
	return nil
}

// cancelParts drops those that wait and tells those that run to stop; it counts these.
func (j *Jobs) cancelParts(ctx context.Context, number int64) (running int, err error) {
	if _, err := j.db.Driver().Exec(ctx, cancelQueuedSQL, number); err != nil {
		return 0, fmt.Errorf("cancel parts: %w", err)
	}
	rows, err := j.db.Driver().Query(ctx, runningSQL, number)
	if err != nil {
		return 0, fmt.Errorf("cancel parts: %w", err)
	}
	if running, err = j.cancelRunning(ctx, rows); err != nil {
		return running, fmt.Errorf("cancel parts: %w", err)
	}
	return running, nil
}

func (j *Jobs) cancelRunning(ctx context.Context, numbers pgx.Rows) (told int, err error) {
	running, err := pgx.CollectRows(numbers, pgx.RowTo[int64])
	for _, n := range running {
		if _, cancelErr := j.client.JobCancel(ctx, n); cancelErr != nil &&
			!errors.Is(cancelErr, rivertype.ErrNotFound) {
			err = errors.Join(err, cancelErr)
		}
	}
	return len(running), err
}

const dropSQL = "UPDATE " + schemaName +
	`.river_job SET state = 'cancelled', finalized_at = now(), metadata = metadata || '{"cancel_attempted_at": true}'
WHERE kind = 'part' AND args->>'name' = $1 AND args->'arguments'->>$2::text = $3
	AND created_at < $4 AND state IN ('available', 'pending', 'retryable', 'running', 'scheduled')`

const droppedSQL = "SELECT id FROM " + schemaName + `.river_job
WHERE kind = 'part' AND args->>'name' = $1 AND args->'arguments'->>$2::text = $3
	AND created_at < $4 AND state = 'running'`

// Drop cancels the unfinished parts of a kind that have this argument and are older, those of dead workers too, so that
// nothing that was undone is done again. A live worker is told to stop.
func (j *Jobs) Drop(ctx context.Context, kind, argument, value string, before time.Time) error {
	rows, err := j.db.Driver().Query(ctx, droppedSQL, kind, argument, value, before)
	if err != nil {
		return fmt.Errorf("drop parts: %w", err)
	}
	if _, err := j.cancelRunning(ctx, rows); err != nil {
		return fmt.Errorf("drop parts: %w", err)
	}
	if _, err := j.db.Driver().Exec(ctx, dropSQL, kind, argument, value, before); err != nil {
		return fmt.Errorf("drop parts: %w", err)
	}
	return nil
}

// tallied is what a coordinator sees of its job: whether it has ended, is planned, told to stop or its own still, and
// its parts by outcome.
type tallied struct {
	ended, planned, stopped, own bool
	all, done, failed, cancelled int64
	trouble                      string
}

// failedSQL: all attempts are used, or the part gave up.
const failedSQL = "(state = 'discarded' OR state = 'cancelled' AND NOT metadata ? 'cancel_attempted_at')"

const talliedSQL = `SELECT j.finalized_at IS NOT NULL, j.metadata ? 'planned', j.metadata ? 'cancel_attempted_at',
	j.state = 'running' AND j.attempted_at = $2 AND j.attempted_by[array_upper(j.attempted_by, 1)] = $3, p.*
FROM ` + schemaName + `.river_job j CROSS JOIN LATERAL (SELECT count(*),
	count(*) FILTER (WHERE state = 'completed'), count(*) FILTER (WHERE ` + failedSQL +
	`),
	count(*) FILTER (WHERE state = 'cancelled' AND metadata ? 'cancel_attempted_at'),
		coalesce(max(errors[array_upper(errors, 1)]->>'error') FILTER (WHERE ` + failedSQL + `), '')
FROM ` + schemaName + `.river_job WHERE kind = 'part' AND args @> jsonb_build_object('of', $1::bigint)) p
WHERE j.id = $1`

func (j *Jobs) tally(ctx context.Context, job int64, at *time.Time, by string) (t tallied, err error) {
	err = j.db.Driver().QueryRow(ctx, talliedSQL, job, at, by).Scan(&t.ended, &t.planned, &t.stopped, &t.own,
		&t.all, &t.done, &t.failed, &t.cancelled, &t.trouble)
	if err != nil {
		return t, fmt.Errorf("check parts: %w", err)
	}
	return t, nil
}

const resultsSQL = "SELECT metadata->'output' FROM " + schemaName +
	`.river_job WHERE kind = 'part' AND args @> jsonb_build_object('of', $1::bigint) ORDER BY (args->>'n')::integer`

func (j *Jobs) results(ctx context.Context, job int64) ([]json.RawMessage, error) {
	rows, err := j.db.Driver().Query(ctx, resultsSQL, job)
	if err != nil {
		return nil, fmt.Errorf("read results: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowTo[json.RawMessage])
}

// Carried is how a part was carried out: by which workers, and with which outcome.
type Carried struct {
	N            int
	Workers      []string // one for each start
	Done         bool
	Began, Ended time.Time // Began is the last start; Ended is zero until the end
	Result       json.RawMessage
}

const carriedSQL = `SELECT (args->>'n')::integer, attempted_by, state = 'completed', coalesce(attempted_at, created_at),
	coalesce(finalized_at, '0001-01-01 00:00:00Z'), metadata->'output'
FROM ` + schemaName + `.river_job WHERE kind = 'part' AND args @> jsonb_build_object('of', $1::bigint) ORDER BY 1, id`

// Carried returns how all parts of a job were carried out.
func (j *Jobs) Carried(ctx context.Context, number int64) (all []Carried, err error) {
	rows, err := j.db.Driver().Query(ctx, carriedSQL, number)
	if err == nil {
		all, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Carried])
	}
	if err != nil {
		return nil, fmt.Errorf("read parts: %w", err)
	}
	return all, nil
}
