package advise

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"plimsoll/ground/host/dirs"
	"plimsoll/ground/host/kept"
	"plimsoll/ground/host/process"
	"plimsoll/ground/problem"
)

// autoConf is the file of ALTER SYSTEM. A server that does not start can be helped only there.
const autoConf = "postgresql.auto.conf"

// isDown: nobody answers at the address. A server that answers with a refusal runs.
func isDown(err error) bool {
	var answer *pgconn.PgError
	return errors.As(err, new(*pgconn.ConnectError)) && !errors.As(err, &answer)
}

// addressOf a server, as a connection string names it.
func addressOf(config *pgx.ConnConfig) string { return fmt.Sprintf("%s:%d", config.Host, config.Port) }

// revertDown restores the settings of a server that is down, and starts it if it is ours. The rest needs a server.
func (h Applier) revertDown(ctx context.Context, down error) (*Outcome, error) {
	out, err := h.revertStopped(ctx, down)
	if err != nil {
		return out, err
	}
	if h.Start == nil {
		out.Needs = "start the server; then 'plimsoll advise --revert' reverts what else was applied"
		return out, nil
	}
	if h.DSN, err = h.Start(ctx); err != nil {
		return out, problem.WithHint(fmt.Errorf("the settings are restored, but the server does not start: %w", err),
			"the cause is not 'plimsoll advise'; see the server's log")
	}
	h.Say("the server was started")
	rest, err := h.Revert(ctx)
	if rest != nil {
		rest.Steps = append(out.Steps, rest.Steps...)
		out = rest
	}
	return out, err
}

func (h Applier) revertStopped(ctx context.Context, down error) (*Outcome, error) {
	journals, err := h.journals()
	if err != nil {
		return nil, errors.Join(down, err)
	}
	out := &Outcome{}
	all := func(Step) bool { return true }
	var failed error
	open, locked := 0, map[string]bool{}
	for _, j := range journals {
		if !locked[j.Server] {
			held, err := h.lock(ctx, j.Server)
			if err != nil {
				return nil, err
			}
			defer held.Release()
			locked[j.Server] = true
		}
		open += len(slices.DeleteFunc(slices.Clone(j.Steps), func(s Step) bool { return !s.open() }))
		out.Journal = j.path
		put, err := j.revertSettings(all)
		out.Steps = append(out.Steps, put...)
		for _, s := range put {
			h.Say("%s: %s in %s", s.Change.Name, s.State, j.autoConf())
		}
		if err != nil && !errors.Is(err, errAnother) {
			out.ByHand, failed = append(out.ByHand, j.byHand(all)...), err
		}
	}
	switch {
	case errors.Is(failed, errRuns):
		return nil, down
	case failed != nil && len(out.ByHand) > 0:
		return out, problem.New(problem.Environment, fmt.Errorf("the server does not answer, and its file cannot be "+
			"changed from here: %w", failed),
			"on its machine, change the listed lines and start it, then run --revert again")
	case failed != nil || open == 0 || len(out.Steps) == 0 && h.Start == nil:
		return nil, down
	}
	return out, nil
}

// journals of the server that is meant, whatever the database: its settings are those of all.
func (h Applier) journals() (all []*Journal, err error) {
	files, err := filepath.Glob(filepath.Join(h.Folder, "*.json"))
	if err != nil {
		return nil, err
	}
	address := ""
	if config, err := pgx.ParseConfig(h.DSN); err == nil {
		address = addressOf(config)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		j := &Journal{}
		if json.Unmarshal(text, j) != nil || j.Schema != journalSchema {
			continue
		}
		j.path = file
		if h.Cluster != "" && j.Cluster == h.Cluster || h.Cluster == "" && j.Address == address {
			all = append(all, j)
		}
	}
	return all, nil
}

func (j *Journal) autoConf() string { return filepath.Join(j.Data, autoConf) }

// byHand are the lines to change where the file is not ours.
func (j *Journal) byHand(concerns func(Step) bool) (lines []string) {
	for i := len(j.Steps) - 1; i >= 0; i-- {
		s := j.Steps[i]
		switch {
		case s.Change.Kind != Setting || !s.open() || !concerns(s):
		case s.Before == nil:
			lines = append(lines, fmt.Sprintf("%s: remove the line %s", j.autoConf(), autoLine(s.Change.Name,
				s.Change.Value)))
		default:
			lines = append(lines, fmt.Sprintf("%s: replace %s by %s", j.autoConf(), autoLine(s.Change.Name,
				s.Change.Value), autoLine(s.Change.Name, *s.Before)))
		}
	}
	return lines
}

