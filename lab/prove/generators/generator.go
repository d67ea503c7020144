package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"plimsoll/lab/prove/peers"
)

//go:embed scenario.toml
var scenario []byte

var generators = []peers.Tool{
	{Name: "plimsoll", Version: "this tree", Install: ofThisTree, Command: plimsollCommand, Read: plimsollOwn},
	peers.K6,
	peers.Locust,
}

// ofThisTree builds plimsoll from this tree, so that the current code is measured.
func ofThisTree(ctx context.Context, folder string) (string, error) {
	program := filepath.Join(folder, "plimsoll")
	return program, peers.Sh(ctx, nil, "go", "build", "-trimpath", "-o", program, "plimsoll/cmd/plimsoll")
}

func plimsollCommand(program string, j peers.Job) (*exec.Cmd, error) {
	path := j.Path("scenario.toml")
	if err := os.WriteFile(path, scenario, 0o644); err != nil {
		return nil, err
	}
	out, err := os.Create(j.Path("plimsoll.json"))
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program, "run", "--json", "--quiet", "--scenario", path, "--url", j.Base, "--users",
		strconv.Itoa(j.Users),
		"--ramp", j.Ramp.String(), "--duration", j.Lasting.String(), "--think", j.Think.String(),
		"--think-distribution", "constant")
	if j.Rate > 0 {
		cmd.Args = append(cmd.Args, "--arrivals", "constant", "--rate", fmt.Sprint(j.Rate))
	}
	cmd.Env = append(os.Environ(), "PLIMSOLL_STATE="+j.Folder, "PLIMSOLL_CONFIG="+os.DevNull)
	cmd.Stdout = out
	return cmd, nil
}

func plimsollOwn(j peers.Job) (o peers.Report, err error) {
	var r struct {
		Operations []struct {
			OK, Errors, Overload int64
			Latency              struct{ P50, P95, P99, Max float64 } `json:"latency_answered_ms"`
		}
	}
	if err := peers.ReadJSON(j.Path("plimsoll.json"), &r); err != nil {
		return o, err
	}
	if len(r.Operations) != 1 {
		return o, fmt.Errorf("plimsoll reports %d operations", len(r.Operations))
	}
	op := r.Operations[0]
	return peers.Report{Answers: op.OK, Failed: op.Errors + op.Overload, P50: op.Latency.P50, P95: op.Latency.P95,
		P99: op.Latency.P99, Max: op.Latency.Max}, nil
}
