package cli

import (
	"io"
	"testing"

	"github.com/spf13/pflag"

	"plimsoll/lab/load"
)

// Only `plimsoll run` has the flag --sampling; trials of a search and runs of a comparison are diagnosed as usual.
func TestRunOptions_TrialsAreDiagnosed(t *testing.T) {
	for _, command := range []string{"line", "compare"} {
		o := measureOptions{flags: pflag.NewFlagSet(command, pflag.ContinueOnError)}
		o.loadOptions.Load = load.Default()
		y, err := newApp(nil, io.Discard, io.Discard).spec(command, o).System()
		if err != nil || y.Run.Sampling != 0 {
			t.Errorf("%s: sampling %d, %v", command, y.Run.Sampling, err)
		}
	}
}
