package diagnose

import (
	"context"
	"time"

	"plimsoll/ground/postgres/counters"
)

// interimEvery is how often interim results are reported. A reading of all statistics takes some tens of milliseconds.
const interimEvery = 5 * time.Second

// reportInterim gives the diagnosis so far.
func (w *watch) reportInterim(ctx context.Context, o Options, before *counters.Reading) error {
	now, err := counters.Read(ctx, w.slow, w.server)
	if err != nil {
		return err
	}
	d := w.conclude(counters.Between(before, now), nil, sources{}, o) // the log is read once, at the end
	d.AskedS, d.LastedS = o.Duration.Seconds(), time.Since(w.began).Seconds()
	o.Interim(d)
	return nil
}
