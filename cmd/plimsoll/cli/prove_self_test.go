package cli

import (
	"bytes"
	"testing"

	"plimsoll/ground/human"
	"plimsoll/lab/prove/peers"
	"plimsoll/lab/prove/self"
)

// A table of generators is Markdown: costs where they were measured, what each reported, and why one is missing.
func TestShowTrials(t *testing.T) {
	perS, each, mb := 199.6, 153.2, 52.4
	report := peers.Report{Answers: 1400, P50: 1.04, P95: 4306, P99: 4868, Max: 5008}
	var out bytes.Buffer
	(&app{stdout: human.NewPlainWriter(&out)}).showTrials([]self.Trial{
		{Load: "users", Generator: "plimsoll", Requests: 12345, PerS: &perS, ProcessorUS: &each, MemoryMB: &mb,
			Report: &report},
		{Load: "users", Generator: "oha 1", Missing: "not measured: no cargo"},
		{Load: "stall", Generator: "k6", Requests: 1200, Due: 1400,
			Report: &peers.Report{Answers: 1190, Failed: 10, P50: 1.04, P95: 2, P99: 3, Max: 5008}},
		{Load: "stall", Generator: self.Truth, Requests: 1400, Due: 1400, Report: &report},
	})
	const want = `
### users

|          | requests | reported | per s | CPU µs each | memory MB | p50 ms | p95 ms | p99 ms | max ms |
| ---      | ---:     | ---:     | ---:  | ---:        | ---:      | ---:   | ---:   | ---:   | ---:   |
| plimsoll | 12,345   | 1,400    | 200   | 153         | 52.4      | 1.04   | 4306   | 4868   | 5008   |

- oha 1: not measured: no cargo

### stall

|                    | requests       | reported         | per s | CPU µs each | memory MB | p50 ms | p95 ms | p99 ms | max ms |
| ---                | ---:           | ---:             | ---:  | ---:        | ---:      | ---:   | ---:   | ---:   | ---:   |
| k6                 | 1,200 of 1,400 | 1,190, 10 failed |       |             |           | 1.04   | 2      | 3      | 5008   |
| who was due waited | 1,400 of 1,400 | 1,400            |       |             |           | 1.04   | 4306   | 4868   | 5008   |
`
	if got := out.String(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}
