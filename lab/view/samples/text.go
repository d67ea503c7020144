package samples

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"
)

// Text writes the figures for a terminal.
func (f *Figures) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\nRun %s, recomputed from its samples\n\n  APDEX %s    95 %% interval %s\n",
		cmp.Or(f.Run, "(not known)"), scoreText(f.Apdex), f.Interval.text("%.3f"))
	fmt.Fprintf(&b, "  %d users, %d operations in %.1f s of steady state, %.1f valid answers per second (%s)\n",
		f.Users, f.Ops, f.DurationS, f.OpsPerS, f.OpsPerSInterval.text("%.1f"))
	fmt.Fprintf(&b, "  %d ok, %d refused, %d errors, %d overload, %d resent, %d bytes\n", f.OK, f.Refused, f.Errors,
		f.Overload, f.Resent, f.Bytes)
	fmt.Fprintf(&b, "  generator's lag: p50 %.1f ms, p99 %.1f ms, max %.1f ms\n", f.LagMSP50, f.LagMSP99, f.LagMSMax)
	for _, s := range f.Standstills {
		fmt.Fprintf(&b, "  no valid answer from %.1f to %.1f s\n", s.FromS, s.ToS)
	}
	b.WriteString("\n")
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "key operation\tcount\trefused\tfailed\tresent\tApdex\tp50 ms\tp95\tp99\tmax\tmean\tdev."+
		"\town wait\t0-T\tT-2T\t2T-3T\t3T-4T\t>4T\t")
	for _, op := range f.Operations {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%s", op.ID, op.Ops, op.Refused, op.Errors+op.Overload, op.Resent,
			scoreText(op.Apdex))
		for _, ms := range []*float64{op.P50MS, op.P95MS, op.P99MS, op.MaxMS, op.MeanMS,
			op.StdDevMS, &op.OwnMeanMS} {
			fmt.Fprintf(t, "\t%s", msText(ms))
		}
		for _, n := range op.HistogramT {
			fmt.Fprintf(t, "\t%d", n)
		}
		fmt.Fprintln(t, "\t")
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if f.Missing > 0 {
		fmt.Fprintf(&b, "\n  %d operations are missing: the disk was too slow for them\n", f.Missing)
	}
	if f.CutAtS != nil {
		fmt.Fprintf(&b, "\n  a process that wrote them died: its samples end at %.1f s\n", *f.CutAtS)
	}
	fmt.Fprintf(&b, "\n  not in samples: %s\n", NotInSamples)
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *Range) text(format string) string {
	switch {
	case r == nil:
		return "-"
	case r.High == nil:
		return fmt.Sprintf(format+" or more", r.Low)
	}
	return fmt.Sprintf(format+"-"+format, r.Low, *r.High)
}

// scoreText is cut after three digits, not rounded.
func scoreText(score *float64) string {
	if score == nil {
		return "-"
	}
	return fmt.Sprintf("%.3f", math.Floor(*score*1000+1e-9)/1000)
}

func msText(ms *float64) string {
	if ms == nil {
		return "-"
	}
	return fmt.Sprintf("%.1f", *ms)
}
