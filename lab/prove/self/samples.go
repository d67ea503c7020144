package self

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"plimsoll/lab/run"
	"plimsoll/lab/view/samples"
	"plimsoll/lab/view/samples/keep"
)

// samplesAgain makes the figures of a run from its single operations, by code that shares nothing with the run's: none
// differs, and one that is changed is named.
func samplesAgain(ctx context.Context, s *stage) (out outcome, err error) {
	path := filepath.Join(s.dir, "samples.parquet")
	var file *keep.File
	m, err := s.measure(ctx, plant{"timeouts", look, 4 * time.Second, func(o *run.Options) {
		o.Timeout = 500 * time.Millisecond
		if file, err = keep.Create(path, keep.HeadOf(o.Load)); err == nil {
			o.Ended = file.Add
		}
	}})
	if file == nil {
		return out, err
	}
	if err = errors.Join(err, file.Close(m.Result)); err != nil || ctx.Err() != nil {
		return out, err
	}
	figures, err := samples.Recompute(path)
	if err != nil {
		return out, err
	}
	text, err := json.Marshal(m.Result)
	var printed samples.Printed
	if err = errors.Join(err, json.Unmarshal(text, &printed)); err != nil {
		return out, err
	}
	differ := figures.Against(printed)
	rate := printed.OpsPerS
	printed.OpsPerS *= 1.01
	changed := figures.Against(printed)
	return m.outcome([]Figure{
		equal("operations in the samples", m.served(), figures.Ops),
		equal("failed in the samples", m.Errors, figures.Errors),
		states("figures that differ", "none", names(differ), len(differ) == 0),
		states(fmt.Sprintf("with a rate of %s for %s", short(printed.OpsPerS), short(rate)), "one differs",
			names(changed), len(changed) == len(differ)+1),
	}), nil
}

func names(all []samples.Difference) string {
	var figures []string
	for _, d := range all {
		figures = append(figures, d.Figure)
	}
	if len(figures) == 0 {
		return "none"
	}
	return strings.Join(figures, ", ")
}
