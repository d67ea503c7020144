package script

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"plimsoll/lab/load/trace"
)

// Mode is how statements are sent, as with pgbench's --protocol.
type Mode string

const (
	Simple   Mode = "simple"   // values written into the text; several statements can be sent together with \;
	Extended Mode = "extended" // values bound, parsed each time
	Prepared Mode = "prepared" // values bound, parsed once per connection
)

// Modes lists all of them.
var Modes = []Mode{Simple, Extended, Prepared}

// Run runs the script once. conn may be nil without SQL. The connection stays as the script leaves it, even in
// mid-transaction: its owner cleans up.
func (s *Script) Run(ctx context.Context, conn *pgconn.PgConn, mode Mode, env *Environment) error {
	r := running{Environment: env, conn: conn, mode: mode}
	err := r.all(ctx, s.commands)
	if r.pipeline != nil {
		if closed := r.pipeline.Close(); err == nil {
			err = closed
		}
	}
	return err
}

type running struct {
	*Environment
	conn     *pgconn.PgConn
	mode     Mode
	pipeline *pgconn.Pipeline
	syncs    int
	sent     []*trace.Statement // in the pipeline; nil ones without a trace
}

func (r *running) all(ctx context.Context, commands []command) error {
	for i := range commands {
		if err := r.one(ctx, &commands[i]); err != nil {
			return fmt.Errorf("line %d: %w", commands[i].line, err)
		}
	}
	return nil
}

func (r *running) one(ctx context.Context, c *command) (err error) {
	switch c.verb {
	case "set":
		var v Value
		if v, err = c.expression.Eval(r.Environment); err == nil {
			r.Variables[c.name] = v
		}
		return err
	case "sleep":
		return r.sleep(ctx, c.sleep)
	case "if":
		return r.branch(ctx, c.branches)
	case "startpipeline":
		r.pipeline = r.conn.StartPipeline(ctx)
		return nil
	case "syncpipeline":
		r.syncs++
		return r.pipeline.Sync()
	case "endpipeline":
		return r.endPipeline()
	}
	return r.query(ctx, c)
}

func (r *running) branch(ctx context.Context, branches []branch) error {
	for _, b := range branches {
		v, err := b.condition.Eval(r.Environment)
		if err != nil {
			return err
		}
		if v.truth() {
			return r.all(ctx, b.body)
		}
	}
	return nil
}

