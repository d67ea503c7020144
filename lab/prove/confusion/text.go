package confusion

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"plimsoll/ground/human"
)

// Text writes the matrix, planted by named, and the scores.
func (r *Report) Text(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "\nPLANTED\ttrials\tvoid\tNAMED above a note: how often\n")
	var order []string
	for _, trial := range r.Trials {
		if !slices.Contains(order, trial.Plant) {
			order = append(order, trial.Plant)
		}
	}
	for _, name := range order {
		r.row(t, name)
	}
	scores(t, "\nSCORE (right - 0.1 wrong) / causes", r.Scores)
	if len(r.Conditions) > 0 {
		scores(t, "\nNEW SET, by what a trial drew", r.Conditions)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\na commit takes %.2f ms here alone\n"+
		"* right   / half: near the cause, or the cause without its object   ! wrong   (h) hidden, unseen\n"+
		"= true beside the cause   ~ not planted, but true: other programs or the hypervisor took the processors\n",
		r.CommitMS)
	return err
}

func scores(w io.Writer, title string, all []Score) {
	fmt.Fprintf(w, "%s\ttrials\tvoid\tcauses\tright\thalf\twrong\tfalse\tharmful\tscore\twith halves\n", title)
	known := func(x *float64) string {
		return human.Known(x, "-", func(x float64) string { return fmt.Sprintf("%.3f", x) })
	}
	for _, s := range all {
		if s.Trials > 0 {
			fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%s\t%s\n", s.Of, s.Trials, s.Void, s.Causes, s.Right,
				s.Half, s.Wrong, s.False, s.Harmful, known(s.Score), known(s.Halves))
		}
	}
}

func (r *Report) row(w io.Writer, plant string) {
	trials, void, hidden := 0, 0, false
	named, order := map[string]int{}, []string{}
	for _, t := range r.Trials {
		if t.Plant != plant {
			continue
		}
		trials++
		hidden = t.Hidden
		if t.Void != "" {
			void++
			continue
		}
		for _, n := range t.Named {
			name := map[Verdict]string{Right: "*", Half: "/", True: "=", Wrong: "!", Machine: "~"}[n.Verdict] + n.Name
			if named[name] == 0 {
				order = append(order, name)
			}
			named[name]++
		}
	}
	var cells []string
	for _, name := range order {
		cells = append(cells, fmt.Sprintf("%s %d", name, named[name]))
	}
	if len(cells) == 0 {
		cells = []string{"nothing"}
	}
	name := plant
	if hidden {
		name += " (h)"
	}
	fmt.Fprintf(w, "%s\t%d\t%d\t%s\n", name, trials, void, strings.Join(cells, ", "))
}

// Line of a trial, for a terminal.
func (t Trial) Line() string {
	var named []string
	for _, n := range t.Named {
		price := "?"
		if n.Price != nil {
			price = fmt.Sprintf("%.0f %%", 100**n.Price)
		}
		named = append(named, fmt.Sprintf("%s %s (%s)", n.Name, price, n.Verdict))
	}
	verdict := "right"
	switch {
	case t.Void != "":
		verdict = "void"
	case len(t.Missed) > 0:
		verdict = "missed"
	case len(t.Halves) > 0:
		verdict = "half"
	}
	text := fmt.Sprintf("%-6s  %s: named %s; %s; other programs %.0f %%, stolen %.0f %%", verdict, t.Plant,
		cmp.Or(strings.Join(named, ", "), "nothing"), cmp.Or(strings.Join(t.Figures, "; "), "nothing"),
		100*t.Strangers, 100*t.Stolen)
	if t.Conditions != nil {
		text += "; " + t.Conditions.String()
	}
	for _, one := range []struct {
		what  string
		texts []string
	}{{"says falsely", t.False}, {"advises harm", t.Harmful}} {
		if len(one.texts) > 0 {
			text += fmt.Sprintf("; %s: %s", one.what, strings.Join(one.texts, " | "))
		}
	}
	if t.Failed != "" {
		text += "; the diagnosis failed: " + t.Failed
	}
	return text
}
