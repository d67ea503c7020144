package temptables

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"

	"plimsoll/engine/bench"
	"plimsoll/ground/human"
	"plimsoll/ground/problem"
	"plimsoll/lab/prove/experiments/site"
)

// play is one pgbench run of a script.
type play struct {
	script       string // its text
	clients      int
	lasts        time.Duration // or
	transactions int           // per client
	rate         int           // of all clients, per second; 0: unlimited
	options      string        // of its sessions, besides the variant's
}

// played is pgbench's report.
type played struct {
	tps          float64
	transactions int
	commands     []command
}

// command is a line of the script and its mean latency.
type command struct {
	text string
	ms   float64
}

// cycle is a workload of the engine's benchmark.
func cycle(workload string, clients int, lasts time.Duration) (play, error) {
	text, err := bench.Workload(workload)
	return play{script: text, clients: clients, lasts: lasts}, err
}

func (p play) arguments(file string) []string {
	args := []string{
		"--no-vacuum", "--report-per-command", "--file=" + file,
		fmt.Sprintf("--client=%d", p.clients), fmt.Sprintf("--jobs=%d", min(p.clients, runtime.NumCPU())),
	}
	if p.transactions > 0 {
		args = append(args, fmt.Sprintf("--transactions=%d", p.transactions))
	} else {
		args = append(args, fmt.Sprintf("--time=%d", max(1, int(p.lasts.Round(time.Second).Seconds()))))
	}
	if p.rate > 0 {
		args = append(args, fmt.Sprintf("--rate=%d", p.rate))
	}
	return args
}

// pgbench runs the pgbench of the variant's own server against it.
func pgbench(ctx context.Context, e *site.Engines, v site.Variant, p play) (played, error) {
	file, err := os.CreateTemp("", "plimsoll-*.sql")
	if err != nil {
		return played{}, err
	}
	defer os.Remove(file.Name())
	if _, err = file.WriteString(p.script); err == nil {
		err = file.Close()
	}
	if err != nil {
		return played{}, err
	}
	cmd, err := e.Running[v.Engine].Cluster().Command(ctx, "pgbench", p.arguments(file.Name())...)
	if err != nil {
		return played{}, err
	}
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	cmd.Env = append(cmd.Env, "PGOPTIONS="+strings.TrimSpace(v.Options()+" "+p.options))
	if err := cmd.Run(); err != nil {
		return played{}, errors.Join(ctx.Err(),
			fmt.Errorf("pgbench on %s: %w: %s", v.Name, err, human.LastLines(complaints.String(), 1)))
	}
	return readPlayed(out.String())
}

var (
	pgbenchTPS     = regexp.MustCompile(`(?m)^tps = ([0-9.]+) `)
	pgbenchCount   = regexp.MustCompile(`(?m)^number of transactions actually processed: ([0-9]+)`)
	pgbenchFailed  = regexp.MustCompile(`(?m)^number of failed transactions: ([1-9][0-9]*)`)
	pgbenchCommand = regexp.MustCompile(`(?m)^ +([0-9.]+) +[0-9]+ +([A-Za-z].*)$`)
)

// readPlayed reads pgbench's report (version 15 on).
func readPlayed(report string) (p played, err error) {
	count := pgbenchCount.FindStringSubmatch(report)
	if count != nil && count[1] == "0" {
		return p, problem.New(problem.Failure, errors.New("pgbench completed no transaction in a whole turn"),
			"use a longer --duration")
	}
	tps := pgbenchTPS.FindStringSubmatch(report)
	if tps == nil || count == nil {
		return p, fmt.Errorf("read pgbench's report: it has no figures: %q", report)
	}
	if failed := pgbenchFailed.FindStringSubmatch(report); failed != nil {
		return p, fmt.Errorf("%s transactions of pgbench failed", failed[1])
	}
	if p.tps, err = strconv.ParseFloat(tps[1], 64); err != nil {
		return p, fmt.Errorf("read pgbench's report: %w", err)
	}
	if p.transactions, err = strconv.Atoi(count[1]); err != nil {
		return p, fmt.Errorf("read pgbench's report: %w", err)
	}
	for _, line := range pgbenchCommand.FindAllStringSubmatch(report, -1) {
		ms, err := strconv.ParseFloat(line[1], 64)
		if err != nil {
			return p, fmt.Errorf("read pgbench's report: %w", err)
		}
		p.commands = append(p.commands, command{line[2], ms})
	}
	return p, nil
}

// loop is the time of all commands of a script, in ms: without what a client waits for its next one at a rate.
func (p played) loop() (ms float64) {
	for _, c := range p.commands {
		ms += c.ms
	}
	return ms
}

// latencyOf the first command that begins with these words; 0 if there is none.
func (p played) latencyOf(words string) float64 {
	for _, c := range p.commands {
		if strings.HasPrefix(c.text, words) {
			return c.ms
		}
	}
	return 0
}
