package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"plimsoll/ground/human"
	"plimsoll/ground/problem"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/peers"
	"plimsoll/lab/prove/self"
)

// proveSelf tests the instrument and shows each line as soon as it has ended.
func (a *app) proveSelf(ctx context.Context, args []string, o proveOptions) error {
	if len(args) > 0 || o.all || o.report != "" || o.archive != "" || o.from != "" || o.budget > 0 {
		return problem.New(problem.Usage, errors.New("--self and claims exclude each other"),
			"leave out the claims, --all, --report, --archive, --from and --budget; --only names lines")
	}
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	options := self.Options{
		Rounds: o.repeat, Only: o.only, Long: o.long, Pairs: o.pairs, DisturbedLimit: o.disturbed, Engine: o.engine,
		Database: self.Temporary(a.clusters(), o.engine), Program: []string{program},
		Step: func(share float64, left time.Duration, name string) { a.meter.UpdateLeft(share, left, name) },
		Ended: func(l self.Line) {
			if !a.json {
				a.showSelfLine(l, o.repeat)
			}
		},
	}
	lines, takes, err := options.Plan()
	if err != nil {
		return err
	}
	a.meter.Say("%d lines, about %s", o.repeat*lines, human.Roughly(time.Duration(o.repeat)*takes))
	a.meter.Phase("self-test", 1, "")
	report, err := self.Run(ctx, options)
	a.meter.End()
	if shown := a.showSelf(report); err == nil {
		err = shown
	}
	switch wrong := report.WrongLines(); {
	case ctx.Err() != nil:
		return problem.New(problem.Interrupted, fmt.Errorf("stopped after %d lines", len(report.Lines)), "")
	case err != nil:
		return fmt.Errorf("prove --self: %w", err)
	case len(wrong) > 0:
		return problem.New(problem.Threshold, fmt.Errorf("the instrument is wrong: %s", strings.Join(wrong, ", ")), "")
	}
	return nil
}

func (a *app) showSelf(report self.Report) error {
	if a.json {
		return a.emit(report)
	}
	_, err := fmt.Fprintf(a.stdout, "\n%d lines: %d right, %d wrong, %d void\n", len(report.Lines), report.Right,
		report.Wrong, report.Void)
	return err
}

func (a *app) showSelfLine(l self.Line, rounds int) {
	colour := map[self.Verdict]claims.Verdict{self.Right: claims.Confirmed, self.Wrong: claims.Refuted,
		self.Void: claims.Inconclusive}
	round := ""
	if rounds > 1 {
		round = fmt.Sprintf(" (%d of %d)", l.Round, rounds)
	}
	verdict := a.paint(colour[l.Verdict], fmt.Sprintf("%-5s", l.Verdict))
	fmt.Fprintf(a.stdout, "%s  %s: %s%s\n", verdict, l.Name, l.Planted, round)
	for _, f := range l.Figures {
		if f.Shown {
			fmt.Fprintf(a.stdout, "     - %-32s served   %s\n       %-32s reported %s\n", f.Name, f.Expected, "",
				f.Reported)
			continue
		}
		mark := " "
		if !f.Holds {
			mark = "!"
		}
		fmt.Fprintf(a.stdout, "     %s %-32s expected %-24s reported %s\n", mark, f.Name, f.Expected, f.Reported)
	}
	a.showTrials(l.Trials)
	if l.Why != "" {
		fmt.Fprintf(a.stdout, "       %s: %s\n", l.Verdict, l.Why)
	}
}

// showTrials as a table for each load: what each generator cost, and what it reported beside the truth.
func (a *app) showTrials(trials []self.Trial) {
	for len(trials) > 0 {
		load := trials[0].Load
		n := slices.IndexFunc(trials, func(t self.Trial) bool { return t.Load != load })
		if n < 0 {
			n = len(trials)
		}
		a.showLoad(load, trials[:n])
		trials = trials[n:]
	}
}

// showLoad as a table of Markdown, which the page of figures takes as it stands.
func (a *app) showLoad(load string, trials []self.Trial) {
	figure := func(x float64) string { return human.Figure(x, 3) }
	fmt.Fprintf(a.stdout, "\n### %s\n\n", load)
	w := tabwriter.NewWriter(a.stdout, 0, 0, 1, ' ', 0)
	row := func(cells ...string) { fmt.Fprintf(w, "| %s\t|\n", strings.Join(cells, "\t| ")) }
	row("", "requests", "reported", "per s", "CPU µs each", "memory MB", "p50 ms", "p95 ms", "p99 ms", "max ms")
	row("---", "---:", "---:", "---:", "---:", "---:", "---:", "---:", "---:", "---:")
	var missing []self.Trial
	for _, t := range trials {
		if t.Missing != "" {
			missing = append(missing, t)
			continue
		}
		row(t.Generator, received(t), reported(*t.Report), human.Known(t.PerS, "", figure),
			human.Known(t.ProcessorUS, "", figure), human.Known(t.MemoryMB, "", figure), figure(t.Report.P50),
			figure(t.Report.P95), figure(t.Report.P99), figure(t.Report.Max))
	}
	_ = w.Flush() // to a terminal
	if len(missing) > 0 {
		fmt.Fprintln(a.stdout) // what follows a table at once is a row of it
	}
	for _, t := range missing {
		fmt.Fprintf(a.stdout, "- %s: %s\n", t.Generator, t.Missing)
	}
}

// received by the server, of those that were due.
func received(t self.Trial) string {
	if t.Due > 0 {
		return human.Thousands(t.Requests) + " of " + human.Thousands(t.Due)
	}
	return human.Thousands(t.Requests)
}

// reported are the answers that a generator counted, and its failures.
func reported(r peers.Report) string {
	if r.Failed > 0 {
		return human.Thousands(r.Answers) + ", " + human.Thousands(r.Failed) + " failed"
	}
	return human.Thousands(r.Answers)
}
