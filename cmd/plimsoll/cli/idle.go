package cli

import (
	"github.com/spf13/pflag"

	"plimsoll/lab/system"
)

// idle are flags that would have no effect, and are refused on a command line.
type idle system.Idle

// given are the flags on the command line.
func given(fs *pflag.FlagSet) (names []string) {
	fs.VisitAll(func(f *pflag.Flag) {
		if f.Changed {
			names = append(names, f.Name)
		}
	})
	return names
}

// refuseIdle refuses the first of them that is on the command line.
func refuseIdle(fs *pflag.FlagSet, all ...idle) error {
	for _, one := range all {
		if err := system.Idle(one).Refuse(given(fs)); err != nil {
			return err
		}
	}
	return nil
}
