package layout

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

func duration(ns float64) string {
	d := time.Duration(ns)
	switch {
	case d >= time.Millisecond:
		return d.Round(10 * time.Microsecond).String()
	case d >= 10*time.Microsecond:
		return d.Round(time.Microsecond).String()
	}
	return d.Round(10 * time.Nanosecond).String()
}

func inBytes(n int64) string {
	for _, unit := range []struct {
		name  string
		bytes int64
	}{{"GB", 1 << 30}, {"MB", 1 << 20}, {"kB", 1 << 10}} {
		if n >= unit.bytes {
			return strings.TrimSuffix(strconv.FormatFloat(float64(n)/float64(unit.bytes), 'f', 1, 64),
				".0") + " " + unit.name
		}
	}
	return fmt.Sprintf("%d B", n)
}

// settingBytes of a value such as 145MB; 0: none.
func settingBytes(value string) int64 {
	for _, unit := range []struct {
		name  string
		bytes int64
	}{{"GB", 1 << 30}, {"MB", 1 << 20}, {"kB", 1 << 10}} {
		if digits, is := strings.CutSuffix(value, unit.name); is {
			n, _ := strconv.ParseInt(digits, 10, 64)
			return n * unit.bytes
		}
	}
	return 0
}

// Worst of the verdicts.
func (r *Report) Worst() Verdict {
	worst := Trustworthy
	for _, i := range r.Items {
		if i.Verdict == Harmful || i.Verdict == Odd && worst != Harmful {
			worst = i.Verdict
		}
	}
	return worst
}

// Text for a terminal.
func (r *Report) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Topology of %s, taken %s in %.1f s", cmp.Or(r.Machine.CPU, "this machine"),
		r.Taken.Format(time.DateTime), r.TookS)
	if r.Root != "/" {
		fmt.Fprintf(&b, " from the files below %s", r.Root)
	}
	b.WriteString("\n\n")
	for _, i := range r.Items {
		fmt.Fprintf(&b, "%-12s  %-22s %s\n", i.Verdict, i.Name, i.Shows)
		for _, reason := range i.Reasons {
			fmt.Fprintf(&b, "%38s %s\n", "because", reason)
		}
	}
	if len(r.Unavailable) > 0 {
		b.WriteString("\nUNAVAILABLE\n")
		for _, m := range r.Unavailable {
			fmt.Fprintf(&b, "  %s: %s\n", m.Name, m.Why)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// count of things: 1 socket, 2 sockets.
func count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
