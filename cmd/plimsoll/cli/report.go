package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/ground/host/kept"
	"plimsoll/ground/problem"
	"plimsoll/lab/run/result"
	"plimsoll/lab/run/store"
	"plimsoll/lab/view/archive"
	"plimsoll/lab/view/report"
)

func (a *app) addReport(root *cobra.Command) {
	var html string
	c := a.command(root, groupJob, &cobra.Command{
		Use:   "report [RUN|FILE]... [flags]",
		Short: "Show a run again, write it as HTML, or compare several side by side",
		Long: `Show the result of a run: the last one, one by its id from 'plimsoll runs' (the beginning
is enough), or a file that 'plimsoll run --json' or 'plimsoll export --archive' wrote, on
whatever machine. Several are shown side by side, with the conditions in which they differ.`,
		Example: `  plimsoll report
  plimsoll report 20260131-154500
  plimsoll report result.json --html result.html
  plimsoll report result.tar.zst --html result.html
  plimsoll report --json | jq .apdex
  plimsoll report before.json after.json`,
		Args:              arguments(0, report.SidesMax, fmt.Sprintf("%d runs", report.SidesMax)),
		ValidArgsFunction: a.completeRuns,
	}, func(_ context.Context, args []string) error {
		if len(args) > 1 && html != "" {
			return errOnePage
		}
		all, err := a.reported(args)
		switch {
		case err != nil:
			return err
		case len(all) > 1:
			return a.reportSides(all, html)
		}
		return a.report(all[0], html)
	})
	c.Flags().StringVar(&html, "html", "", "write the report as one self-contained HTML `FILE`")
	config.FlagOnly(c.Flags(), "html")
}

// reported are the runs that are meant; an archive may hold several.
func (a *app) reported(names []string) (all []*result.Result, err error) {
	if len(names) == 0 {
		names = []string{store.Latest}
	}
	for _, name := range names {
		if !archive.Is(name) {
			r, err := a.stored().Run(name)
			if err != nil {
				return nil, err
			}
			all = append(all, r)
			continue
		}
		some, err := archive.Results(name)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	if len(all) > report.SidesMax {
		return nil, problem.New(problem.Usage, fmt.Errorf("%d runs: at most %d fit side by side", len(all),
			report.SidesMax), "'plimsoll compare --baseline FILE' compares a run with all of an archive")
	}
	return all, nil
}

func (a *app) report(r *result.Result, html string) error {
	if html != "" {
		if err := kept.Page(html).Write(func(w io.Writer) error { return report.HTML(w, r) }); err != nil {
			return err
		}
		a.meter.Say("wrote %s", html)
	}
	switch {
	case a.json:
		return a.emit(r)
	case html != "":
		return nil
	}
	if err := report.Text(a.stdout, r); err != nil {
		return err
	}
	if path := store.Default().ReportPath(r.ID); r.ID != "" && fileExists(path) {
		fmt.Fprintf(a.stdout, "report: %s\n", path)
	}
	return nil
}

var errOnePage = problem.New(problem.Usage, errors.New("--html writes one run"), "name one run with --html")

// reportSides shows several runs side by side.
func (a *app) reportSides(all []*result.Result, html string) error {
	if html != "" {
		return errOnePage
	}
	if a.json {
		return a.emit(map[string]any{"runs": all})
	}
	return report.SideBySide(a.stdout, all)
}

func fileExists(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

func (a *app) completeRuns(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	all, _, err := store.Default().List()
	if err != nil || len(args) >= report.SidesMax {
		return nil, cobra.ShellCompDirectiveDefault
	}
	var ids []string
	for _, r := range all {
		ids = append(ids, r.ID)
	}
	return ids, cobra.ShellCompDirectiveDefault // or a file
}
