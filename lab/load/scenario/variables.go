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
	if r.Own.Login != nil {
		if err := r.checkUses(r.file.Path+": login", r.Own.Login, known); err != nil {
			return err
		}
	}
	for _, op := range r.Operations {
		where := fmt.Sprintf("%s: %s", r.lineOf("operation", op.ID), keyText([]string{"operations", op.ID}))
		if op.Action == nil {
			continue
		}
		if err := r.checkUses(where, op.Action, known); err != nil {
			return err
		}
	}
	return nil
}

// variablesSet by the file, for every user, or by any action.
func (r *reader) variablesSet() script.Sets {
	known := script.Sets{Names: map[string]bool{script.ClientID: true, script.DefaultSeed: true}}
	for name := range r.Own.Variables {
		known.Names[name] = true
	}
	actions := []*custom.Action{r.Own.Login}
	for _, op := range r.Operations {
		actions = append(actions, op.Action)
	}
	for _, a := range actions {
		if a == nil {
			continue
		}
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

func (r *reader) checkUses(where string, a *custom.Action, known script.Sets) error {
	unknown := func(at, name string) error {
		return problem.New(problem.Usage, fmt.Errorf("%s: nothing sets the variable %s", at, name),
			human.NearestHint(name, slices.Sorted(maps.Keys(known.Names)),
				`give it in [variables], by \set or \gset in a script, or by extract from an answer`))
	}
	if a.Script != nil {
		for _, use := range a.Script.Uses(r.Own.Mode) {
			if !known.Has(use.Name) {
				return unknown(fmt.Sprintf("%s, line %d of its script", where, use.Line), use.Name)
			}
		}
	}
	if a.Request == nil {
		return nil
	}
	templates := map[string]string{".url": a.Request.URL, ".body": a.Request.Body}
	for name, text := range a.Request.Headers {
		templates[".headers."+name] = text
	}
	for _, key := range slices.Sorted(maps.Keys(templates)) {
		names, _ := request.Variables(templates[key]) // mistakes in it were refused when it was read
		for _, name := range names {
			if !known.Has(name) {
				return unknown(where+key, name)
			}
		}
	}
	return nil
}
