package score

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"plimsoll/ground/human"
	"plimsoll/lab/recorded/lines"
	"plimsoll/lab/recorded/timings"
)

// Register of timings that a 1C application keeps itself. Its exports are whole at once: a score that is read on reads
// the new ones.
type Register struct {
	// Targets are operations with a target of the register, Unset those of them with the one that the library writes by
	// itself.
	Targets int `json:"operations_with_target"`
	Unset   int `json:"operations_with_default_target"`
	// PerUnit measurements are those of a unit of data, and not scored.
	PerUnit int64 `json:"measurements_per_unit"`
}

// libraryTarget is the target of an operation for which nobody has set one.
const libraryTarget = time.Second

// ErrNoMeasurements says that exports have none.
var ErrNoMeasurements = errors.New("no measurement of an operation: nothing says what users did")

// registerTargets are those that exports have. What cannot be read of them is an error: nobody would see it.
func registerTargets(ctx context.Context, files []timings.File) (map[string]time.Duration, error) {
	c := newCollector()
	if err := c.register(files, time.UTC).all(ctx, func(int) {}); err != nil {
		return nil, err
	}
	if c.Unread.Events > 0 {
		e := c.Unread.Examples[0]
		return nil, fmt.Errorf("%d of its entries cannot be read; %s:%d: %s", c.Unread.Events, e.File, e.Line, e.Why)
	}
	if len(c.Targets) == 0 {
		return nil, errors.New("no key operation with a target in it")
	}
	return c.Targets, nil
}

// register reads exports.
func (c *collector) register(files []timings.File, zone *time.Location) *source {
	s := &source{collector: c, end: func() {}, nothing: ErrNoMeasurements, describe: c.describeRegister,
		read: func(ctx context.Context, n int, from *keptFile, step func(int)) error {
			r, file, err := files[n].Open(step)
			if err != nil {
				return err
			}
			read, err := c.export(ctx, r, from.place().Line, zone)
			if from != nil {
				from.Place = lines.Place{Line: read}
				if from.Done = err == nil; from.Done {
					from.Offset = files[n].Bytes
				}
			}
			return errors.Join(err, file.Close())
		}}
	for _, f := range files {
		s.files = append(s.files, logFile{path: f.Path, bytes: f.Bytes, whole: true})
	}
	return s
}

// export counts the measurements of a file behind the first operations, which were counted before.
func (c *collector) export(ctx context.Context, r *timings.Reader, before int64, zone *time.Location) (int64, error) {
	for n := int64(0); ; n++ {
		if ctx.Err() != nil {
			return max(n, before), context.Cause(ctx)
		}
		op, measured, err := r.Next()
		if err != nil {
			c.Unread.Add(r.Unread)
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return max(n, before), err
		}
		if n >= before {
			c.measured(r, op, measured, zone)
		}
	}
}

// measured counts measurements of an operation.
func (c *collector) measured(r *timings.Reader, op timings.Operation, all []timings.Measurement, zone *time.Location) {
	c.Events += int64(len(all))
	if op.PerUnit {
		c.PerUnit += int64(len(all))
		return
	}
	name := op.Name
	if c.operations[name] == nil && len(c.operations) >= operationsMost && len(all) > 0 {
		name = otherName
	}
	c.target(r, name, op.TargetS)
	for _, m := range all {
		c.see(m.At.In(zone))
		c.see(m.At.Add(m.Took).In(zone))
		c.Calls++
		h := c.hourOf(name, m.At)
		h.TimeS += m.Took.Seconds()
		if m.Failed {
			h.Lost++
			h.Exceptions++
			continue
		}
		h.Took[shortened(m.Took)]++
	}
}

// targetsMost are kept; an export may have operations without measurements.
const targetsMost = 100_000

// target of an operation: the last file's, since somebody may have changed it.
func (c *collector) target(r *timings.Reader, name, seconds string) {
	if seconds == "" || seconds == "0" || name == otherName || len(c.Targets) >= targetsMost {
		return
	}
	target, err := ParseTarget(seconds)
	if err != nil {
		r.LeaveOut(fmt.Errorf("%s: %w", name, err))
		return
	}
	if c.Targets == nil {
		c.Targets = map[string]time.Duration{}
	}
	c.Targets[name] = target
}

func (c *collector) describeRegister(r *Result) {
	r.Source, r.Register = OfRegister, &Register{PerUnit: c.PerUnit}
	for _, op := range r.Operations {
		if target := c.Targets[op.Name]; target > 0 && target.Seconds() == op.TargetS {
			r.Register.Targets++
			if target == libraryTarget {
				r.Register.Unset++
			}
		}
	}
}

// basis says whose the targets are.
func (g *Register) basis(operations int) string {
	text := fmt.Sprintf("Targets are those of the register for %s of %s.", human.Thousands(g.Targets),
		human.Count(operations, "operation"))
	if g.Unset > 0 {
		text += fmt.Sprintf(" %s with 1 s: the library sets that by itself; has somebody chosen it?",
			human.Count(g.Unset, "operation"))
	}
	return text
}

// notes say what the figures of a register leave out.
func (g *Register) notes() []string {
	notes := []string{"Times are those that the application measured. It counts what its programmers have chosen, " +
		"and knows neither statements nor locks: score the technological log for these. Measurements that ended " +
		"with an error are frustrated and have no time."}
	if g.PerUnit > 0 {
		notes = append(notes, fmt.Sprintf("%s of a unit of data (such as a row) are not scored: nobody waits for one.",
			human.Count(g.PerUnit, "measurement")))
	}
	return notes
}
