package scenario

import (
	"fmt"
	"maps"
	"slices"

	"plimsoll/ground/human"
	"plimsoll/ground/problem"
	"plimsoll/lab/load/custom"
	"plimsoll/lab/load/request"
	"plimsoll/lab/load/script"
)

// checkVariables refuses variables that nothing sets: they would be NULL in a statement, which then does nothing and is
// quick. What is set anywhere may be used anywhere, since operations of one user follow each other in any order.
func (r *reader) checkVariables() error {
	known := r.variablesSet()
	if err := r.checkCommon(known); err != nil {
		return err
	}
	if err := r.checkUses([]string{"login"}, r.Own.Login, known); err != nil {
		return err
	}
	for _, op := range r.Operations {
		if err := r.checkUses([]string{"operations", op.ID}, op.Action, known); err != nil {
			return err
		}
	}
	return nil
}

// variablesSet by the file, for every user, or by any action.
func (r *reader) variablesSet() script.Sets {
	known := script.Sets{Names: map[string]bool{script.ClientID: true, script.DefaultSeed: true,
		script.RandomSeed: true}}
	for name := range r.Own.Variables {
		known.Names[name] = true
	}
	if r.connect != nil && r.Own.Session == custom.OfUser {
		r.connect.AddSets(&known)
	}
	r.dataVariables(&known)
	parts := r.Own.Login.Parts()
	for _, op := range r.Operations {
		parts = append(parts, op.Action.Parts()...)
	}
	for _, a := range parts {
		if a.Script != nil {
			a.Script.AddSets(&known)
		}
		if a.Request != nil {
			for name := range a.Request.Extract {
				known.Names[name] = true
			}
		}
	}
	return known
}

func unknownVariable(at, name string, known script.Sets) error {
	return problem.New(problem.Usage, fmt.Errorf("%s: nothing sets the variable %s", at, name),
		human.NearestHint(name, slices.Sorted(maps.Keys(known.Names)),
			`give it in [variables], by \set or \gset in a script, or by extract from an answer`))
}

// checkCommon looks at what all requests have in common.
func (r *reader) checkCommon(known script.Sets) error {
	all := templates{}
	for name, text := range r.Own.HTTP.Headers {
		all.add(text, "headers", name)
	}
	if a := r.Own.HTTP.Auth; a != nil {
		all.add(a.Basic, "auth", "basic")
		all.add(a.Bearer, "auth", "bearer")
	}
	return r.checkTemplates([]string{"http"}, all, known)
}

func (r *reader) checkUses(key []string, a *custom.Action, known script.Sets) error {
	for i, part := range a.Parts() {
		at := key
		if len(a.Steps) > 0 {
			at = stepKey(key, i)
		}
		if part.Script != nil {
			for _, use := range part.Script.Uses(r.Own.Mode) {
				if !known.Has(use.Name) {
					return unknownVariable(fmt.Sprintf("%s, line %d of its script", r.place(at...), use.Line), use.Name,
						known)
				}
			}
		}
		if part.Request != nil {
			if err := r.checkTemplates(at, templatesOf(part.Request), known); err != nil {
				return err
			}
		}
	}
	return nil
}

// templates by their keys within a table.
type templates []keyed

type keyed struct {
	key  []string
	text string
}

func (t *templates) add(text string, key ...string) { *t = append(*t, keyed{key, text}) }

func templatesOf(q *request.Request) (all templates) {
	all.add(q.URL, "url")
	all.add(q.Body, "body")
	for name, text := range q.Headers {
		all.add(text, "headers", name)
	}
	for table, fields := range map[string]map[string][]string{"form": q.Form, "multipart": q.Multipart} {
		for name, values := range fields {
			for _, text := range values {
				all.add(text, table, name)
			}
		}
	}
	for _, e := range q.Check.Values {
		all.add(e.Want, "check", e.Source.String())
	}
	for _, text := range q.Resources {
		all.add(text, "resources")
	}
	slices.SortFunc(all, func(a, b keyed) int { return slices.Compare(a.key, b.key) })
	return all
}

func (r *reader) checkTemplates(at []string, all templates, known script.Sets) error {
	for _, t := range all {
		names, _ := request.Variables(t.text) // mistakes in it were refused when it was read
		for _, name := range names {
			if !known.Has(name) {
				return unknownVariable(r.place(slices.Concat(at, t.key)...), name, known)
			}
		}
	}
	return nil
}
