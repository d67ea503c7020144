package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/ground/host/dirs"
	"plimsoll/ground/human"
	"plimsoll/ground/problem"
)

func (a *app) addConfig(root *cobra.Command) {
	c := a.command(root, groupOther, &cobra.Command{
		Use:   "config [flags] [COMMAND [its flags]]",
		Short: "Show each setting and where its value comes from",
		Long: `Show each setting, its value and where that comes from. The first of these wins:

  flag on the command line  >  environment  >  configuration file  >  default

The flag --users of 'run' is the key users in the table [run] of the file and the
variable PLIMSOLL_RUN_USERS. Settings that several commands share, such as cluster,
stand above all tables and have variables such as PLIMSOLL_CLUSTER. Passwords are not shown.`,
		Example: `  plimsoll config                      all settings
  plimsoll config run --users 5000     what this command line would use
  plimsoll config --json
  cat > ~/.config/plimsoll/plimsoll.toml <<END
  cluster = "vanilla"
  [run]
  users = 5000
  think = "20m"
  END`,
		Args: cobra.ArbitraryArgs,
	}, a.showConfig)
	c.Flags().SetInterspersed(false)
}

type settingView struct {
	Key   string          `json:"key"`
	Value json.RawMessage `json:"value"`
	config.Origin
	Env   string `json:"env"`
	Flag  string `json:"flag"`
	shown string
}

func (a *app) showConfig(_ context.Context, args []string) error {
	parsed, err := a.parseFor(args)
	if err != nil {
		return err
	}
	sources, err := a.configure()
	if err != nil {
		return err
	}
	views := []settingView{}
	for _, s := range config.Settings(a.root) {
		if parsed == nil || belongs(parsed, s) {
			views = append(views, viewOf(s, sources[s.Key]))
		}
	}
	if a.json {
		return a.emit(struct {
			File     string        `json:"file"`
			State    string        `json:"state"`
			Cache    string        `json:"cache"`
			Settings []settingView `json:"settings"`
		}{a.fileUsed(), dirs.State(), dirs.Cache(), views})
	}
	return a.tableOf(views)
}

func (a *app) tableOf(views []settingView) error {
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "file:\t%s\nstate:\t%s\ncache:\t%s\n\n", a.fileUsed(), dirs.State(), dirs.Cache())
	fmt.Fprintln(w, "KEY\tVALUE\tFROM")
	for _, v := range views {
		fmt.Fprintf(w, "%s\t%s\t%s\n", v.Key, v.shown, v.Origin)
	}
	return w.Flush()
}

// parseFor reads args as the command line of another command without running it.
func (a *app) parseFor(args []string) (*cobra.Command, error) {
	if len(args) == 0 {
		return nil, nil
	}
	for _, c := range a.root.Commands() {
		if c.Name() == args[0] && !c.Hidden {
			if err := c.ParseFlags(args[1:]); err != nil {
				return nil, flagError(c, err)
			}
			return c, nil
		}
	}
	return nil, problem.New(problem.Usage, fmt.Errorf("unknown command %q", args[0]),
		human.NearestHint(args[0], commandNames(a.root), "'plimsoll help' lists the commands"))
}

func belongs(c *cobra.Command, s config.Setting) bool {
	found := false
	c.Flags().VisitAll(func(f *pflag.Flag) { found = found || slices.Contains(s.Flags, f) })
	return found
}

// fileUsed says which file was looked for, and whether it exists.
func (a *app) fileUsed() string {
	path := a.configFile
	if path == "" {
		path = dirs.ConfigFile()
	}
	if _, err := os.Stat(path); err != nil {
		return path + " (none)"
	}
	return path
}

func viewOf(s config.Setting, o config.Origin) settingView {
	text := human.Redact(s.Value())
	if s.IsSecret() && text != "" {
		text = human.Masked
	}
	v := settingView{Key: s.Key, Origin: o, Env: s.Env, Flag: "--" + s.Flag().Name, shown: text}
	if text == "" || strings.ContainsAny(text, " \t\n") {
		v.shown = fmt.Sprintf("%q", text)
	}
	v.Value, _ = json.Marshal(text)
	switch s.Flag().Value.Type() {
	case "int", "int64", "uint64", "float64", "bool":
		v.Value = json.RawMessage(text)
	}
	return v
}
