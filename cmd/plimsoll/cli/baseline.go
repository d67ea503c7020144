package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"plimsoll/ground/problem"
	"plimsoll/lab/load/gate"
	"plimsoll/lab/prove/compare"
	"plimsoll/lab/prove/compare/verdict"
	"plimsoll/lab/run/result"
	"plimsoll/lab/run/store"
	"plimsoll/lab/view/archive"
)

// baselineUsage says what stored runs may be named by.
const baselineUsage = "an archive of 'plimsoll export', a folder of such archives, a run, latest:N for the newest N, " +
	"or a comparison, whose first side it is"

// latestOf is latest:N.
const latestOf = store.Latest + ":"

// loadRuns reads what each name stands for: one run, or several.
func (a *app) loadRuns(names []string) (all []*result.Result, err error) {
	for _, name := range names {
		some, err := a.runsNamed(name)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

func (a *app) runsNamed(name string) ([]*result.Result, error) {
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		return a.runsOfFolder(name)
	case archive.Is(name):
		return runsOfArchive(name)
	case strings.HasPrefix(name, latestOf):
		return a.latestRuns(strings.TrimPrefix(name, latestOf))
	}
	r, err := a.loadRun(name)
	if err == nil {
		return []*result.Result{r}, nil
	}
	if c, failed := compare.DefaultStore().Load(name); failed == nil && name != store.Latest {
		return a.runsOfSide(c)
	}
	return nil, err
}

func runsOfArchive(name string) (all []*result.Result, err error) {
	kept, err := archive.Read(name)
	if err != nil {
		return nil, err
	}
	for _, run := range kept.Runs {
		all = append(all, run.Result)
	}
	return all, nil
}

// runsOfFolder are those of its archives.
func (a *app) runsOfFolder(name string) (all []*result.Result, err error) {
	err = filepath.WalkDir(name, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() || !archive.Is(path) {
			return err
		}
		some, err := runsOfArchive(path)
		all = append(all, some...)
		return err
	})
	switch {
	case err != nil && !problem.Classified(err):
		return nil, problem.New(problem.Usage, fmt.Errorf("read baseline: %w", err), "")
	case err == nil && len(all) == 0:
		err = problem.New(problem.Usage, fmt.Errorf("read baseline: %s has no archive (.tar.zst, .zip)", name),
			"'plimsoll export --archive FILE' writes one")
	}
	return all, err
}

func (a *app) latestRuns(count string) ([]*result.Result, error) {
	n, err := strconv.Atoi(count)
	if err != nil || n < 1 {
		return nil, problem.New(problem.Usage, fmt.Errorf("%s%s: it takes a number of runs", latestOf, count),
			"such as latest:4")
	}
	a.recoverRuns()
	ids, err := store.Default().IDs()
	if err == nil && len(ids) < n {
		err = problem.New(problem.Usage, fmt.Errorf("%s%d: %d runs are stored", latestOf, n, len(ids)),
			"'plimsoll runs' lists them")
	}
	if err != nil {
		return nil, err
	}
	return a.loadRuns(ids[:n])
}

// runsOfSide are those of a comparison's first side that count.
func (a *app) runsOfSide(c *compare.Comparison) (all []*result.Result, err error) {
	for _, r := range c.Runs {
		if r.Side != compare.Letter(0) || r.Phase != compare.Load || r.Void != "" {
			continue
		}
		one, err := store.Default().Load(r.Run)
		if err != nil {
			return nil, problem.New(problem.Usage, fmt.Errorf("comparison %s: %w", c.ID, err),
				"its runs are no longer stored")
		}
		all = append(all, one)
	}
	if len(all) == 0 {
		err = problem.New(problem.Usage, fmt.Errorf("comparison %s has no run of its first side", c.ID), "")
	}
	return all, err
}

// againstGate adds what the baseline says to the gates of a run.
func againstGate(r *result.Result, names []string, stored []*result.Result, margin float64) *compare.Past {
	p := compare.OfPast(stored, []*result.Result{r}, compare.MetricDefault, margin)
	one := result.Gate{Gate: "worse than " + strings.Join(names, ", "), Figure: p.Metric.Name, Unit: gate.Ratio,
		Limit: 1, Operations: r.Ops, Because: strings.TrimPrefix(p.Says, "cannot be decided: ")}
	if h := p.Headline; h.Scale == verdict.Ratio && h.Runs[0] > 0 {
		one.Measured, one.Interval = &h.Effect, &result.Range{Low: h.Low, High: &h.High}
	}
	switch p.Verdict {
	case verdict.NotWorse:
		one.Verdict = result.GatePassed
	case verdict.Worse:
		one.Verdict = result.GateFailed
	default:
		one.Verdict = result.GateUndecided
	}
	r.Gates = append(slices.Clip(r.Gates), one)
	return p
}

// judgePast is why new runs do not pass against stored ones; nil: they do.
func judgePast(p *compare.Past) error {
	switch p.Verdict {
	case verdict.NotWorse:
		return nil
	case verdict.Worse:
		return problem.New(problem.Threshold, errors.New(p.Says), "")
	}
	hint := "what cannot be decided does not pass: make more runs, or raise --margin"
	if len(p.Differences) > 0 {
		hint = "'plimsoll compare A B' measures both in turns under the same conditions; else begin a new baseline"
	}
	return problem.New(problem.Threshold, errors.New(p.Says), hint)
}
