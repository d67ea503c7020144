package cli

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"plimsoll/ground/postgres/installation"
)

func (a *app) addVersion(root *cobra.Command) {
	a.command(root, groupOther, &cobra.Command{
		Use:   "version [flags]",
		Short: "Show the version",
		Long: `Show Plimsoll's version, its commit, and the Go version that built it; the PostgreSQL that
'plimsoll up' takes here, and which fixes of later minor releases that lacks.`,
		Example: "  plimsoll version --json",
	}, func(ctx context.Context, _ []string) error {
		v := versions{build: software()}
		if s, err := installation.Find(ctx, ""); err == nil {
			v.Engine, v.Missing = &s, s.Missing()
		}
		if a.json {
			return a.emit(v)
		}
		fmt.Fprintf(a.stdout, "plimsoll %s (%s, %s)\n", v.Version, v.Go, v.Platform)
		if v.Engine == nil {
			_, err := fmt.Fprintln(a.stdout, "no PostgreSQL is found here")
			return err
		}
		fmt.Fprintln(a.stdout, v.Engine)
		if note := v.Engine.MissingNote(); note != "" {
			fmt.Fprintln(a.stdout, note)
		}
		return nil
	})
}

// versions are the program's and that of the PostgreSQL that it finds.
type versions struct {
	build
	Engine  *installation.Server   `json:"engine,omitempty"`
	Missing []installation.Release `json:"missing_fixes,omitempty"`
}

type build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Modified bool   `json:"modified"` // built from a tree with changes
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// release is the newest version of CHANGELOG.md.
const release = "0.5.0"

// commit and modified are set by `make build`; a plain `go build` leaves them to the
// toolchain's own stamp, which it may have been told to leave out.
var commit, modified string

// software is what was stamped into the binary: the release with the commit, as 0.5.0+0123456789ab.
func software() build {
	b := build{Version: release, Commit: commit, Modified: modified == "true", Go: runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				b.Commit = s.Value
			case "vcs.modified":
				b.Modified = s.Value == "true"
			}
		}
	}
	if len(b.Commit) >= 12 {
		b.Version += "+" + b.Commit[:12]
	}
	if b.Modified {
		b.Version += ".modified"
	}
	return b
}
