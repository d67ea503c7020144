package line

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"plimsoll/ground/host/dirs"
	"plimsoll/ground/host/kept"
	"plimsoll/ground/human"
	"plimsoll/lab/session"
)

// Store is a folder of searches and of sessions of several.
type Store struct {
	kept.Folder
	sessions kept.Folder
}

// OpenStore names the folder; the first search creates it.
func OpenStore(dir string) *Store {
	return &Store{kept.Folder{Root: dir, File: "line.json", Kind: "load line"},
		kept.Folder{Root: dir, File: "lines.json", Kind: "load line"}}
}

// DefaultStore is the folder of searches in the state directory.
func DefaultStore() *Store { return OpenStore(filepath.Join(dirs.State(), "lines")) }

// Labelled searches begin in it.
func (s *Store) Labelled(l kept.Label) *Store {
	s.Beginning, s.sessions.Beginning = l, l
	return s
}

// Folders of searches and of sessions.
func (s *Store) Folders() []kept.Folder { return []kept.Folder{s.Folder, s.sessions} }

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
		what := id
		if plan.Configuration != "" {
			what += ", " + plan.Configuration + ","
		}
		if text := plan.origin().Foreign(p.plans[i].origin(), what); text != "" {
			return text
		}
	}
	return ""
}

func (p Plan) origin() session.Origin { return session.Origin{Program: p.Program, Server: p.Server} }

// Resumable fails if no search or session of any plan was stopped: known before the systems are started.
func (s *Store) Resumable() error {
	names, err := filepath.Glob(filepath.Join(s.Root, "*", "*.json"))
	for _, name := range names {
		var found struct{ Complete bool }
		text, readErr := os.ReadFile(name)
		if readErr == nil && json.Unmarshal(text, &found) == nil && !found.Complete {
			return nil
		}
	}
	if err != nil {
		return s.Failed(err)
	}
	return session.NothingStopped(kind, "")
}

// kind of session, for who resumes one.
const kind = "search"

// unfinished is the newest incomplete search of a plan.
func (s *Store) unfinished(ctx context.Context, plan Plan) (*Line, func(), error) {
	return newest(ctx, s.Folder, Schema, func(l *Line) stopped {
		return stopped{l.Schema, l.Complete, []Plan{l.Plan}, len(l.Trials)}
	}, []Plan{plan})
}

// unfinishedComparison is the newest incomplete session of these plans.
func (s *Store) unfinishedComparison(ctx context.Context, plans []Plan) (*Comparison, func(), error) {
	return newest(ctx, s.sessions, ComparisonSchema, func(c *Comparison) stopped {
		return stopped{c.Schema, c.Complete, c.plans(), c.Trials()}
	}, plans)
}

// newest stopped search or session of a schema with these plans.
func newest[T any](ctx context.Context, folder kept.Folder, schema string, read func(*T) stopped,
	plans []Plan) (*T, func(), error) {
	return session.Resume(ctx, folder, kind, func(path string) (*T, error) {
		one := new(T)
		text, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(text, one)
		}
		return one, err
	}, func(id string, one *T) session.Match {
		switch was := read(one); {
		case was.complete:
			return session.Match{}
		case was.schema != schema:
			return session.Match{Hint: fmt.Sprintf("%s was stopped by another version (%s, this one writes %s): "+
				"finish it with that one, or start over without --resume", id, was.schema, schema)}
		case was.same(plans):
			return session.Match{Same: true, Foreign: was.mismatch(id, plans)}
		default:
			return session.Match{Hint: was.hint(id, plans)}
		}
	})
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
	"serve": "the flags of the workers", "urls": "--url", "replay": "--replay",
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
