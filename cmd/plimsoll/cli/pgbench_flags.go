package cli

import (
	"github.com/spf13/pflag"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/lab/load/scenario"
	"plimsoll/lab/load/script"
)

// pgbenchFlags bind scripts of pgbench as a load, with what its own flags -f, -b, -M and -D say.
func pgbenchFlags(fs *pflag.FlagSet, o *scenario.Pgbench) {
	fs.StringArrayVar(&o.Scripts, "pgbench", nil, "`SCRIPT` of pgbench that users do: a file, or a built-in one such "+
		"as tpcb-like, with a weight as in own.sql@3; repeat it for several. Users do not think, and each has a "+
		"session")
	config.Choice(fs, (*string)(&o.Protocol), "protocol", string(script.Simple), words(script.Modes),
		"with --pgbench: how statements are sent")
	fs.StringArrayVar(&o.Define, "define", nil, "with --pgbench: variable of the scripts, as `NAME=VALUE`")
	config.FlagOnly(fs, "pgbench", "define")
}
