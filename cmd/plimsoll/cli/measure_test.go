package cli

import (
	"testing"

	"github.com/spf13/pflag"

	"plimsoll/lab/load"
)

// Only `plimsoll run` has the flag --sampling; trials of a search and runs of a comparison are diagnosed as usual.
func TestRunOptions_TrialsAreDiagnosed(t *testing.T) {
	for _, command := range []string{"line", "compare"} {
		o := measureOptions{flags: pflag.NewFlagSet(command, pflag.ContinueOnError)}
		o.loadOptions.Load = load.Default()
		options, err := (&app{}).runOptions(command, o)
		if err != nil || options.Sampling != 0 {
			t.Errorf("%s: sampling %d, %v", command, options.Sampling, err)
		}
	}
}
