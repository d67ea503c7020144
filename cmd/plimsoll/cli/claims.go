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
	Answers    *claims.Answers    `json:"answers,omitempty"` // that make the verdict; absent in results of before
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
		v := claimView{Claim: c, Conditions: []claims.Condition{}}
		e, tested := experiments.For(c.ID)
		v.Verdict = c.Unproven(tested)
		if tested {
			v.plan = e.Plan(o.sizes())
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
	v.Answers = k.Answers
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
	var tally claims.Tally
	byID := map[string]claimView{}
	for _, v := range views {
		tally.Add(v.Verdict, v.OfOther != "")
		byID[v.ID] = v
	}
	fmt.Fprintf(a.stdout, "%-5s %-*s  %s\n", "CLAIM", verdictWidth, "VERDICT", "WHEN")
	for i, report := range claims.Reports {
		fmt.Fprintf(a.stdout, "\nReport %c: %s\n", 'A'+i, report.Title)
		for _, c := range report.Claims {
			a.lineOf(byID[c.ID])
		}
	}
	fmt.Fprint(a.stdout, "\n", report.Wrap(strings.Join(tally.Texts(), ", "),
		fmt.Sprintf("%d claims: ", len(views)), "    "))
}

// verdictWidth of the table: of the longest words but one.
const verdictWidth = 23

func (v claimView) words() string { return v.Verdict.Words(v.Answers) }

// painted leaves a stale verdict without colour: it counts for nothing.
func (a *app) painted(v claimView, text string) string {
	if v.OfOther != "" {
		return text
	}
	return a.paint(v.Verdict, text)
}

func (a *app) lineOf(v claimView) {
	const indent = 20
	when := v.when()
	if v.OfOther != "" {
		when += "  stale"
	}
	fmt.Fprintf(a.stdout, "%-5s %s  %s\n", v.ID, a.painted(v, fmt.Sprintf("%-*s", verdictWidth, v.words())), when)
	row := func(name, text string) {
		fmt.Fprint(a.stdout, report.Wrap(text, fmt.Sprintf("%*s", indent, name), strings.Repeat(" ", indent)))
	}
	row("statement ", v.Statement)
	row("claimed   ", v.Claimed)
	if v.TakesS > 0 {
		row("takes     ", fmt.Sprintf("about %s: %s", human.Roughly(v.plan.Takes), v.plan.Text))
	}
	if v.NotHere != "" {
		row("because   ", v.NotHere)
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
	fmt.Fprintf(a.stdout, "  verdict     %s%s\n", a.painted(v, v.words()), v.marks())
	if v.NotHere != "" {
		row("because", v.NotHere)
	}
	if v.Answers != nil {
		row("direction", string(v.Answers.Direction))
		row("size", string(v.Answers.Size))
		for i, met := range v.Answers.Situation {
			row(map[bool]string{true: "situation"}[i == 0], met.Text())
		}
	}
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
