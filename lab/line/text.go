package line

import (
	"fmt"
	"io"
	"strings"

	"plimsoll/lab/load/apdex"
	"plimsoll/lab/system"
	"plimsoll/web"
)

// Text writes the search for a terminal.
func (l *Line) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\nLoad line %s  %s\n", l.ID, l.Started.Format("2006-01-02 15:04:05 MST"))
	fmt.Fprintf(&b, "\n  LINE at Apdex %g: %s\n", l.Plan.Target, l.Statement())
	for _, line := range l.details() {
		fmt.Fprintf(&b, "  %s\n", line)
	}
	if l.Limit != nil {
		fmt.Fprintf(&b, "  limited by: %s\n", l.Limit.Resource)
		for _, line := range l.Limit.Evidence {
			fmt.Fprintf(&b, "    %s\n", line)
		}
	}
	if void := l.voidText(); void != "" {
		fmt.Fprintf(&b, "  %s\n", void)
	}
	if !l.Complete {
		fmt.Fprintf(&b, "  not complete: stopped (%s) after %d trials\n", l.StoppedBy(), len(l.Trials))
	}
	b.WriteString("\n")
	if err := l.table().Text(&b, ""); err != nil {
		return err
	}
	b.WriteString("\n" + l.law() + "\n\n")
	for _, line := range l.conditionLines() {
		fmt.Fprintf(&b, "  %s\n", line)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// table of the trials.
func (l *Line) table() web.Table {
	table := web.Table{Columns: []string{"trial", "users", "for", "length", "Apdex", "operations/s", "database CPU",
		"machine CPU", "outcome"}}
	for i, t := range l.Trials {
		score := "-"
		if t.Apdex != nil {
			score = apdex.Text(*t.Apdex)
		}
		table.Rows = append(table.Rows, []string{
			fmt.Sprint(i + 1), fmt.Sprint(t.Users), t.For(), fmt.Sprintf("%.0f s", t.DurationS), score,
			fmt.Sprintf("%.1f", t.OpsPerS), percent(t.CPU.Database), percent(t.CPU.Machine), string(t.Outcome),
		})
	}
	return table
}

// law says what the fit shows, or why there is none.
func (l *Line) law() string {
	if l.Fit == nil {
		return "  scalability law: not fitted: " + l.FitRefused
	}
	f := l.Fit
	text := fmt.Sprintf("  scalability law X(N) = γN/(1+σ(N−1)+κN(N−1)): γ %.4g (%.4g to %.4g), σ %.2g (%.2g to "+
		"%.2g), κ %.2g (%.2g to %.2g)",
		f.Gamma, f.GammaIn.Low, f.GammaIn.High, f.Sigma, f.SigmaIn.Low, f.SigmaIn.High, f.Kappa, f.KappaIn.Low,
		f.KappaIn.High)
	if f.PeakIn == nil {
		return text + "\n  no extrapolation: " + l.FitRefused
	}
	return text + fmt.Sprintf("\n  highest throughput expected at %.0f users (%.0f to %.0f)", f.Peak(), f.PeakIn.Low,
		f.PeakIn.High)
}

// conditionLines list what the line depends on.
func (l *Line) conditionLines() []string {
	lines := append(l.planLines(), l.systemLines()...)
	if machine := l.machineLine(); machine != "" {
		lines = append(lines, machine)
	}
	return lines
}

// planLines describe a trial.
func (l *Line) planLines() []string {
	p := l.Plan
	var load string
	if p.Replay != nil {
		load = p.Replay.String()
	} else {
		load = fmt.Sprintf("scenario %s (%s), think time %s, steady state %.0f s or more, ramp %.0f s, seeds from %d",
			p.Scenario, p.Digest, thinkText(p.ThinkS), p.DurationS, p.RampS, p.Seed)
	}
	return []string{
		load,
		"before each trial: " + map[system.Reset]string{
			system.ResetFilled: "a new copy of the base as it was filled, and a checkpoint",
			system.ResetCopy:   "a new copy of the database, and a checkpoint", system.ResetSQL: "the scenario's reset",
			system.ResetNone: "nothing: each trial sees what earlier ones wrote",
		}[p.Reset],
	}
}

// systemLines describe the system searched.
func (l *Line) systemLines() (lines []string) {
	c := l.conditions()
	if c.Scale != "" {
		lines = append(lines, "base: "+c.Scale)
	}
	if c.Shape != "" {
		lines = append(lines, "shape of the ERP: "+c.Shape)
	}
	if c.Engine.Version != "" {
		lines = append(lines, fmt.Sprintf("engine: PostgreSQL %s, %s, fsync=%s, synchronous_commit=%s",
			c.Engine.Version, c.Engine.Flavour, c.Engine.Settings["fsync"], c.Engine.Settings["synchronous_commit"]))
	}
	return lines
}

func (l *Line) machineLine() string {
	m := l.conditions().Machine
	if m.Cores == 0 {
		return ""
	}
	return fmt.Sprintf("machine: %s, %d cores", m.CPU, m.Cores)
}
