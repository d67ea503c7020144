package main

import (
	"context"
	"embed"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

//go:embed loads
var loads embed.FS

// job of a generator.
type job struct {
	folder  string // private, for its files
	base    string // address of the application
	users   int
	think   time.Duration // between an answer and the next request; 0: none
	rate    float64       // arriving requests per second; 0: users think instead
	ramp    time.Duration
	lasting time.Duration // after the ramp
}

// own is the generator's own report.
type own struct {
	Answers int64   `json:"answers"`
	Failed  int64   `json:"failed"`
	Dropped int64   `json:"dropped,omitempty"` // due but never sent
	P50     float64 `json:"p50_ms"`
	P95     float64 `json:"p95_ms"`
	P99     float64 `json:"p99_ms"`
	Max     float64 `json:"max_ms"`
}

// generator is one of the compared programs.
type generator struct {
	name    string
	version string
	install installed
	command func(program string, j job) (*exec.Cmd, error)
	read    func(j job) (own, error) // after it has ended
}

var generators = []generator{
	{"plimsoll", "this tree", ofThisTree, plimsollCommand, plimsollOwn},
	{"k6", k6Version, k6FromGo, k6Command, k6Own},
	{"locust", locustVersion, locustFromPip, locustCommand, locustOwn},
}

// lay writes a file of the loads into the job's folder.
func (j job) lay(name string) (string, error) {
	text, err := loads.ReadFile("loads/" + name)
	if err != nil {
		return "", err
	}
	path := filepath.Join(j.folder, name)
	return path, os.WriteFile(path, text, 0o644)
}

func (j job) outcome(name string) string { return filepath.Join(j.folder, name) }

func (j job) environment() []string {
	return append(os.Environ(), fmt.Sprintf("USERS=%d", j.users), fmt.Sprintf("THINK=%g", j.think.Seconds()),
		fmt.Sprintf("RATE=%g", j.rate),
		fmt.Sprintf("RAMP=%g", j.ramp.Seconds()), fmt.Sprintf("SECONDS=%g", j.lasting.Seconds()), "BASE="+j.base)
}

func plimsollCommand(program string, j job) (*exec.Cmd, error) {
	path, err := j.lay("scenario.toml")
	if err != nil {
		return nil, err
	}
	out, err := os.Create(j.outcome("plimsoll.json"))
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program, "run", "--json", "--quiet", "--scenario", path, "--url", j.base, "--users",
		strconv.Itoa(j.users),
		"--ramp", j.ramp.String(), "--duration", j.lasting.String(), "--think", j.think.String(),
		"--think-distribution", "constant")
	if j.rate > 0 {
		cmd.Args = append(cmd.Args, "--arrivals", "constant", "--rate", fmt.Sprint(j.rate))
	}
	cmd.Env = append(os.Environ(), "PLIMSOLL_STATE="+j.folder, "PLIMSOLL_CONFIG="+os.DevNull)
	cmd.Stdout = out
	return cmd, nil
}

func plimsollOwn(j job) (o own, err error) {
	var r struct {
		Operations []struct {
			OK, Errors, Overload int64
			Latency              struct{ P50, P95, P99, Max float64 } `json:"latency_ms"`
		}
	}
	if err := readJSON(j.outcome("plimsoll.json"), &r); err != nil {
		return o, err
	}
	if len(r.Operations) != 1 {
		return o, fmt.Errorf("plimsoll reports %d operations", len(r.Operations))
	}
	op := r.Operations[0]
	return own{Answers: op.OK, Failed: op.Errors + op.Overload, P50: op.Latency.P50, P95: op.Latency.P95,
		P99: op.Latency.P99, Max: op.Latency.Max}, nil
}

func k6Command(program string, j job) (*exec.Cmd, error) {
	path, err := j.lay("k6.js")
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program, "run", "--quiet", "--no-usage-report", "--address", "", path)
	cmd.Env = append(j.environment(), "SUMMARY="+j.outcome("k6.json"))
	return cmd, nil
}

func k6Own(j job) (o own, err error) {
	var r struct {
		Metrics map[string]struct{ Values map[string]float64 }
	}
	if err := readJSON(j.outcome("k6.json"), &r); err != nil {
		return o, err
	}
	times, failed := r.Metrics["http_req_duration"].Values, r.Metrics["http_req_failed"].Values
	if times == nil {
		return o, fmt.Errorf("k6 reports no requests")
	}
	wrong := int64(failed["passes"]) // its rate counts failures
	return own{
		Answers: int64(r.Metrics["http_reqs"].Values["count"]) - wrong, Failed: wrong,
		Dropped: int64(r.Metrics["dropped_iterations"].Values["count"]),
		P50:     times["med"], P95: times["p(95)"], P99: times["p(99)"], Max: times["max"],
	}, nil
}

func locustCommand(program string, j job) (*exec.Cmd, error) {
	path, err := j.lay("locustfile.py")
	if err != nil {
		return nil, err
	}
	pace := float64(j.users) / max(j.ramp.Seconds(), 1)
	cmd := exec.Command(program, "--headless", "--only-summary", "--loglevel", "WARNING", "--csv", j.outcome("locust"),
		"-f", path, "--host", j.base,
		"--users", strconv.Itoa(j.users), "--spawn-rate", fmt.Sprintf("%g", pace), "--run-time",
		fmt.Sprintf("%ds", int((j.ramp+j.lasting).Seconds())), "--stop-timeout", "5")
	cmd.Env = j.environment()
	return cmd, nil
}

func locustOwn(j job) (o own, err error) {
	file, err := os.Open(j.outcome("locust_stats.csv"))
	if err != nil {
		return o, err
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		return o, fmt.Errorf("read locust's requests: %w", err)
	}
	if len(rows) < 2 {
		return o, errors.New("locust wrote down no requests")
	}
	last := map[string]float64{}
	for i, name := range rows[0] {
		last[name], _ = strconv.ParseFloat(rows[len(rows)-1][i], 64) // the sum is in the last row
	}
	return own{
		Answers: int64(last["Request Count"] - last["Failure Count"]), Failed: int64(last["Failure Count"]),
		P50: last["50%"], P95: last["95%"], P99: last["99%"], Max: last["100%"],
	}, nil
}

func readJSON(path string, into any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("read %s: %w", filepath.Base(path), err)
	}
	return nil
}

// version as the program prints it.
func (g generator) label() string {
	if g.version == "" {
		return g.name
	}
	return g.name + " " + g.version
}

// ready says which generators are available here, and why others are not.
func ready(ctx context.Context, folder string, wanted []generator,
	say func(string, ...any)) (programs map[string]string) {
	programs = map[string]string{}
	for _, g := range wanted {
		say("%s: looking for it in %s, or making it there", g.label(), folder)
		program, err := g.install(ctx, folder)
		if err != nil {
			say("%s is not available here and is left out: %v", g.label(), err)
			continue
		}
		programs[g.name] = program
	}
	return programs
}
