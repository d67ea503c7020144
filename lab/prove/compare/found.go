package compare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"plimsoll/ground/host/kept"
	"plimsoll/ground/problem"
	"plimsoll/lab/run/result"
	"plimsoll/lab/session"
	"plimsoll/lab/view/report"
)

// Found is a comparison, with the gates of the request.
type Found struct {
	*Comparison
	report.Judged
	again bool // it was shown before: who shows it again has no complaint about it
}

// Tell what was found on one screen, or all of it, and what became of the gates.
func (f *Found) Tell(w io.Writer, details bool) error {
	text := f.Summary
	if details {
		text = f.Text
	}
	return f.Below(w, text)
}

// MarshalJSON is that of the comparison, with the gates.
func (f *Found) MarshalJSON() ([]byte, error) { return f.JSON(f.Comparison) }

// Judge says why the answer is no: of the comparison, of another one beside it, or of a gate.
func (f *Found) Judge() error {
	other := cmp.Or(f.Beside.Judge(), result.JudgeGates(f.Gates, result.LongerHint))
	if f.again {
		return other
	}
	return cmp.Or(f.Comparison.Judge(), other)
}

// Judge says why the answer is no, or not known: nil, if it is known.
func (c *Comparison) Judge() error {
	switch c.Stopped {
	case ByUser:
		return problem.New(problem.Interrupted, fmt.Errorf("stopped after %d runs, which are kept", len(c.Runs)),
			session.GoOn)
	case ByVoid:
		return problem.New(problem.Threshold, errors.New("stopped: more runs were void than valid, the machine "+
			"is too busy"),
			"stop other programs or raise --disturbed-limit, then "+session.GoOn)
	}
	for _, f := range c.Findings {
		if f.Because != "" {
			return problem.New(problem.Threshold, errors.New(c.Statement()), "")
		}
		if undecided(f.Verdict) {
			hint := "--resume with more --pairs, or start again with a longer --duration or a wider --margin"
			switch {
			case c.Stopped == ByBudget:
				hint = session.GoOn
			case c.Plan.Replay != nil:
				hint = "--resume with more --pairs, or start again with a longer log or a wider --margin"
			}
			return problem.New(problem.Threshold, errors.New(c.Statement()), hint)
		}
	}
	return nil
}

// Find runs the comparison, or reads the one to show, judges the gates and writes the files that are asked for. Nil:
// nothing could begin.
func (q Request) Find(ctx context.Context) (*Found, error) {
	gates, err := q.prepare(ctx)
	if err != nil {
		return nil, err
	}
	c, err := q.compared(ctx)
	if c == nil {
		return nil, err
	}
	f := &Found{Comparison: c, again: q.Show != ""}
	f.judgeGates(gates)
	if page := q.Store.ReportPath(c.ID); isFile(page) {
		f.Page = page
	}
	return f, cmp.Or(err, q.System.Page.Write(c.HTML), q.Files.Write(f.report()))
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// prepare reads gates and the log, and checks the files, before anything begins.
func (q *Request) prepare(ctx context.Context) (gates []badVerdict, err error) {
	if gates, err = parseGates(q.FailIf); err == nil {
		err = q.Files.Check()
	}
	if err != nil || q.Show != "" {
		return gates, err
	}
	if err = kept.CheckTags(q.System.Label.Tags); err == nil {
		err = q.readLog(ctx)
	}
	return gates, err
}

// compared is a new comparison or the one to show, with the one that is to stand beside it.
func (q *Request) compared(ctx context.Context) (c *Comparison, err error) {
	var other *Comparison
	if q.Show != "" {
		c, err = q.shown()
	}
	if err == nil && q.Beside != "" {
		other, err = q.Store.Named(q.Beside)
	}
	if err == nil && c == nil {
		return q.made(ctx, other)
	}
	if err == nil && other != nil {
		err = c.StandBeside(other)
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// made is a new comparison, with another one beside it unless nil.
func (q *Request) made(ctx context.Context, other *Comparison) (*Comparison, error) {
	if other != nil {
		if err := other.MayStandBeside(q.Metric); err != nil {
			return nil, err
		}
	}
	q.Store.Beginning = q.System.Label
	c, err := q.Run(ctx)
	if c == nil {
		return nil, err
	}
	err = cmp.Or(err, q.Store.AddLabel(c.ID, q.System.Label))
	if other != nil && err == nil {
		err = c.StandBeside(other)
	}
	return c, err
}

// shown is a stored comparison.
func (q *Request) shown() (*Comparison, error) {
	if err := q.System.Page.Check(); err != nil {
		return nil, err
	}
	if len(q.Systems) > 0 {
		return nil, problem.New(problem.Usage, errors.New("--show takes no systems"), "leave them out")
	}
	return q.Store.Named(q.Show)
}
