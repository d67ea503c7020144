package line

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"plimsoll/ground/host/dirs"
	"plimsoll/ground/human"
	"plimsoll/ground/problem"
	"plimsoll/lab/run/store"
)

// Names in the folder of a search.
const (
	lineFile       = "line.json"
	comparisonFile = "lines.json"
	reportFile     = "report.html"
)

// Store is a folder of searches.
type Store struct{ dir string }

// OpenStore names the folder; the first search creates it.
func OpenStore(dir string) *Store { return &Store{dir} }

// DefaultStore is the folder of searches in the state directory.
func DefaultStore() *Store { return OpenStore(filepath.Join(dirs.State(), "lines")) }

// begin reserves a folder and returns its name, the time in UTC.
func (s *Store) begin(at time.Time) (id string, err error) {
	id, err = store.Reserve(s.dir, at.UTC().Format(store.IDFormat))
	return id, s.problem(err)
}

func (s *Store) problem(err error) error {
	if err == nil {
		return nil
	}
	return problem.New(problem.Environment, fmt.Errorf("store the load line: %w", err),
		"PLIMSOLL_STATE names another state directory")
}

// save writes the page and the JSON, each whole or not at all.
func (s *Store) save(l *Line) error { return s.write(l.ID, lineFile, l.HTML, l.WriteJSON) }

func (s *Store) saveComparison(c *Comparison) error {
	return s.write(c.ID, comparisonFile, c.HTML, c.WriteJSON)
}

func (s *Store) write(id, file string, page, tree func(io.Writer) error) error {
	err := store.WriteWhole(s.ReportPath(id), page)
	if err == nil {
		err = store.WriteWhole(filepath.Join(s.dir, id, file), tree)
	}
	return s.problem(err)
}

// ReportPath is the path of a search's page.
func (s *Store) ReportPath(id string) string { return filepath.Join(s.dir, id, reportFile) }

// stopped is how a kept search or session was requested.
type stopped struct {
	schema   string
	complete bool
	plans    []Plan
	trials   int
}

func (p *stopped) same(plans []Plan) bool {
	return slices.EqualFunc(p.plans, plans, func(a, b Plan) bool { return a.Fingerprint() == b.Fingerprint() })
}

// mismatch says why new trials would not be of the same system as the old ones; empty: they would be.
func (p *stopped) mismatch(id string, plans []Plan) string {
	for i, plan := range plans {
		was, id := p.plans[i], id
		if plan.Configuration != "" {
			id += ", " + plan.Configuration + ","
		}
		switch {
		case plan.Program != was.Program:
			return fmt.Sprintf("%s was made by plimsoll %s, this is %s", id, cmp.Or(was.Program, "of an older version"),
				plan.Program)
		case plan.Server == nil && was.Server == nil:
		case plan.Server == nil || was.Server == nil:
			return id + " does not record its server"
		case !plan.Server.Equal(*was.Server):
			return fmt.Sprintf("%s is of another server: %s", id, plan.Server.Difference(*was.Server))
		}
	}
	return ""
}

// Resumable fails if no search or session of any plan was stopped: known before the systems are started.
func (s *Store) Resumable() error {
	names, err := filepath.Glob(filepath.Join(s.dir, "*", "*.json"))
	for _, name := range names {
		var kept struct{ Complete bool }
		text, readErr := os.ReadFile(name)
		if readErr == nil && json.Unmarshal(text, &kept) == nil && !kept.Complete {
			return nil
		}
	}
	if err != nil {
		return s.problem(err)
	}
	return nothingStopped(startHint)
}

const startHint = "start one: the same command without --resume"

func nothingStopped(hint string) error {
	return problem.New(problem.Usage, errors.New("no search with these settings was stopped"), hint)
}

// unfinished is the newest incomplete search of a plan.
func (s *Store) unfinished(plan Plan) (*Line, error) {
	return newest(s, lineFile, Schema, func(l *Line) stopped {
		return stopped{l.Schema, l.Complete, []Plan{l.Plan}, len(l.Trials)}
	}, []Plan{plan})
}

