package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"plimsoll/ground/human"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/view/report"
)

// claimView is one claim with what is known about it here.
type claimView struct {
	claims.Claim
	Measured   *string            `json:"measured"` // null: never, on any machine
	Verdict    claims.Verdict     `json:"verdict"`
	Conditions []claims.Condition `json:"conditions"`
	Figures    []claims.Figure    `json:"figures,omitempty"`
	At         *time.Time         `json:"at,omitempty"`
	TookS      float64            `json:"took_s,omitempty"`
	// estimated duration of the experiment; absent if there is none
	TakesS float64 `json:"takes_s,omitempty"`
	// Rules are what would confirm the claim, and what would refute it; absent if there is no experiment.
	Rules    string          `json:"rules,omitempty"`
	Engine   string          `json:"engine,omitempty"`
	Software string          `json:"software,omitempty"`
	Machine  *claims.Machine `json:"machine,omitempty"`
	Partial  bool            `json:"partial,omitempty"`
	plan     site.Plan
	// OfOther names what differs from the machine, kernel, engine or version of the finding.
	OfOther string `json:"of_other,omitempty"`
}

// showClaims shows what is stored about these claims: a line or two of each, or everything.
func (a *app) showClaims(ctx context.Context, chosen []claims.Claim, o proveOptions, whole bool) error {
	views, err := a.claimViews(ctx, chosen, o)
	if err != nil {
		return err
	}
	if a.json {
		return a.emit(map[string][]claimView{"claims": views})
	}
	if whole {
		for _, v := range views {
			a.showClaim(v)
		}
		return nil
	}
	a.tableOfClaims(views)
	return nil
}

func (a *app) claimViews(ctx context.Context, chosen []claims.Claim, o proveOptions) ([]claimView, error) {
	store, here, bench := claims.OpenStore(""), claims.Here(), a.benchNow(ctx, o)
	views := []claimView{}
	for _, c := range chosen {
		v := claimView{Claim: c, Verdict: claims.NotYet, Conditions: []claims.Condition{}}
		e, tested := experiments.For(c.ID)
		if tested {
			v.Verdict, v.plan = claims.NotRun, e.Plan(o.sizes())
			v.TakesS, v.Rules = v.plan.Takes.Seconds(), v.plan.Rules
		}
		k, ok, err := store.Load(c.ID)
		if err != nil {
			return nil, err
		}
		if ok {
			engine := ""
			if tested {
				engine = engineOfClaim(ctx, e, bench)
			}
			v.take(k, k.Elsewhere(here, engine, software().Version))
		}
		views = append(views, v)
	}
	return views, nil
}

// benchNow is where an experiment would measure now.
func (a *app) benchNow(ctx context.Context, o proveOptions) site.Bench {
	b := o.sizes()
	b.Clusters, b.Engine = a.clusters(), o.engine
	if name, err := a.clusters().Choose(ctx, o.cluster); err == nil {
		b.Cluster = name
	}
	return b
}

func (v *claimView) take(k claims.Record, elsewhere string) {
	v.Measured, v.Verdict, v.Conditions, v.Figures = &k.Measured, k.Verdict, k.Conditions, k.Figures
	v.At, v.TookS, v.Engine, v.Software, v.Machine = &k.At, k.TookS, k.Engine, k.Software, &k.Machine
	v.Partial, v.OfOther = k.Partial, elsewhere
}

func (v claimView) marks() string {
	var marks []string
	if v.Partial {
		marks = append(marks, "stopped early")
	}
	if v.OfOther != "" {
		marks = append(marks, "of another "+v.OfOther)
	}
	if len(marks) == 0 {
		return ""
	}
	return " (" + strings.Join(marks, ", ") + ")"
}

func (v claimView) when() string {
	if v.At == nil {
		return "-"
	}
	return v.At.Local().Format("2006-01-02 15:04")
}

// tableOfClaims puts each claim's statement, what is claimed and what was measured one below the other: no terminal is
// wide enough to put them side by side.
func (a *app) tableOfClaims(views []claimView) {
	counts := map[claims.Verdict]int{}
	byID := map[string]claimView{}
	for _, v := range views {
		counts[v.Verdict]++
		byID[v.ID] = v
	}
	fmt.Fprintf(a.stdout, "%-5s %-12s  %s\n", "CLAIM", "VERDICT", "WHEN")
	for i, report := range claims.Reports {
		fmt.Fprintf(a.stdout, "\nReport %c: %s\n", 'A'+i, report.Title)
		for _, c := range report.Claims {
			a.lineOf(byID[c.ID])
		}
	}
	fmt.Fprintf(a.stdout, "\n%d claims: %d confirmed, %d refuted, %d inconclusive, %d not run, %d not yet\n",
		len(views),
		counts[claims.Confirmed], counts[claims.Refuted], counts[claims.Inconclusive], counts[claims.NotRun],
		counts[claims.NotYet])
}

func (a *app) lineOf(v claimView) {
	const indent = 20
	fmt.Fprintf(a.stdout, "%-5s %s  %s\n", v.ID, a.paint(v.Verdict, fmt.Sprintf("%-12s", v.Verdict)), v.when())
	row := func(name, text string) {
		fmt.Fprint(a.stdout, report.Wrap(text, fmt.Sprintf("%*s", indent, name), strings.Repeat(" ", indent)))
	}
	row("statement ", v.Statement)
	row("claimed   ", v.Claimed)
	if v.TakesS > 0 {
		row("takes     ", fmt.Sprintf("about %s: %s", human.Roughly(v.plan.Takes), v.plan.Text))
	}
	if v.Measured != nil {
		row("measured  ", *v.Measured+v.marks())
	}
}

func (a *app) showClaim(v claimView) {
	row := func(name, text string) {
		fmt.Fprint(a.stdout, report.Wrap(text, fmt.Sprintf("  %-10s  ", name), strings.Repeat(" ", 14)))
	}
	fmt.Fprint(a.stdout, report.Wrap(v.Statement, v.ID+"  ", "     "))
	row("claimed", v.Claimed)
	if v.Measured != nil {
		row("measured", *v.Measured)
	}
	fmt.Fprintf(a.stdout, "  verdict     %s%s\n", a.paint(v.Verdict, string(v.Verdict)), v.marks())
	if v.At != nil {
		fmt.Fprintf(a.stdout, "  when        %s, took %.0f s\n", v.when(), v.TookS)
	}
	for i, c := range v.Conditions {
		head := ""
		if i == 0 {
			head = "conditions"
		}
		row(head, c.Name+": "+c.Text)
	}
}
