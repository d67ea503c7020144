package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/ground/problem"
	"plimsoll/lab/run"
	"plimsoll/lab/run/live"
	"plimsoll/lab/run/result"
	"plimsoll/lab/run/store"
	"plimsoll/lab/view/dashboard"
	"plimsoll/lab/view/report"
)

// viewOptions say how a run is shown while it lasts.
type viewOptions struct {
	ui, uiStay bool
	uiAddress  string
	view       string
}

// Views of a run in a terminal.
const (
	viewTable = "table"
	viewLine  = "line"
)

func viewFlags(c *cobra.Command, o *viewOptions) {
	fs := c.Flags()
	fs.BoolVar(&o.ui, "ui", false, "serve a live dashboard for a browser, with controls; prints its URL")
	fs.StringVar(&o.uiAddress, "ui-address", dashboard.AddressDefault,
		"`HOST:PORT` of the dashboard, on loopback; port 0 takes any that is free")
	fs.BoolVar(&o.uiStay, "ui-stay", false, "keep the dashboard, with the result and the report, until Ctrl-C")
	config.Choice(fs, &o.view, "view", "", []string{viewTable, viewLine},
		"progress as a live table or one line (default: a table on a terminal, a line elsewhere)")
}

// idle flags of the views.
func (o viewOptions) idle() idle {
	return idle{!o.ui, []string{"ui-address", "ui-stay"}, "has no effect without --ui", "add --ui"}
}

// views are the views of one run; without any, the zero value.
type views struct {
	app     *app
	picture *live.Picture
	table   bool
	control *run.LoadControl
	server  *dashboard.Server
	stay    bool
}

// openViews opens the views before anything long begins.
func (a *app) openViews(o viewOptions) (*views, error) {
	l := &views{app: a, stay: o.uiStay, table: !a.quiet && (o.view == viewTable || o.view == "" && a.meter.Redraws())}
	if !o.ui && !l.table {
		return l, nil
	}
	l.picture = live.New(nil)
	if !o.ui {
		return l, nil
	}
	l.control = &run.LoadControl{}
	var err error
	if l.server, err = dashboard.Start(o.uiAddress, l.picture, l.control); err != nil {
		return nil, err
	}
	fmt.Fprintf(a.stderr, "dashboard: %s\n", l.server.URL()) // also for the quiet: without it there is none
	return l, nil
}

// options lets a run be looked at.
func (l *views) options(o *run.Options) {
	o.Live, o.Control = l.picture, l.control
	if l.control != nil {
		o.UsersMost = usersMax
	}
}

// begin shows the table beneath the run's progress.
func (l *views) begin() {
	if l.table {
		l.app.meter.Below(func(width, height int) []string {
			return report.Live(l.picture.Snapshot(),
				report.Screen{Width: width, Height: height,
					Colour: l.app.meter.Redraws() && os.Getenv("NO_COLOR") == ""})
		})
	}
}

// finish shows how it ended.
func (l *views) finish(r *result.Result, err error) {
	if l.server == nil {
		return
	}
	path := ""
	if r != nil {
		if path = store.Default().ReportPath(r.ID); !fileExists(path) {
			path = ""
		}
	}
	l.server.SetReport(path)
	l.picture.Finish(ended(r, err, path, l.stay && path != ""))
}

func ended(r *result.Result, err error, path string, here bool) live.Result {
	if r == nil {
		if err == nil {
			err = errors.New("the run never started")
		}
		return live.Result{Error: err.Error()}
	}
	return live.Result{
		ID: r.ID, Valid: r.Valid, Reasons: slices.Concat(r.InvalidReasons, r.Warnings), Apdex: r.Apdex, Band: r.Band,
		OpsPerS: r.OpsPerS, Ops: r.Ops,
		Audit: report.Audit(r.Audit), Report: path, ReportHere: here,
	}
}

// close ends the dashboard, at once or when the person has seen enough.
func (l *views) close(ctx context.Context) error {
	if l.server == nil {
		return nil
	}
	if l.stay && ctx.Err() == nil {
		fmt.Fprintf(l.app.stderr, "the dashboard stays until Ctrl-C: %s\n", l.server.URL())
		<-ctx.Done()
	}
	return problem.New(problem.Failure, l.server.Close(), "")
}
