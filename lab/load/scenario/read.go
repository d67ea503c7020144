package scenario

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/ground/problem"
	"plimsoll/ground/tomlfile"
	"plimsoll/lab/load/custom"
	"plimsoll/lab/load/script"
	"plimsoll/lab/load/users"
)

// Read reads a scenario file; without one it is the default. Errors name file, line and key.
func Read(path string) (*Scenario, error) {
	if path == "" {
		return Default(), nil
	}
	f, err := tomlfile.Read(path)
	var lacks *fs.PathError
	if errors.As(err, &lacks) {
		return nil, problem.New(problem.Usage, fmt.Errorf("read scenario: %w", err),
			"'plimsoll scenario' prints one to start from")
	}
	if err != nil {
		return nil, err
	}
	return read(f)
}

// reader fills a scenario from a file.
type reader struct {
	file *tomlfile.File
	*Scenario
	think users.Think // of roles without think times of their own
	users int
	lines map[string]int // where an operation, a role or a key begins
	// connect is the script that new sessions run; nil: none.
	connect *script.Script
}

func read(f *tomlfile.File) (*Scenario, error) {
	r := &reader{file: f, Scenario: Default(), users: UsersDefault, think: users.Think{Mean: ThinkMeanDefault},
		lines: map[string]int{}}
	r.Name = strings.TrimSuffix(filepath.Base(f.Path), ".toml")
	r.Roles = nil
	if err := r.begin(); err != nil {
		return nil, err
	}
	for _, e := range f.Entries {
		if err := r.take(e); err != nil {
			return nil, err
		}
	}
	if err := r.complete(); err != nil {
		return nil, err
	}
	return r.Scenario, nil
}

// begin decides whether the ERP's operations are included, since other keys refer to them.
func (r *reader) begin() error {
	for _, e := range r.file.Entries {
		if name := strings.Join(e.Key, "."); name == "application" {
			text, _ := e.Raw.(string)
			if r.Application = Application(text); !slices.Contains(Applications, r.Application) {
				return r.wrong(e, `must be "erp", "1c" or "none"`, human.NearestHint(text,
					[]string{string(ERP), string(OneC), string(NoERP)}, ""))
			}
		}
	}
	if r.Application != ERP {
		r.Operations, r.Refused = operationsOf(r.Application), 0
	}
	// Operations are declared first, wherever they stand, since other keys refer to them.
	for _, e := range r.file.Entries {
		if len(e.Key) > 1 && e.Key[0] == "operations" {
			if err := r.declare(e); err != nil {
				return err
			}
		}
	}
	return nil
}

var applicationText = map[Application]string{ERP: "the ERP", OneC: "the 1C load"}

// declare adds an operation of the file.
func (r *reader) declare(e tomlfile.Entry) error {
	if _, seen := r.lines["operation "+e.Key[1]]; !seen {
		r.lines["operation "+e.Key[1]] = e.Line
	}
	if r.operation(e.Key[1]) != nil {
		return nil
	}
	e.Key = e.Key[:2]
	if r.Application != NoERP && !r.describesOwn(e.Key[1]) {
		return r.wrong(e, "no such key operation in "+applicationText[r.Application]+
			", and no [operations.NAME] describes it",
			human.NearestHint(e.Key[1], r.ids(), "one of your own has sql, script, url or steps"))
	}
	r.Operations = append(r.Operations, Operation{ID: e.Key[1], Title: e.Key[1], Priority: PriorityDefault,
		Weight: WeightDefault})
	return nil
}

// describesOwn says whether the file describes what an operation does.
func (r *reader) describesOwn(id string) bool {
	return slices.ContainsFunc(r.file.Entries, func(e tomlfile.Entry) bool {
		return len(e.Key) == 3 && e.Key[0] == "operations" && e.Key[1] == id &&
			slices.Contains([]string{"sql", "script", "url", "steps"}, e.Key[2])
	})
}

func (r *reader) ids() []string { return r.OperationIDs() }

func (r *reader) operation(id string) *Operation {
	for i := range r.Operations {
		if r.Operations[i].ID == id {
			return &r.Operations[i]
		}
	}
	return nil
}

// take passes a key to its setter.
func (r *reader) take(e tomlfile.Entry) error {
	r.lines[keyText(e.Key)] = e.Line
	for _, k := range keys {
		if !k.matches(e.Key) {
			continue
		}
		if k.table != e.Table {
			return r.wrong(e, "takes "+k.takes(), "")
		}
		if k.set == nil {
			return nil
		}
		return k.set(r, e)
	}
	return r.unknown(e)
}

