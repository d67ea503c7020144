// Command generators compares Plimsoll's load generator with Locust and k6: the same HTTP request with a session
// token, against the same application on this machine, in turns, several rounds.
//
//	go run ./lab/prove/generators                                       everything, about 25 minutes
//	go run ./lab/prove/generators -work think -users 100,1000 -rounds 1
//
// It reports what a user costs a generator who thinks between two requests (memory, processor), what a request costs
// when nobody thinks, and what each generator reports of an application that stood still for two seconds.
//
// Locust comes from the Python package index and k6 from the Go module proxy, each by the usual client of its language,
// into a folder of the cache. What is not available is reported and left out. Trials are kept as lines of JSON (-keep),
// to which a later call adds; the tables cover all of them.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"plimsoll/ground/host/dirs"
	"plimsoll/lab/prove/peers"
	"plimsoll/lab/stats"
)

// options of the whole comparison.
type options struct {
	think, ramp, window time.Duration
	rounds              int
	memory              int64 // GB that a generator may use
	seed                uint64
	keep, logs          string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := benchmark(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "generators:", err)
		stop()
		os.Exit(1)
	}
}

func benchmark(ctx context.Context, arguments []string, stdout, stderr io.Writer) error {
	var o options
	flags := flag.NewFlagSet("generators", flag.ContinueOnError)
	flags.SetOutput(stderr)
	serve := flags.Bool("target", false, "act as the application (the benchmark starts itself this way)")
	users := flags.String("users", "100,1000,10000", "numbers of users with think time, separated by commas")
	kinds := flags.String("work", strings.Join([]string{thinking, busy, stalled}, ","),
		"kinds of work, separated by commas")
	only := flags.String("only", "", "generators to compare, separated by commas; defaults to all")
	flags.DurationVar(&o.think, "think", 10*time.Second, "time between an answer and the next request")
	flags.DurationVar(&o.ramp, "ramp", 5*time.Second, "time over which users start")
	flags.DurationVar(&o.window, "window", 10*time.Second, "measured time, once all users have called")
	flags.IntVar(&o.rounds, "rounds", 4, "rounds of each generator and kind of work")
	flags.Int64Var(&o.memory, "memory", 8, "`GB` that a generator may take before it is stopped")
	flags.Uint64Var(&o.seed, "seed", 1, "random seed of the order")
	flags.StringVar(&o.keep, "keep", "", "`FILE` to which trials are added, and from which the tables are made")
	flags.StringVar(&o.logs, "logs", "", "`FOLDER` for everything that the generators read and write; without it "+
		"only failed trials are kept, in a temporary folder")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	if *serve {
		return serveTarget(ctx)
	}
	numbers, err := numbers(*users)
	if err != nil {
		return err
	}
	wanted, err := choose(*only)
	if err != nil {
		return err
	}
	all, err := plan(strings.Split(*kinds, ","), numbers)
	if err != nil {
		return err
	}
	return compare(ctx, o, wanted, all, stdout, stderr)
}

func numbers(text string) (all []int, err error) {
	for _, word := range strings.Split(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || n < 1 || n > usersMax {
			return nil, fmt.Errorf("-users: %q is not a number between 1 and %d", word, usersMax)
		}
		all = append(all, n)
	}
	return all, nil
}

func choose(names string) ([]peers.Tool, error) {
	if names == "" {
		return generators, nil
	}
	var all []peers.Tool
	for _, name := range strings.Split(names, ",") {
		i := slices.IndexFunc(generators, func(g peers.Tool) bool { return g.Name == strings.TrimSpace(name) })
		if i < 0 {
			return nil, fmt.Errorf("-only: no generator %q", name)
		}
		all = append(all, generators[i])
	}
	return all, nil
}

// compare runs the trials in turns and prints the tables, also when it is stopped early.
func compare(ctx context.Context, o options, wanted []peers.Tool, all []work, stdout, stderr io.Writer) error {
	say := func(format string, args ...any) { fmt.Fprintf(stderr, format+"\n", args...) }
	trials, err := readTrials(o.keep)
	if err != nil {
		return err
	}
	folder := filepath.Join(dirs.Cache(), "generators")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	b := &bench{options: o, programs: peers.Ready(ctx, folder, wanted, say)}
	wanted = slices.DeleteFunc(slices.Clone(wanted), func(g peers.Tool) bool { return b.programs[g.Name] == "" })
	if len(wanted) == 0 {
		return errors.New("no generator is available")
	}
	if b.folder = o.logs; b.folder == "" {
		if b.folder, err = os.MkdirTemp("", "generators-"); err != nil {
			return err
		}
	}
	made, err := b.rounds(ctx, wanted, all, say)
	if o.logs == "" && err == nil && !slices.ContainsFunc(made, func(t trial) bool { return t.Wrong != "" }) {
		err = os.RemoveAll(b.folder)
	}
	return errors.Join(err, tables(stdout, append(trials, made...)))
}

// rounds are blocks of a random order of the generators and its mirror image, drawn again for each kind of work.
func (b *bench) rounds(ctx context.Context, wanted []peers.Tool, all []work, say func(string, ...any)) (made []trial,
	err error) {
	for round := range b.options.rounds {
		for i, w := range all {
			turns := stats.Rotation(len(wanted), b.options.rounds, b.seed+uint64(i))
			for _, side := range turns[round*len(wanted) : (round+1)*len(wanted)] {
				t, err := b.do(ctx, wanted[side], w, round)
				if err != nil {
					return made, err
				}
				say("round %d, %s, %s: %s", round+1, w, wanted[side].Label(), t.line())
				made = append(made, t)
				if err := keep(b.keep, t); err != nil {
					return made, err
				}
			}
		}
	}
	return made, nil
}

// readTrials reads the trials of earlier calls.
func readTrials(path string) (all []trial, err error) {
	file, err := os.Open(path)
	if path == "" || errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var t trial
		if err := json.Unmarshal(lines.Bytes(), &t); err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		all = append(all, t)
	}
	return all, lines.Err()
}

func keep(path string, t trial) error {
	if path == "" {
		return nil
	}
	line, err := json.Marshal(t)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(append(line, '\n'))
	return errors.Join(err, file.Close())
}
