package scenario

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/ground/problem"
	"plimsoll/ground/tomlfile"
	"plimsoll/lab/load/custom"
	"plimsoll/lab/load/request"
	"plimsoll/lab/load/script"
)

// stepsMax is more than a key operation has that a person can name.
const stepsMax = 1000

// stepList comes before its steps, each of which is a table.
func stepList(r *reader, e tomlfile.Entry) error {
	list, _ := e.Raw.([]any)
	tables := !slices.ContainsFunc(list, func(item any) bool { _, is := item.(map[string]any); return !is })
	if len(list) == 0 || !tables || len(list) > stepsMax {
		return r.wrong(e, fmt.Sprintf("takes a list of 1 to %d tables", stepsMax),
			"write each as [["+keyText(e.Key)+"]]")
	}
	return nil
}

func newStep(r *reader, e tomlfile.Entry) error {
	whole, _ := r.wholeOf(e)
	whole.Steps = append(whole.Steps, &custom.Action{})
	return nil
}

func stepThink(r *reader, e tomlfile.Entry) error {
	switch {
	case e.Key[0] == "login":
		return r.wrong(e, "has no effect: users log in before the load", "leave it out")
	case e.Key[len(e.Key)-2] == "1":
		return r.wrong(e, "stands before the first step, where users think anyway",
			"leave it out: [think] says how long")
	}
	return duration(func(r *reader, d time.Duration) { r.actionOf(e).Think = d })(r, e)
}

// place of a key: file, line and the key itself.
func (r *reader) place(key ...string) string {
	text := keyText(key)
	if line := r.lines[text]; line > 0 {
		return fmt.Sprintf("%s: %s", r.file.At(line), text)
	}
	return fmt.Sprintf("%s: %s", r.file.Path, text)
}

// completeAction checks rules that span several keys, of an action and of its steps.
func (r *reader) completeAction(key []string, a *custom.Action) error {
	if len(a.Steps) == 0 {
		return r.completePart(key, a)
	}
	if a.Script != nil || a.Request != nil || a.RefusedStates != nil {
		return problem.New(problem.Usage, fmt.Errorf("%s has steps, and something to do itself", r.place(key...)),
			"move url, sql, script and what belongs to them into a step")
	}
	for i, step := range a.Steps {
		if err := r.completePart(stepKey(key, i), step); err != nil {
			return err
		}
	}
	return nil
}

// stepKey is the key of a step.
func stepKey(key []string, i int) []string {
	return slices.Concat(key, []string{"steps", strconv.Itoa(i + 1)})
}

func (r *reader) completePart(key []string, a *custom.Action) error {
	wrong := func(says, hint string) error {
		return problem.New(problem.Usage, fmt.Errorf("%s: %s", r.place(key...), says), hint)
	}
	switch q := a.Request; {
	case a.Script == nil && q == nil:
		return wrong("there is nothing to do", "set sql, script or url")
	case q != nil && q.URL == "":
		return wrong("the request has no url", `such as url = "/items/{{item}}"`)
	case q == nil && !a.Script.HasSQL():
		return wrong("the script has no SQL and there is no request", "add url, or SQL")
	case a.HasSQL() && a.Script.Pipeline && r.Own.Mode == script.Simple:
		return wrong(`\startpipeline is not possible in mode `+strconv.Quote(string(script.Simple)),
			`set mode = "prepared" in [sql]`)
	case q != nil:
		return completeRequest(q, wrong)
	}
	return nil
}

func completeRequest(q *request.Request, wrong func(says, hint string) error) error {
	given := q.Contents()
	switch form := len(given) > 0 && given[0] != "body"; {
	case len(given) > 1:
		return wrong(strings.Join(given, " and ")+" exclude each other", "a request has one content: keep one of them")
	case form && (q.Method == http.MethodGet || q.Method == http.MethodHead):
		return wrong(given[0]+" is not sent by "+q.Method, "leave method out, or write the fields into url")
	case q.Method == "" && form:
		q.Method = http.MethodPost
	case q.Method == "":
		q.Method = http.MethodGet
	}
	return nil
}

// completeHTTP checks what all requests have in common.
func (r *reader) completeHTTP() error {
	err := r.Own.HTTP.TLS.Apply(&tls.Config{})
	if err == nil {
		return nil
	}
	return problem.New(problem.Usage, errors.New(r.place("http", "tls")+": "+err.Error()), "the files are PEM")
}