// unfinishedComparison is the newest incomplete session of these plans.
func (s *Store) unfinishedComparison(plans []Plan) (*Comparison, error) {
	return newest(s, comparisonFile, ComparisonSchema, func(c *Comparison) stopped {
		return stopped{c.Schema, c.Complete, c.plans(), c.Trials()}
	}, plans)
}

// newest is the newest stopped search or session among the files of a name and a schema. If none has the plans, the
// error says how the newest one differs; if one has them but another server or program, it names these.
func newest[T any](s *Store, file, schema string, read func(*T) stopped, plans []Plan) (*T, error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, s.problem(err)
	}
	slices.Reverse(entries)
	hint := startHint
	known, foreign := false, ""
	for _, e := range entries {
		kept := new(T)
		text, err := os.ReadFile(filepath.Join(s.dir, e.Name(), file))
		if err != nil || json.Unmarshal(text, kept) != nil {
			continue // of another kind, or under way elsewhere
		}
		switch was := read(kept); {
		case was.complete:
		case was.schema != schema:
			if !known {
				known, hint = true, fmt.Sprintf("%s was stopped by another version (%s, this one writes %s): finish "+
					"it with that one, or start over without --resume", e.Name(), was.schema, schema)
			}
		case was.same(plans) && was.mismatch(e.Name(), plans) == "":
			return kept, nil
		case was.same(plans):
			foreign = cmp.Or(foreign, was.mismatch(e.Name(), plans))
		case !known:
			known, hint = true, was.hint(e.Name(), plans)
		}
	}
	if foreign != "" {
		return nil, problem.New(problem.Usage, errors.New(foreign),
			"its trials cannot be mixed with new ones: start over without --resume, or continue on the server and "+
				"version that it began with")
	}
	return nil, nothingStopped(hint)
}

// hint names how a stopped search differs from these plans.
func (p *stopped) hint(id string, plans []Plan) string {
	text := fmt.Sprintf("the last one stopped, %s with %s, has ", id, human.Count(p.trials, "trial"))
	if len(p.plans) != len(plans) {
		return text + fmt.Sprintf("%d systems, not %d: repeat its exact command", len(p.plans), len(plans))
	}
	var found []string
	content := true // nothing but the content of a scenario differs
	for i, plan := range plans {
		for _, d := range p.plans[i].differences(plan) {
			content = content && strings.HasPrefix(d, contentOfScenario)
			if !slices.Contains(found, d) {
				found = append(found, d)
			}
		}
	}
	text += strings.Join(found, "; ")
	if content {
		return text + ": the scenario's file has changed, or another version of plimsoll began the search, whose own " +
			"scenario was another; its trials cannot be mixed with new ones: start over without --resume, or finish " +
			"it with the file and version that it began with"
	}
	return text + ": repeat its exact command"
}

const contentOfScenario = "another content of the scenario"

// planWords are what a person calls the fields of a plan, by their JSON names.
var planWords = map[string]string{
	"target": "--target", "first": "--from", "most": "--most", "resolution": "--resolution",
	"confirmations": "--confirmations", "duration_s": "--duration", "ramp_s": "--ramp", "timeout_s": "--timeout",
	"think_s": "--think", "seed": "--seed", "scenario": "--scenario", "scenario_digest": contentOfScenario,
	"reset": "--reset", "workers": "--workers", "profile": "the cluster's profile", "configuration": "--configurations",
	"serve": "the flags of the workers", "urls": "--url",
}

// differences between a plan and another, in the order of their names.
func (p Plan) differences(other Plan) (all []string) {
	was, is := p.fields(), other.fields()
	for _, name := range slices.Sorted(maps.Keys(planWords)) {
		if was[name] != is[name] {
			all = append(all, fmt.Sprintf("%s %s, not %s", planWords[name], cmp.Or(was[name], "none"),
				cmp.Or(is[name], "none")))
		}
	}
	return all
}

// fields of a plan, as JSON writes them.
func (p Plan) fields() map[string]string {
	text, err := json.Marshal(p)
	var values map[string]json.RawMessage
	if err == nil {
		err = json.Unmarshal(text, &values)
	}
	if err != nil {
		panic(err) // only numbers and texts: cannot fail
	}
	fields := make(map[string]string, len(values))
	for name, v := range values {
		fields[name] = strings.Trim(string(v), `"`)
	}
	return fields
}
