package cli

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/cluster"
)

func (a *app) addStatus(root *cobra.Command) {
	a.command(root, groupDatabase, &cobra.Command{
		Use:   "status [flags]",
		Short: "Show the local clusters and their state",
		Long: `Show every local cluster: state, PostgreSQL version, profile, port, size; of standbys also
how far they are behind their primary, in bytes of log and in milliseconds; of clusters that
archive their log also whether that fails, and how much waits for it.`,
		Example: `  plimsoll status
  plimsoll status --json`,
	}, func(ctx context.Context, _ []string) error {
		all, err := a.clusters().Status(ctx)
		if err != nil {
			return err
		}
		if all == nil {
			all = []cluster.Status{}
		}
		if a.json {
			return a.emit(map[string][]cluster.Status{"clusters": all})
		}
		return a.showStatus(all)
	})
}

func (a *app) showStatus(all []cluster.Status) error {
	if len(all) == 0 {
		fmt.Fprintln(a.stdout, "no clusters; 'plimsoll up' creates one")
		return nil
	}
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tSTATE\tPOSTGRESQL\tPROFILE\tPORT\tPID\tUP FOR\tSIZE")
	for _, s := range all {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", s.Name, s.State, engineText(s),
			cmp.Or(string(s.Profile), "-"), portText(s), pidText(s.PID), upFor(s.UptimeS), bytesText(s.DataBytes))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, s := range all {
		if s.Problem != "" {
			fmt.Fprintf(a.stdout, "%s: %s\n", s.Name, s.Problem)
		}
		if s.FlushLatency != "" {
			fmt.Fprintf(a.stdout, "%s: a flush takes at least %s\n", s.Name, s.FlushLatency)
		}
		a.showReplication(s)
		a.showArchiving(s)
		if s.State == cluster.Crashed {
			fmt.Fprintf(a.stdout, "%s: crashed; 'plimsoll up %s' recovers it\n", s.Name, s.Name)
		}
	}
	return nil
}

// showArchiving says what fails or waits, and what to do about it.
func (a *app) showArchiving(s cluster.Status) {
	g := s.Archiving
	if g == nil || !g.Failing && g.FailedCount == 0 && g.Waiting == 0 {
		return
	}
	waits := ""
	if g.Waiting > 0 {
		waits = fmt.Sprintf("; %d segments (%s) wait, the oldest for %s", g.Waiting, human.Bytes(g.WaitingBytes),
			upFor(g.BehindS))
	}
	if !g.Failing {
		failed := "never failed"
		if g.FailedCount > 0 {
			failed = fmt.Sprintf("failed %d times, the last time with %s, and works again", g.FailedCount, g.LastFailed)
		}
		fmt.Fprintf(a.stdout, "%s: archiving %s%s\n", s.Name, failed, waits)
		return
	}
	fmt.Fprintf(a.stdout, "%s: archiving fails: %d times, the last time with %s%s\n", s.Name, g.FailedCount,
		g.LastFailed, waits)
	fmt.Fprintf(a.stdout, "%s: hint: make room and rights in %s (%s says what is wrong); the server tries again by "+
		"itself, and until then keeps the log, which fills the disk\n", s.Name, g.Dir, g.ServerLog)
}

func engineText(s cluster.Status) string {
	if s.Version == "" {
		return "-"
	}
	return s.Version + " " + patched(s)
}

func portText(s cluster.Status) string {
	switch {
	case s.Port != 0:
		return strconv.Itoa(s.Port)
	case s.SocketDir != "":
		return "socket"
	}
	return "-"
}

func pidText(pid int) string {
	if pid == 0 {
		return "-"
	}
	return strconv.Itoa(pid)
}

func upFor(seconds *float64) string {
	return human.Known(seconds, "-", func(s float64) string { return human.Elapsed(time.Duration(s) * time.Second) })
}

func bytesText(n *int64) string { return human.Known(n, "-", human.Bytes[int64]) }
