// Package peers owns the other load generators that ours is compared with: k6, Locust, Gatling and oha, their
// installation by the usual client of each language, the same load in their own words, and what they report of it.
package peers

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"plimsoll/lab/stats"
)

//go:embed loads
var loads embed.FS

// Job of a generator.
type Job struct {
	Folder  string // private, for its files
	Base    string // address of the application
	Users   int
	Think   time.Duration // between an answer and the next request; 0: none
	Rate    float64       // requests a second of all users, who do not think; 0: users set the pace
	Lasting time.Duration
}

// Report is the generator's own. Times are milliseconds.
type Report struct {
	Answers int64   `json:"answers"`
	Failed  int64   `json:"failed"`
	Mean    float64 `json:"mean_ms"`
	P50     float64 `json:"p50_ms"`
	P95     float64 `json:"p95_ms"`
	P99     float64 `json:"p99_ms"`
	Max     float64 `json:"max_ms"`
}

// Tool is a load generator.
type Tool struct {
	Name    string
	Version string
	Thinks  bool // its users can think between requests
	Install Install
	Command func(program string, j Job) (*exec.Cmd, error)
	Read    func(j Job) (Report, error) // after it has ended
}

// K6 from the Go module proxy.
var K6 = Tool{Name: "k6", Version: k6Version, Thinks: true, Install: k6FromGo, Command: k6Command, Read: k6Report}

// Locust from the Python package index.
var Locust = Tool{Name: "locust", Version: locustVersion, Thinks: true, Install: locustFromPip, Command: locustCommand,
	Read: locustReport}

// All tools.
var All = []Tool{K6, Locust, Gatling, Oha}

// lay writes a file of the loads from one of the embedded folders into the job's.
func (j Job) lay(name string) (string, error) {
	text, err := loads.ReadFile("loads/" + name)
	if err != nil {
		return "", err
	}
	path := filepath.Join(j.Folder, name)
	return path, os.WriteFile(path, text, 0o644)
}

// Files of a job that hold what the generator prints, and what it complains about.
const (
	Out = "out"
	Log = "log"
)

// Path of a file of the job.
func (j Job) Path(name string) string { return filepath.Join(j.Folder, name) }

func (j Job) environment() []string {
	return append(os.Environ(), fmt.Sprintf("USERS=%d", j.Users), fmt.Sprintf("THINK=%g", j.Think.Seconds()),
		fmt.Sprintf("RATE=%g", j.Rate), fmt.Sprintf("SECONDS=%g", j.Lasting.Seconds()), "BASE="+j.Base)
}

func k6Command(program string, j Job) (*exec.Cmd, error) {
	path, err := j.lay("k6.js")
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program, "run", "--quiet", "--no-usage-report", "--address", "", path)
	cmd.Env = append(j.environment(), "SUMMARY="+j.Path("k6.json"))
	return cmd, nil
}

func k6Report(j Job) (o Report, err error) {
	var r struct {
		Metrics map[string]struct{ Values map[string]float64 }
	}
	if err := readJSON(j.Path("k6.json"), &r); err != nil {
		return o, err
	}
	times, failed := r.Metrics["http_req_duration"].Values, r.Metrics["http_req_failed"].Values
	if times == nil {
		return o, fmt.Errorf("k6 reports no requests")
	}
	wrong := int64(failed["passes"]) // its rate counts failures
	return Report{
		Answers: int64(r.Metrics["http_reqs"].Values["count"]) - wrong, Failed: wrong,
		Mean: times["avg"], P50: times["med"], P95: times["p(95)"], P99: times["p(99)"], Max: times["max"],
	}, nil
}

func locustCommand(program string, j Job) (*exec.Cmd, error) {
	path, err := j.lay("locustfile.py")
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program, "--headless", "--json", "--loglevel", "WARNING", "-f", path, "--host", j.Base,
		"--users", strconv.Itoa(j.Users), "--spawn-rate", strconv.Itoa(j.Users), "--run-time",
		fmt.Sprintf("%ds", int(j.Lasting.Seconds())), "--stop-timeout", "5")
	cmd.Env = j.environment()
	return cmd, nil
}

// locustReport is read from what it prints at its end: the files that it writes meanwhile lack the last second.
func locustReport(j Job) (o Report, err error) {
	var entries []struct {
		Requests int64            `json:"num_requests"`
		Failures int64            `json:"num_failures"`
		Sum      float64          `json:"total_response_time"`
		Max      float64          `json:"max_response_time"`
		Times    map[string]int64 `json:"response_times"` // how many took so many milliseconds, rounded
	}
	if err := readJSON(j.Path(Out), &entries); err != nil {
		return o, err
	}
	if len(entries) != 1 || entries[0].Requests == 0 {
		return o, errors.New("locust recorded no requests")
	}
	e := entries[0]
	var times []float64
	for text, n := range e.Times {
		ms, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return o, fmt.Errorf("read locust's times: %w", err)
		}
		times = append(times, slices.Repeat([]float64{ms}, int(n))...)
	}
	return Report{
		Answers: e.Requests - e.Failures, Failed: e.Failures, Mean: e.Sum / float64(e.Requests),
		P50: stats.Percentile(times, 0.50), P95: stats.Percentile(times, 0.95), P99: stats.Percentile(times, 0.99),
		Max: e.Max,
	}, nil
}

// readJSON of a file that a tool wrote.
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

// Label has the version.
func (g Tool) Label() string {
	if g.Version == "" {
		return g.Name
	}
	return g.Name + " " + g.Version
}

// Ready installs what is missing: the programs of the tools that can be had here, and why the others cannot, by name.
func Ready(ctx context.Context, folder string, wanted []Tool) (programs map[string]string, missing map[string]error) {
	programs, missing = map[string]string{}, map[string]error{}
	for _, g := range wanted {
		program, err := g.Install(ctx, folder)
		if err != nil {
			missing[g.Name] = err
			continue
		}
		programs[g.Name] = program
	}
	return programs, missing
}
