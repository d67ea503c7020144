package scenario

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/ground/problem"
	"plimsoll/ground/tomlfile"
	"plimsoll/lab/load/custom"
	"plimsoll/lab/load/request"
	"plimsoll/lab/load/script"
)

type setter = func(*reader, tomlfile.Entry) error

// ownKeys describe custom operations and the login, which is one too.
func ownKeys() []key {
	all := []key{
		{"sql", true, nil},
		{"sql.mode", false, mode},
		{"sql.reset", false, reset},
		{"variables", true, nil},
		{"variables.*", false, ownVariable},
		{"login", true, nil},
	}
	all = append(all, httpKeys()...)
	for _, at := range []string{"operations.*", "login"} {
		all = append(all,
			key{at + ".count", false, countQuery},
			key{at + ".steps", false, stepList},
			key{at + ".steps.*", true, newStep},
			key{at + ".steps.*.think", false, stepThink},
		)
	}
	for _, at := range []string{"operations.*", "login", "operations.*.steps.*", "login.steps.*"} {
		all = append(all, contentKeys(at)...)
		all = append(all,
			key{at + ".sql", false, scriptKey(inline)},
			key{at + ".script", false, scriptKey(fromFile)},
			key{at + ".method", false, method},
			key{at + ".url", false, template(func(q *request.Request, s string) { q.URL = s })},
			key{at + ".headers", true, nil},
			key{at + ".headers.*", false, header},
			key{at + ".expect", false, statuses(func(q *request.Request, all []int) { q.Expect = all })},
			key{at + ".refused", false, refused},
			key{at + ".contains", false, ofRequest(text, func(q *request.Request, s string) { q.Contains = s })},
			key{at + ".extract", true, nil},
			key{at + ".extract.*", false, extract},
			key{at + ".check", true, nil},
			key{at + ".check.*", false, check},
			key{at + ".resources", false, resources},
		)
	}
	return all
}

// actionOf is the action, or its step, that a key describes; its first key creates it.
func (r *reader) actionOf(e tomlfile.Entry) *custom.Action {
	whole, key := r.wholeOf(e)
	if len(key) > 1 && key[0] == "steps" {
		return whole.Steps[len(whole.Steps)-1] // steps are read one after the other
	}
	return whole
}

// wholeOf is the login or the operation that a key belongs to, and what of the key is inside it.
func (r *reader) wholeOf(e tomlfile.Entry) (a *custom.Action, key []string) {
	if e.Key[0] == "login" {
		if r.Own.Login == nil {
			r.Own.Login = &custom.Action{}
		}
		return r.Own.Login, e.Key[1:]
	}
	op := r.operation(e.Key[1])
	if op.Action == nil {
		op.Action = &custom.Action{}
	}
	return op.Action, e.Key[2:]
}

func (r *reader) requestOf(e tomlfile.Entry) *request.Request {
	a := r.actionOf(e)
	if a.Request == nil {
		a.Request = &request.Request{}
	}
	return a.Request
}

func mode(r *reader, e tomlfile.Entry) error {
	s, _ := e.Raw.(string)
	var words []string
	for _, m := range script.Modes {
		words = append(words, string(m))
	}
	if !slices.Contains(words, s) {
		return r.wrong(e, fmt.Sprintf("must be one of %s, not %v", strings.Join(words, ", "), e.Raw),
			human.NearestHint(s, words, ""))
	}
	r.Own.Mode = script.Mode(s)
	return nil
}

func ownVariable(r *reader, e tomlfile.Entry) error {
	if !script.IsName(e.Key[1]) {
		return r.wrong(e, "is not a variable name", "letters, digits and _, no digit first")
	}
	if r.Own.Variables == nil {
		r.Own.Variables = map[string]string{}
	}
	switch e.Raw.(type) {
	case string, int64, float64, bool:
		r.Own.Variables[e.Key[1]] = fmt.Sprint(e.Raw)
		return nil
	}
	return r.wrong(e, fmt.Sprintf("takes a number or text, not %v", e.Raw), "")
}

// The text of a script, its file, and the line where it begins.
type source func(r *reader, e tomlfile.Entry, s string) (content, path string, line int, err error)

func inline(r *reader, e tomlfile.Entry, s string) (string, string, int, error) {
	if raw := strings.Count(s, "\n"); raw > 0 {
		return s, r.file.Path, e.Line + 1, nil // the text begins after the line with the quotes
	}
	return s, r.file.Path, e.Line, nil
}