// unknown suggests a key of the same table.
func (r *reader) unknown(e tomlfile.Entry) error {
	for n := 1; n < len(e.Key); n++ { // the outermost wrong part: [rolls.clerk] names two tables
		if !slices.ContainsFunc(keys, func(k key) bool { return k.matches(e.Key[:n]) }) {
			e.Key = e.Key[:n]
		}
	}
	known := siblings(e.Key)
	last := e.Key[len(e.Key)-1]
	otherwise := "there are " + strings.Join(known, ", ")
	if len(known) == 0 {
		otherwise = "docs/scenario.md has all keys"
	}
	return r.wrong(e, "unknown key", human.NearestHint(last, known, otherwise))
}

// wrong names file, line and key.
func (r *reader) wrong(e tomlfile.Entry, says, hint string) error {
	return problem.New(problem.Usage, fmt.Errorf("%s: %s: %s", r.file.At(e.Line), keyText(e.Key), says), hint)
}

func keyText(key []string) string {
	parts := slices.Clone(key)
	for i, part := range parts {
		if strings.ContainsAny(part, ".: ") {
			parts[i] = `"` + part + `"`
		}
	}
	return strings.Join(parts, ".")
}

// complete fills in defaults and checks rules that span several keys.
func (r *reader) complete() error {
	if len(r.Operations) == 0 {
		return problem.New(problem.Usage, fmt.Errorf("%s: there is no key operation", r.file.Path),
			"describe one in a table [operations.NAME] with sql, script, url or steps")
	}
	for i := range r.Operations {
		if err := r.completeOperation(&r.Operations[i]); err != nil {
			return err
		}
	}
	if r.Own.Login != nil {
		if err := r.completeAction([]string{"login"}, r.Own.Login); err != nil {
			return err
		}
	}
	if err := r.completeHTTP(); err != nil {
		return err
	}
	if err := r.completeStages(); err != nil {
		return err
	}
	if err := r.completeData(); err != nil {
		return err
	}
	if err := r.completeSQL(); err != nil {
		return err
	}
	if err := r.checkVariables(); err != nil {
		return err
	}
	if len(r.Roles) == 0 {
		r.Roles = []Role{{Name: roleDefault, Users: r.users}}
	}
	for i := range r.Roles {
		role := &r.Roles[i]
		role.Think = r.thinkOf(role.Think)
	}
	return r.checkWhole()
}

func (r *reader) thinkOf(own users.Think) users.Think {
	if own.Mean == 0 {
		own.Mean = r.think.Mean
	}
	if own.Mean == noThink {
		own.Mean = 0
	}
	if own.Distribution == "" {
		own.Distribution = r.think.Distribution
	}
	if own.Cap == 0 {
		own.Cap = r.think.Cap
	}
	return own.WithDefaults()
}

func (r *reader) completeOperation(op *Operation) error {
	if op.Target <= 0 {
		err := fmt.Errorf("%s: %s has no target", r.lineOf("operation", op.ID), keyText([]string{"operations", op.ID}))
		return problem.New(problem.Usage, err, `the T of Apdex, such as target = "500ms"`)
	}
	if op.Action == nil && r.Application.brings(op.ID) {
		return nil
	}
	if op.Action == nil {
		op.Action = &custom.Action{}
	}
	return r.completeAction([]string{"operations", op.ID}, op.Action)
}

// lineOf is the line where an operation or a role begins.
func (r *reader) lineOf(what, name string) string { return r.file.At(r.lines[what+" "+name]) }

func (r *reader) checkWhole() error {
	whole := func(err error) error {
		return problem.New(problem.Usage, fmt.Errorf("%s: %w", r.file.Path, err), "")
	}
	if !slices.ContainsFunc(r.Roles, func(role Role) bool { return role.Users > 0 }) {
		return whole(fmt.Errorf("the roles have no users"))
	}
	for _, role := range r.Roles {
		sum := 0.0
		for _, w := range r.weights(role) {
			sum += w
		}
		if sum <= 0 {
			return problem.New(problem.Usage, fmt.Errorf("%s: role %s has nothing to do: no weight above 0",
				r.lineOf("role", role.Name), role.Name), "")
		}
		if err := role.Think.Check(); err != nil {
			return problem.New(problem.Usage, fmt.Errorf("%s: role %s: %w", r.lineOf("role", role.Name), role.Name,
				err), "")
		}
	}
	c := r.Crowd(0, nil)
	c.Steady, c.Timeout = 1, 1
	if err := c.Check(); err != nil {
		return whole(err)
	}
	return nil
}
