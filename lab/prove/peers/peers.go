// Package peers owns the other load generators that ours is compared with: k6 and Locust, their installation by the
// usual client of each language, the same load in their own words, and what they report of it.
package peers

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

// Job of a generator.
type Job struct {
	Folder  string // private, for its files
	Base    string // address of the application
	Users   int
	Think   time.Duration // between an answer and the next request; 0: none
	Lasting time.Duration
}

// Report is the generator's own.
type Report struct {
	Answers, Failed     int64
	Mean, P50, P95, P99 float64 // milliseconds
}

// Tool is a load generator.
type Tool struct {
	Name    string
	Version string
	Install Install
	Command func(program string, j Job) (*exec.Cmd, error)
	Read    func(j Job) (Report, error) // after it has ended
}

// K6 from the Go module proxy.
var K6 = Tool{"k6", k6Version, k6FromGo, k6Command, k6Report}

// Locust from the Python package index.
var Locust = Tool{"locust", locustVersion, locustFromPip, locustCommand, locustReport}

// lay writes a file of the loads from one of the embedded folders into the job's.
func (j Job) lay(name string) (string, error) {
	text, err := loads.ReadFile("loads/" + name)
	if err != nil {
		return "", err
	}
	path := filepath.Join(j.Folder, name)
	return path, os.WriteFile(path, text, 0o644)
}

// path of a file of the job.
func (j Job) path(name string) string { return filepath.Join(j.Folder, name) }

func (j Job) environment() []string {
	return append(os.Environ(), fmt.Sprintf("USERS=%d", j.Users), fmt.Sprintf("THINK=%g", j.Think.Seconds()),
		fmt.Sprintf("SECONDS=%g", j.Lasting.Seconds()), "BASE="+j.Base)
}

func k6Command(program string, j Job) (*exec.Cmd, error) {
	path, err := j.lay("k6.js")
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program, "run", "--quiet", "--no-usage-report", "--address", "", path)
	cmd.Env = append(j.environment(), "SUMMARY="+j.path("k6.json"))
	return cmd, nil
}

func k6Report(j Job) (o Report, err error) {
	var r struct {
		Metrics map[string]struct{ Values map[string]float64 }
	}
	if err := readJSON(j.path("k6.json"), &r); err != nil {
		return o, err
	}
	times, failed := r.Metrics["http_req_duration"].Values, r.Metrics["http_req_failed"].Values
	if times == nil {
		return o, fmt.Errorf("k6 reports no requests")
	}
	wrong := int64(failed["passes"]) // its rate counts failures
	return Report{
		Answers: int64(r.Metrics["http_reqs"].Values["count"]) - wrong, Failed: wrong,
		Mean: times["avg"], P50: times["med"], P95: times["p(95)"], P99: times["p(99)"],
	}, nil
}

func locustCommand(program string, j Job) (*exec.Cmd, error) {
	path, err := j.lay("locustfile.py")
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program, "--headless", "--only-summary", "--loglevel", "WARNING", "--csv", j.path("locust"),
		"-f", path, "--host", j.Base,
		"--users", strconv.Itoa(j.Users), "--spawn-rate", strconv.Itoa(j.Users), "--run-time",
		fmt.Sprintf("%ds", int(j.Lasting.Seconds())), "--stop-timeout", "5")
	cmd.Env = j.environment()
	return cmd, nil
}

func locustReport(j Job) (o Report, err error) {
	file, err := os.Open(j.path("locust_stats.csv"))
	if err != nil {
		return o, err
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		return o, fmt.Errorf("read locust's requests: %w", err)
	}
	if len(rows) < 2 {
		return o, errors.New("locust recorded no requests")
	}
	last := map[string]float64{}
	for i, name := range rows[0] {
		last[name], _ = strconv.ParseFloat(rows[len(rows)-1][i], 64) // the sum is in the last row
	}
	return Report{
		Answers: int64(last["Request Count"] - last["Failure Count"]), Failed: int64(last["Failure Count"]),
		Mean: last["Average Response Time"], P50: last["50%"], P95: last["95%"], P99: last["99%"],
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

// Ready says which tools are available here, and why others are not.
func Ready(ctx context.Context, folder string, wanted []Tool, say func(string, ...any)) (programs map[string]string) {
	programs = map[string]string{}
	for _, g := range wanted {
		say("%s: looking for it in %s, or installing it there", g.Label(), folder)
		program, err := g.Install(ctx, folder)
		if err != nil {
			say("%s is not available here and is left out: %v", g.Label(), err)
			continue
		}
		programs[g.Name] = program
	}
	return programs
}
