package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"plimsoll/ground/host/cpu"
	"plimsoll/ground/host/memory"
	"plimsoll/ground/host/process"
	"plimsoll/lab/prove/peers"
)

const (
	lookEvery = 100 * time.Millisecond
	// comeWithin is how long it may take until all users have called once, beyond ramp and think time.
	comeWithin = 90 * time.Second
)

// trial is one generator doing one kind of work, once.
type trial struct {
	Generator string `json:"generator"`
	Version   string `json:"version"`
	Work      work   `json:"work"`
	Round     int    `json:"round"`
	// Wrong says why there are no figures.
	Wrong string `json:"wrong,omitempty"`

	Rate      float64      `json:"requests_per_s"`     // seen by the application in the window
	Cores     float64      `json:"generator_cores"`    // CPU seconds per second
	Served    float64      `json:"application_cores"`  // of the application
	Resident  float64      `json:"resident_bytes_max"` // of the generator, the maximum seen
	Refused   int64        `json:"refused"`            // by the application: not the request asked for
	Own       peers.Report `json:"own"`
	WindowSec float64      `json:"window_s"`
}

// bench is what all trials share.
type bench struct {
	options
	programs map[string]string
	folder   string
}

// do runs a trial against a new application, so that earlier trials have not used up its ports. A failure of the
// generator is in the trial; the error is the bench's own.
func (b *bench) do(ctx context.Context, g peers.Tool, w work, round int) (trial, error) {
	t := trial{Generator: g.Name, Version: g.Version, Work: w, Round: round}
	app, err := startApplication()
	if err != nil {
		return t, err
	}
	defer app.end()
	j := w.job(b.options)
	j.Base = app.at.Application
	j.Folder = filepath.Join(b.folder, fmt.Sprintf("%s-%s-%d-%d", g.Name, w.Kind, w.Users, round))
	child, err := b.start(g, j)
	if err != nil {
		return t, err
	}
	err = (&watch{bench: b, application: app, child: child, trial: &t}).work(ctx)
	if err != nil {
		_ = child.SignalGroup(syscall.SIGKILL)
	}
	endChild(child)
	if err == nil {
		t.Own, err = g.Read(j)
	}
	if err != nil && ctx.Err() == nil {
		t.Wrong = fmt.Sprintf("%v (see %s)", err, j.Folder)
	}
	return t, ctx.Err()
}

// start the generator; its output goes to its folder.
func (b *bench) start(g peers.Tool, j peers.Job) (*process.Child, error) {
	if err := os.MkdirAll(j.Folder, 0o755); err != nil {
		return nil, err
	}
	cmd, err := g.Command(b.programs[g.Name], j)
	if err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(j.Folder, "log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	if cmd.Stderr = log; cmd.Stdout == nil {
		cmd.Stdout = log
	} else if file, ok := cmd.Stdout.(*os.File); ok {
		defer file.Close()
	}
	child, err := process.StartChild(cmd, syscall.SIGKILL)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", g.Name, err)
	}
	return child, nil
}

// watch observes a running generator.
type watch struct {
	*bench
	application *application
	child       *process.Child
	trial       *trial
}

func (w *watch) work(ctx context.Context) error {
	if w.trial.Work.Kind == stalled {
		return w.stall(ctx)
	}
	return w.window(ctx)
}

// look waits a moment; it fails if the generator has ended or uses too much memory.
func (w *watch) look(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-w.child.Exited():
		return fmt.Errorf("it stopped too early: %w", cmp.Or(w.child.Err(), errors.New("exit status 0")))
	case <-time.After(lookEvery):
	}
	resident, err := memory.Tree(w.child.ID(), memory.Resident)
	if err != nil {
		return nil // it is about to end
	}
	w.trial.Resident = max(w.trial.Resident, float64(resident))
	if most := w.memory << 30; resident > most {
		return fmt.Errorf("it took more than %d GB", w.memory)
	}
	return nil
}

// until observes until the application's report satisfies enough.
func (w *watch) until(ctx context.Context, within time.Duration, enough func(report) bool) (seen report, err error) {
	for end := time.Now().Add(within); ; {
		if seen, err = w.application.report(ctx); err != nil || enough(seen) {
			return seen, err
		}
		if time.Now().After(end) {
			return seen, fmt.Errorf("only %d of %d users started within %s", seen.Users, w.trial.Work.Users, within)
		}
		if err := w.look(ctx); err != nil {
			return seen, err
		}
	}
}

// moment holds the counters at one time.
type moment struct {
	at                time.Time
	report            report
	generator, served time.Duration
}

func (w *watch) moment(ctx context.Context) (m moment, err error) {
	var errs [3]error
	m.at = time.Now()
	m.generator, errs[0] = cpu.Process(w.child.ID().PID)
	m.served, errs[1] = cpu.Process(w.application.child.ID().PID)
	m.report, errs[2] = w.application.report(ctx)
	return m, errors.Join(errs[:]...)
}

// window begins when every user has called once, so that all of them are active.
func (w *watch) window(ctx context.Context) error {
	users := int64(w.trial.Work.Users)
	if _, err := w.until(ctx, w.ramp+w.think+comeWithin, func(t report) bool { return t.Users >= users }); err != nil {
		return err
	}
	return w.measure(ctx, w.bench.window)
}

func (w *watch) measure(ctx context.Context, d time.Duration) error {
	from, err := w.moment(ctx)
	if err != nil {
		return err
	}
	for first := true; first || time.Since(from.at) < d; first = false {
		if err := w.look(ctx); err != nil {
			return err
		}
	}
	to, err := w.moment(ctx)
	if err == nil {
		w.trial.setWindow(from, to)
	}
	return err
}

// setWindow sets the figures of the window between two moments.
func (t *trial) setWindow(from, to moment) {
	t.WindowSec = to.at.Sub(from.at).Seconds()
	t.Rate = float64(to.report.Requests-from.report.Requests) / t.WindowSec
	t.Cores = (to.generator - from.generator).Seconds() / t.WindowSec
	t.Served = (to.served - from.served).Seconds() / t.WindowSec
	t.Refused = to.report.Refused
}

// stall makes the application stand still in the middle of a load that ends by itself.
func (w *watch) stall(ctx context.Context) error {
	if _, err := w.until(ctx, comeWithin, func(t report) bool { return t.Requests > 0 }); err != nil {
		return err
	}
	for began := time.Now(); time.Since(began) < stallAfter; {
		if err := w.look(ctx); err != nil {
			return err
		}
	}
	if err := w.application.stall(ctx, stallFor); err != nil {
		return err
	}
	select {
	case <-w.child.Exited():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(stallLasting + comeWithin):
		return errors.New("it did not stop")
	}
}
