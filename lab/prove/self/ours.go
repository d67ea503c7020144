package self

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"

	"plimsoll/lab/load/users"
	"plimsoll/lab/prove/peers"
	"plimsoll/lab/run/result"
)

// ourName of this program among the generators.
const ourName = "plimsoll"

// ours is this program as a process like the others.
func (s *stage) ours() peers.Tool {
	return peers.Tool{
		Name: ourName, Thinks: true,
		Install: func(context.Context, string) (string, error) { return s.Program[0], nil },
		Command: s.ourCommand,
		Read:    ourReport,
	}
}

func (s *stage) ourCommand(program string, j peers.Job) (*exec.Cmd, error) {
	path := j.Path("card.toml")
	if err := os.WriteFile(path, fmt.Appendf(nil, `application = "none"
users = %d
[think]
mean = "%s"
distribution = "constant"
[http]
base = "%s"
headers = { Authorization = "Bearer bench" }
[operations.card]
target = "500ms"
url = "/v1/cards/7"
`, j.Users, j.Think, j.Base), 0o600); err != nil {
		return nil, err
	}
	arguments := append(slices.Clone(s.Program[1:]), "run", "--scenario", path, "--ramp", "0s", "--duration",
		j.Lasting.String(), "--json")
	if j.Rate > 0 {
		arguments = append(arguments, "--arrivals", string(users.Even), "--rate", fmt.Sprint(j.Rate))
	}
	cmd := exec.Command(program, arguments...)
	cmd.Env = append(os.Environ(), "PLIMSOLL_STATE="+j.Path("state"))
	return cmd, nil
}

// ourReport is read from what it prints, also where the run is not valid.
func ourReport(j peers.Job) (peers.Report, error) {
	text, err := os.ReadFile(j.Path(peers.Out))
	if err != nil {
		return peers.Report{}, err
	}
	var r result.Result
	if err := json.Unmarshal(text, &r); err != nil {
		return peers.Report{}, fmt.Errorf("read the run: %w", err)
	}
	card := r.Operations[0]
	all := card.LatencyOrAnswered()
	if card.Latency.Mean == nil || all.P99 == nil || all.Max == nil {
		return peers.Report{}, fmt.Errorf("the run has no percentiles: %d of %d operations failed", r.Errors, r.Ops)
	}
	return peers.Report{Answers: r.OK, Failed: r.Errors + r.Resent, Mean: *card.Latency.Mean, P50: *all.P50,
		P95: *all.P95, P99: *all.P99, Max: *all.Max}, nil
}