func fromFile(r *reader, e tomlfile.Entry, s string) (string, string, int, error) {
	path := r.pathOf(s)
	content, err := os.ReadFile(path)
	if err != nil {
		return "", path, 0, r.wrong(e, fmt.Sprintf("read script: %v", err), pathHint)
	}
	return string(content), path, 1, nil
}

func scriptKey(from source) setter {
	return func(r *reader, e tomlfile.Entry) error {
		s, ok := e.Raw.(string)
		if !ok {
			return r.wrong(e, fmt.Sprintf("takes text in quotes, not %v", e.Raw), "")
		}
		a := r.actionOf(e)
		if a.Script != nil {
			return r.wrong(e, "a script is already given", "give sql or script, not both")
		}
		content, path, line, err := from(r, e, s)
		if err != nil {
			return err
		}
		a.Script, err = parseAt(e, content, path, line)
		a.SQL = content
		return err
	}
}

// parseAt reports mistakes with the line of the file.
func parseAt(e tomlfile.Entry, content, path string, line int) (*script.Script, error) {
	parsed, err := script.Parse(content)
	var m *script.Mistake
	if errors.As(err, &m) {
		at := fmt.Sprintf("%s:%d", path, line+m.Line-1)
		return nil, problem.New(problem.Usage, fmt.Errorf("%s: %s: %s", at, keyText(e.Key), m.Says), m.Hint)
	}
	return parsed, err
}

func reset(r *reader, e tomlfile.Entry) error {
	if s, ok := e.Raw.(string); ok {
		content, path, line, _ := inline(r, e, s)
		if _, err := parseAt(e, content, path, line); err != nil {
			return err
		}
	}
	return text(func(r *reader, s string) { r.Own.Reset = s })(r, e)
}

func method(r *reader, e tomlfile.Entry) error {
	s, _ := e.Raw.(string)
	known := []string{"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"}
	if !slices.Contains(known, s) {
		return r.wrong(e, fmt.Sprintf("must be one of %s, not %v", strings.Join(known, ", "), e.Raw),
			human.NearestHint(s, known, ""))
	}
	r.requestOf(e).Method = s
	return nil
}

func ofRequest[T any](kind func(func(*reader, T)) setter, set func(*request.Request, T)) setter {
	return func(r *reader, e tomlfile.Entry) error {
		return kind(func(r *reader, value T) { set(r.requestOf(e), value) })(r, e)
	}
}

// template is text with {{variables}}.
func template(set func(*request.Request, string)) setter {
	return func(r *reader, e tomlfile.Entry) error {
		s, err := r.templateText(e)
		if err == nil {
			set(r.requestOf(e), s)
		}
		return err
	}
}

func header(r *reader, e tomlfile.Entry) error {
	s, err := r.templateText(e)
	if err != nil {
		return err
	}
	q := r.requestOf(e)
	if q.Headers == nil {
		q.Headers = map[string]string{}
	}
	return r.headerInto(q.Headers, e, s)
}

func statuses(set func(*request.Request, []int)) setter {
	return func(r *reader, e tomlfile.Entry) error {
		all, ok := statusList(e.Raw)
		if !ok {
			return r.wrong(e, fmt.Sprintf("takes a status or a list of them, such as [200, 201], not %v", e.Raw), "")
		}
		set(r.requestOf(e), all)
		return nil
	}
}

func statusList(raw any) (all []int, ok bool) {
	list, is := raw.([]any)
	if !is {
		list = []any{raw}
	}
	for _, item := range list {
		n, is := item.(int64)
		if !is || n < 100 || n > 599 {
			return nil, false
		}
		all = append(all, int(n))
	}
	return all, true
}

// countQuery is SQL that returns one number.
func countQuery(r *reader, e tomlfile.Entry) error {
	return text(func(r *reader, s string) { r.actionOf(e).Count = s })(r, e)
}

// refused takes HTTP statuses or, as text, SQLSTATEs.
func refused(r *reader, e tomlfile.Entry) error {
	if all, ok := statusList(e.Raw); ok {
		r.requestOf(e).Refused = all
		return nil
	}
	list, is := e.Raw.([]any)
	if !is {
		list = []any{e.Raw}
	}
	for _, item := range list {
		s, is := item.(string)
		if !is || len(s) != 5 {
			return r.wrong(e, fmt.Sprintf("takes HTTP statuses such as [409] or SQLSTATEs such as [\"P0001\"], not %v",
				e.Raw), "")
		}
		a := r.actionOf(e)
		a.RefusedStates = append(a.RefusedStates, s)
	}
	return nil
}
