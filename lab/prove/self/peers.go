package self

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/host/dirs"
	"plimsoll/ground/host/process"
	"plimsoll/ground/postgres/installation"
	"plimsoll/lab/prove/peers"
	"plimsoll/lab/run"
	"plimsoll/lab/run/result"
)

// The faults that other load generators are shown, each for so long.
var peerFaults = []struct {
	name  string
	lasts time.Duration
}{{"delay", 8 * time.Second}, {"stall", stallLasts}, {"resets", 8 * time.Second}, {"errors", 8 * time.Second}}

// installMost is how long the installation of another generator may take, which happens once on a machine.
const installMost = 15 * time.Minute

// comparePeers shows the reports of other generators with ours, each on a server of its own. Only ours are judged, by
// what must be exact: the requests that the server counted.
func comparePeers(ctx context.Context, s *stage) (out outcome, err error) {
	tools := []peers.Tool{peers.K6, peers.Locust, peers.Gatling}
	programs, missing, err := peerPrograms(ctx, tools)
	if err != nil {
		return out, err
	}
	var figures []Figure
	for _, tool := range tools {
		if why := missing[tool.Name]; why != nil {
			figures = append(figures, shown(tool.Label(), "the same faults", notInstalled(why)))
		}
	}
	for _, fault := range peerFaults {
		ours, err := s.measure(ctx, plant{fault.name, look, fault.lasts, nil})
		if err != nil || ctx.Err() != nil {
			return out, errors.Join(err, ctx.Err())
		}
		out.disturbed = append(out.disturbed, disturbances(ours.noise, ours.Result)...)
		latency := ours.only().Latency
		figures = append(figures,
			equal(fault.name+", requests", ours.served(), ours.Ops+ours.Resent),
			shown(fault.name+", plimsoll", ours.server.text(), reportText(peers.Report{Answers: ours.OK,
				Failed: ours.Errors, Mean: orNone(latency.Mean), P50: orNone(latency.P50), P95: orNone(latency.P95),
				P99: orNone(latency.P99)})))
		for _, tool := range tools {
			if programs[tool.Name] == "" {
				continue
			}
			figure, err := s.peer(ctx, tool, programs[tool.Name], fault.name, fault.lasts)
			if err != nil {
				return out, err
			}
			figures = append(figures, figure)
		}
	}
	statements, err := s.pgbench(ctx)
	out.figures = append(figures, statements...)
	return out, err
}

// peerPrograms installs what is missing, and says of which tools there is none here.
func peerPrograms(ctx context.Context, tools []peers.Tool) (programs map[string]string, missing map[string]error,
	err error) {
	folder := filepath.Join(dirs.Cache(), "generators")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, nil, err
	}
	within, cancel := context.WithTimeout(ctx, installMost)
	defer cancel()
	programs, missing = peers.Ready(within, folder, tools)
	return programs, missing, ctx.Err()
}

func notInstalled(why error) string {
	return "not measured: it cannot be installed here: " + why.Error()
}

// peer measures a fault with another generator.
func (s *stage) peer(ctx context.Context, tool peers.Tool, program, fault string, lasts time.Duration) (Figure, error) {
	server, err := s.plant(ctx, fault, "")
	if err != nil {
		return Figure{}, err
	}
	defer server.Stop()
	job := peers.Job{Folder: filepath.Join(s.dir, "peer-"+tool.Name+"-"+fault), Base: server.URL, Users: crowd,
		Think: think, Lasting: lasts}
	report, err := carryOut(ctx, tool, program, job)
	if ctx.Err() != nil {
		return Figure{}, ctx.Err()
	}
	name := fault + ", " + tool.Label()
	if err != nil {
		return shown(name, "a report", err.Error()), nil
	}
	if err := server.settle(ctx); err != nil {
		return Figure{}, err
	}
	return shown(name, server.text(), reportText(report)), nil
}

// peerMost is how much longer than its load a generator may take.
const peerMost = time.Minute

// carryOut a job from its beginning to its report.
func carryOut(ctx context.Context, tool peers.Tool, program string, job peers.Job) (r peers.Report, err error) {
	child, err := startPeer(tool, program, job)
	if err != nil {
		return r, err
	}
	defer endPeer(child)
	return awaitPeer(ctx, child, tool, job)
}

func startPeer(tool peers.Tool, program string, job peers.Job) (*process.Child, error) {
	if err := os.MkdirAll(job.Folder, 0o755); err != nil {
		return nil, err
	}
	cmd, err := tool.Command(program, job)
	if err != nil {
		return nil, err
	}
	for name, stream := range map[string]*io.Writer{peers.Out: &cmd.Stdout, peers.Log: &cmd.Stderr} {
		file, err := os.Create(job.Path(name))
		if err != nil {
			return nil, err
		}
		defer file.Close()
		*stream = file
	}
	child, err := process.StartChild(cmd, syscall.SIGKILL)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", tool.Name, err)
	}
	return child, nil
}

