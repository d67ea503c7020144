package crash

import (
	"context"
	"encoding/json"
	"errors"

	"plimsoll/ground/host/kept"
)

// line of a file of results has one of three things.
type line struct {
	Conditions *Conditions `json:"conditions,omitempty"`
	Load       *loadLine   `json:"load,omitempty"`
	Cut        *Cut        `json:"cut,omitempty"`
}

type loadLine struct {
	Operations int            `json:"operations"`
	Records    uint64         `json:"records,omitempty"`
	Failed     map[string]int `json:"failed,omitempty"`
	// The longest flush of the log, and the longest time for which nobody looked at the log.
	LongestFlushMS float64 `json:"longest_flush_ms,omitempty"`
	LongestGapMS   float64 `json:"longest_gap_ms,omitempty"`
}

// openKept reads what was kept into the report.
func openKept(ctx context.Context, path string, report *Report) (*kept.File, error) {
	k, lines, err := kept.Open(ctx, path, "crash", line{Conditions: &report.Conditions})
	if err != nil {
		return nil, err
	}
	for n, text := range lines {
		var l line
		if err := json.Unmarshal(text, &l); err != nil {
			return nil, errors.Join(kept.Unreadable(path, n, err), k.Close())
		}
		switch {
		case l.Load != nil:
			report.count(*l.Load)
		case l.Cut != nil:
			report.Cuts = append(report.Cuts, *l.Cut)
		}
	}
	return k, nil
}