func (r *running) sleep(ctx context.Context, s sleep) error {
	n := s.number
	if s.variable != "" {
		v, known := r.Variables[s.variable]
		if !known {
			return fmt.Errorf("undefined variable %q", s.variable)
		}
		v, err := v.read()
		if err == nil {
			n, err = v.asInt()
		}
		if err != nil {
			return fmt.Errorf("sleep: %w", err)
		}
	}
	timer := time.NewTimer(time.Duration(n*units[s.unit]) * time.Microsecond)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (r *running) query(ctx context.Context, c *command) error {
	if r.mode == Simple {
		text := substitute(c.sql, r.Variables)
		sent := trace.Of(ctx).Send(text, nil, nil)
		return sent.End(r.read(c, r.conn.Exec(ctx, text), sent))
	}
	values, err := r.values(c.params)
	if err != nil {
		return err
	}
	sent := trace.Of(ctx).Send(c.bound, c.params, values)
	if r.pipeline != nil {
		r.sent = append(r.sent, sent)
		return r.queue(ctx, c, values)
	}
	return sent.End(r.ask(ctx, c, values, sent))
}

// queue a statement in the pipeline.
func (r *running) queue(ctx context.Context, c *command, values [][]byte) error {
	if r.mode == Extended {
		r.pipeline.SendQueryParams(c.bound, values, nil, nil, nil)
		return nil
	}
	name, err := r.prepare(ctx, c.bound)
	if err == nil {
		r.pipeline.SendQueryPrepared(name, values, nil, nil)
	}
	return err
}

// ask the server and wait for its answer.
func (r *running) ask(ctx context.Context, c *command, values [][]byte, sent *trace.Statement) error {
	if r.mode == Extended {
		return r.keep(c, r.conn.ExecParams(ctx, c.bound, values, nil, nil, nil), sent)
	}
	name, err := r.prepare(ctx, c.bound)
	if err != nil {
		return err
	}
	return r.keep(c, r.conn.ExecPrepared(ctx, name, values, nil, nil), sent)
}

// values are the parameters as text; null ones are NULL. An undefined one is an error: bound as NULL, the statement
// would find nothing, quickly and without a word.
func (r *running) values(names []string) ([][]byte, error) {
	all := make([][]byte, len(names))
	for i, name := range names {
		v, known := r.Variables[name]
		if !known {
			return nil, fmt.Errorf("undefined variable %q", name)
		}
		if !v.Null() {
			all[i] = []byte(v.String())
		}
	}
	return all, nil
}

// Keys of a connection's custom data: its prepared statements, and how often they were forgotten.
const (
	preparedKey   = "plimsoll.prepared"
	generationKey = "plimsoll.generation"
)

// prepare returns the name of a prepared statement on this connection. In a pipeline a new one is sent ahead in the
// stream.
func (r *running) prepare(ctx context.Context, sql string) (string, error) {
	known, _ := r.conn.CustomData()[preparedKey].(map[string]string)
	if known == nil {
		known = map[string]string{}
		r.conn.CustomData()[preparedKey] = known
	}
	if name, is := known[sql]; is {
		return name, nil
	}
	generation, _ := r.conn.CustomData()[generationKey].(int)
	name := fmt.Sprintf("plimsoll_%d_%d", generation, len(known))
	if r.pipeline != nil {
		r.pipeline.SendPrepare(name, sql, nil)
		known[sql] = name
		return name, nil
	}
	if _, err := r.conn.Prepare(ctx, name, sql, nil); err != nil {
		return "", err
	}
	known[sql] = name
	return name, nil
}

// forget makes all later statements use new names.
func (r *running) forget() {
	known, _ := r.conn.CustomData()[preparedKey].(map[string]string)
	clear(known)
	n, _ := r.conn.CustomData()[generationKey].(int)
	r.conn.CustomData()[generationKey] = n + 1
}

// read reads all results of a simple query.
func (r *running) read(c *command, answers *pgconn.MultiResultReader, sent *trace.Statement) error {
	var last *pgconn.Result
	var failed error
	for answers.NextResult() {
		result := answers.ResultReader().Read()
		sent.Got(result)
		if c.get == "aset" && failed == nil && result.Err == nil {
			failed = r.set(c, result)
		}
		last = result
	}
	if err := answers.Close(); err != nil {
		return err
	}
	if c.get == "gset" {
		if last == nil {
			return errRows(0)
		}
		return r.get(c, last)
	}
	return failed
}

// keep reads the one result of an extended query.
func (r *running) keep(c *command, answer *pgconn.ResultReader, sent *trace.Statement) error {
	if c.get == "" {
		return sent.Read(answer)
	}
	result := answer.Read()
	sent.Got(result)
	if result.Err != nil {
		return result.Err
	}
	if c.get == "gset" {
		return r.get(c, result)
	}
	return r.set(c, result)
}

func errRows(n int) error { return fmt.Errorf("\\gset expects one row, got %d", n) }

func (r *running) get(c *command, result *pgconn.Result) error {
	if len(result.Rows) != 1 {
		return errRows(len(result.Rows))
	}
	return r.set(c, result)
}

// set assigns the columns of the last row to variables; without a row they keep their values.
func (r *running) set(c *command, result *pgconn.Result) error {
	if len(result.Rows) == 0 {
		return nil
	}
	row := result.Rows[len(result.Rows)-1]
	for i, field := range result.FieldDescriptions {
		name := c.prefix + field.Name
		if !IsName(name) {
			return fmt.Errorf("\\%s: column %q is not a variable name", c.get, name)
		}
		if r.Variables[name] = Text(string(row[i])); row[i] == nil {
			r.Variables[name] = Value{}
		}
	}
	return nil
}

// endPipeline waits for all results.
func (r *running) endPipeline() error {
	err := r.pipeline.Sync()
	for syncs := r.syncs + 1; err == nil && syncs > 0; {
		var answer any
		if answer, err = r.pipeline.GetResults(); err != nil {
			break
		}
		switch a := answer.(type) {
		case *pgconn.ResultReader:
			sent := r.answered()
			err = sent.End(sent.Read(a))
		case *pgconn.PipelineSync:
			syncs--
		}
	}
	if closed := r.pipeline.Close(); err == nil {
		err = closed
	}
	if err != nil { // it is unknown which statements were prepared: assume none
		r.forget()
	}
	r.pipeline, r.syncs, r.sent = nil, 0, nil
	return err
}

// answered is the first statement of the pipeline without an answer.
func (r *running) answered() *trace.Statement {
	if len(r.sent) == 0 {
		return nil
	}
	first := r.sent[0]
	r.sent = r.sent[1:]
	return first
}