// endPeer stops it if it has not ended by itself.
func endPeer(child *process.Child) {
	_ = child.SignalGroup(syscall.SIGKILL)
	<-child.Exited()
}

// awaitPeer reads its report when it has ended. Locust ends with 1 where a request failed: what counts is its report.
func awaitPeer(ctx context.Context, child *process.Child, tool peers.Tool, job peers.Job) (r peers.Report, err error) {
	late := time.NewTimer(job.Lasting + peerMost)
	defer late.Stop()
	select {
	case <-child.Exited():
		r, err = tool.Read(job)
		return r, withComplaint(err, job)
	case <-ctx.Done():
		return r, ctx.Err()
	case <-late.C:
		return r, withComplaint(fmt.Errorf("it did not stop within %s", job.Lasting+peerMost), job)
	}
}

// withComplaint adds to an error what the generator said last.
func withComplaint(err error, job peers.Job) error {
	said, _ := os.ReadFile(job.Path(peers.Log)) // there may be none
	return peers.WithLastLine(err, said)
}

// text of what the server itself counted and timed.
func (s *server) text() string {
	return fmt.Sprintf("%d requests, mean %s, p50 %s, p95 %s, p99 %s ms", s.served(), short(s.meanMS()),
		short(s.percentileMS(50)), short(s.percentileMS(95)), short(s.percentileMS(99)))
}

func reportText(r peers.Report) string {
	return fmt.Sprintf("%d answers, %d failed, mean %s, p50 %s, p95 %s, p99 %s ms", r.Answers, r.Failed, short(r.Mean),
		short(r.P50), short(r.P95), short(r.P99))
}

// The statement of the comparison with pgbench, as many sessions as connections.
const (
	pgbenchUsers = 6
	pgbenchLasts = 5 * time.Second
	pgbenchSQL   = "SELECT pg_sleep(0.05)"
)

var (
	pgbenchMean   = regexp.MustCompile(`(?m)^latency average = ([0-9.]+) ms`)
	pgbenchStdDev = regexp.MustCompile(`(?m)^latency stddev = ([0-9.]+) ms`)
	pgbenchTPS    = regexp.MustCompile(`(?m)^tps = ([0-9.]+) `)
)

// pgbench is compared with a run of an own statement.
func (s *stage) pgbench(ctx context.Context) ([]Figure, error) {
	installed, err := installation.Find(ctx, s.Engine)
	program := ""
	if err == nil {
		program, err = installed.Program("pgbench")
	}
	if err != nil {
		return []Figure{shown("not measured", "pgbench", err.Error())}, nil
	}
	dsn, err := s.database(ctx)
	if err != nil {
		return nil, err
	}
	script, err := s.write("pgbench", pgbenchSQL+";\n")
	if err != nil {
		return nil, err
	}
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, "--no-vacuum", "--file="+script, fmt.Sprintf("--client=%d", pgbenchUsers),
		fmt.Sprintf("--time=%.0f", pgbenchLasts.Seconds()), "--progress=1")
	cmd.Env = append(os.Environ(), "PGHOST="+config.Host, fmt.Sprintf("PGPORT=%d", config.Port), "PGUSER="+config.User,
		"PGPASSWORD="+config.Password, "PGDATABASE="+config.Database)
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("pgbench: %w: %s", err, strings.TrimSpace(complaints.String()))
	}
	ours, err := s.statement(ctx, dsn)
	if err != nil {
		return nil, err
	}
	latency := ours.Operations[0].Latency
	const planted = "at least 50 ms, at most 120/s"
	text := func(mean, deviation, rate float64) string {
		return fmt.Sprintf("mean %s, standard deviation %s ms, %s/s", short(mean), short(deviation), short(rate))
	}
	return []Figure{
		shown("pg_sleep, plimsoll", planted, text(orNone(latency.Mean), orNone(latency.StdDev), ours.OpsPerS)),
		shown("pg_sleep, pgbench", planted, text(readFrom(pgbenchMean, out), readFrom(pgbenchStdDev, out),
			readFrom(pgbenchTPS, out))),
	}, nil
}

func readFrom(figure *regexp.Regexp, report []byte) float64 {
	if match := figure.FindSubmatch(report); match != nil {
		if x, err := strconv.ParseFloat(string(match[1]), 64); err == nil {
			return x
		}
	}
	return orNone(nil)
}

// statement is the run compared with pgbench.
func (s *stage) statement(ctx context.Context, dsn string) (*result.Result, error) {
	o, err := s.options("statement", fmt.Sprintf(`
application = "none"
users = %d
[think]
mean = "0s"
[sql]
connections = %d
[operations.statement]
target = "2s"
sql = "%s"
`, pgbenchUsers, pgbenchUsers, pgbenchSQL), pgbenchLasts)
	if err != nil {
		return nil, err
	}
	o.DSN = dsn
	return run.Run(ctx, o)
}