var (
	errRuns    = errors.New("the server is running")
	errAnother = errors.New("its folder belongs to another server")
)

// revertSettings restores settings in the file of a server that is down, and notes it. It returns the steps as they are
// then.
func (j *Journal) revertSettings(concerns func(Step) bool) (put []Step, err error) {
	var steps []*Step
	for i := len(j.Steps) - 1; i >= 0; i-- {
		if s := &j.Steps[i]; s.Change.Kind == Setting && s.open() && concerns(*s) {
			steps = append(steps, s)
		}
	}
	if len(steps) == 0 {
		return nil, nil
	}
	if j.Data == "" {
		return nil, errors.New("the journal does not say where the server's files are")
	}
	owner, err := process.OwnerOf(j.Data)
	if err != nil {
		return nil, err
	}
	running, err := process.In(j.Data, "postgres", owner)
	if err != nil {
		return nil, err
	}
	if len(running) > 0 {
		return nil, errRuns
	}
	states := make([]State, len(steps))
	owner.WithPermissions(func() { err = j.rewrite(steps, states) })
	if err != nil {
		return nil, err
	}
	for i, s := range steps {
		s.State, s.At = states[i], time.Now().UTC()
		put = append(put, *s)
	}
	return put, j.write()
}

const autoConfMost = 1 << 20

// rewrite the file of the server that the journal is about: another one may have come to its folder.
func (j *Journal) rewrite(steps []*Step, states []State) error {
	control, err := dirs.ReadIn(j.Data, "global/pg_control", autoConfMost)
	if err != nil {
		return err
	}
	const identifierBytes = 8
	if len(control) < identifierBytes || strconv.FormatUint(binary.NativeEndian.Uint64(control), 10) != j.Server {
		return fmt.Errorf("%s: %w", j.Data, errAnother)
	}
	text, err := dirs.ReadIn(j.Data, autoConf, autoConfMost)
	if err != nil {
		return err
	}
	lines := strings.SplitAfter(string(text), "\n")
	for i, s := range steps {
		lines, states[i] = s.revertIn(lines)
	}
	info, err := os.Stat(j.autoConf())
	if err != nil {
		return err
	}
	return kept.WriteText(j.autoConf(), []byte(strings.Join(lines, "")), info.Mode().Perm())
}

// revertIn restores a setting in the lines of the file, of which the last with a name counts.
func (s Step) revertIn(lines []string) ([]string, State) {
	var now *string
	for _, line := range lines {
		if name, value, is := readAutoLine(line); is && strings.EqualFold(name, s.Change.Name) {
			now = &value
		}
	}
	switch s.stateFor(now) {
	case unchanged:
		return lines, Reverted
	case foreign:
		return lines, Left
	}
	lines = slices.DeleteFunc(lines, func(line string) bool {
		name, _, is := readAutoLine(line)
		return is && strings.EqualFold(name, s.Change.Name)
	})
	if s.Before != nil {
		if last := len(lines) - 1; last >= 0 && lines[last] != "" && !strings.HasSuffix(lines[last], "\n") {
			lines[last] += "\n"
		}
		lines = append(lines, autoLine(s.Change.Name, *s.Before)+"\n")
	}
	return lines, Reverted
}

// settingLine: a name, perhaps an equals sign, and a value in quotes or one word.
var settingLine = regexp.MustCompile(`^\s*([A-Za-z_][\w.]*)\s*(?:=\s*|\s)('(?:[^'\\]|''|\\.)*'|[^\s#']+)`)

var (
	quoting   = strings.NewReplacer(`\`, `\\`, `'`, `''`)
	unquoting = strings.NewReplacer(`\\`, `\`, `''`, `'`, `\'`, `'`)
)

func autoLine(name, value string) string { return name + " = '" + quoting.Replace(value) + "'" }

func readAutoLine(line string) (name, value string, is bool) {
	parts := settingLine.FindStringSubmatch(line)
	if parts == nil {
		return "", "", false
	}
	value = parts[2]
	if strings.HasPrefix(value, "'") {
		value = unquoting.Replace(value[1 : len(value)-1])
	}
	return parts[1], value, true
}
