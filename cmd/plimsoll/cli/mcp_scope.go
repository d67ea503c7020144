package cli

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/pflag"

	"plimsoll/ground/problem"
)

// mcpScope is what tools may touch. No argument of a call leads beyond it.
type mcpScope struct {
	databases []namedValue // empty: local clusters
	cluster   string       // the only one, if it is named
	scenarios []namedValue
	loads     bool

	loading sync.Mutex // held by the load that runs: two would disturb each other
}

// namedValue is a connection string or a file, by the name that clients know.
type namedValue struct{ name, value string }

func toolNames(all []namedValue) (list []string) {
	for _, one := range all {
		list = append(list, one.name)
	}
	return list
}

func nameTwice(all []namedValue) string {
	seen := map[string]bool{}
	for _, one := range all {
		if seen[one.name] {
			return one.name
		}
		seen[one.name] = true
	}
	return ""
}

const toolName = `^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$`

var isToolName = regexp.MustCompile(toolName).MatchString

// String says what it is, without secrets.
func (s *mcpScope) String() string {
	text := "tools reach local clusters"
	switch {
	case len(s.databases) > 0:
		text = "tools reach " + strings.Join(toolNames(s.databases), ", ")
	case s.cluster != "":
		text = "tools reach cluster " + s.cluster
	}
	if s.loads {
		return text + " and may put load on them"
	}
	return text + " and only read"
}

func (s *mcpScope) instructions() string {
	text := "Plimsoll measures PostgreSQL and the applications on it: how many users a system carries (Apdex per " +
		"operation), what limits it, and what to change. These " + s.String() + "."
	if !s.loads {
		text += " run, line and compare are refused: a person must start the server with --allow-load."
	}
	return text + " Answers begin with the verdict. A figure of a run that is not valid must not be quoted. Calls " +
		"last as long as their durations say; a cancelled line or compare goes on with resume."
}

// Arguments of a tool, as JSON schemas.
type properties = map[string]any

func choiceSchema(description string, values []string) properties {
	return properties{"type": "string", "enum": values, "description": description}
}

// arguments of a tool: what names the system, its command's flags, and what is neither.
func (s *mcpScope) arguments(t commandTool) properties {
	all := properties{}
	if t.target {
		maps.Copy(all, s.targets(t))
	}
	if t.scenario && len(s.scenarios) > 0 {
		all["scenario"] = choiceSchema("scenario file that says what users do", toolNames(s.scenarios))
	}
	flags := flagsOf(t.command)
	for _, name := range t.flags {
		all[argumentOf(name)] = schemaOf(flags.Lookup(name))
	}
	maps.Copy(all, t.more)
	schema := properties{"type": "object", "properties": all, "additionalProperties": false}
	if len(t.required) > 0 {
		schema["required"] = t.required
	}
	return schema
}

func (s *mcpScope) targets(t commandTool) properties {
	switch {
	case len(s.databases) > 0 && t.sides:
		return properties{
			"database_a": choiceSchema("database of the first system (default "+s.databases[0].name+")",
				toolNames(s.databases)),
			"database_b": choiceSchema("database of the second system", toolNames(s.databases)),
		}
	case len(s.databases) > 0:
		return properties{"database": choiceSchema("which database (default "+s.databases[0].name+")",
			toolNames(s.databases))}
	case t.sides:
		return properties{"systems": properties{"type": "array", "minItems": 2, "maxItems": 8,
			"items":       properties{"type": "string", "pattern": `^[a-z0-9][a-z0-9_-]{0,39}(\+[a-z0-9]+)?$`},
			"description": "systems to compare, each CLUSTER+SHAPE, such as vanilla+classic and plimsoll+lean"}}
	case s.cluster != "":
		return properties{}
	}
	return properties{"cluster": properties{"type": "string", "pattern": toolName,
		"description": "local cluster (default: the running one)"}}
}

// words are the command line of a call.
func (s *mcpScope) words(t commandTool, arguments map[string]any) ([]string, error) {
	words := []string{t.command}
	text := func(name string) string { value, _ := arguments[name].(string); return value }
	var rest []string
	switch {
	case !t.target:
	case len(s.databases) > 0 && t.sides:
		if text("database_b") == "" {
			return nil, problem.New(problem.Usage, errors.New("database_b is needed: what is the first one compared "+
				"with?"), "there are: "+strings.Join(toolNames(s.databases), ", "))
		}
		words = append(words, "--dsn-a="+valueNamed(s.databases, text("database_a")),
			"--dsn-b="+valueNamed(s.databases, text("database_b")))
	case len(s.databases) > 0:
		words = append(words, "--dsn="+valueNamed(s.databases, text("database")))
	case t.sides:
		rest = textList(arguments["systems"])
		if s.cluster != "" {
			for _, system := range rest {
				if name, _, _ := strings.Cut(system, "+"); name != s.cluster {
					return nil, problem.New(problem.Usage, fmt.Errorf("%s: only cluster %s may be measured", system,
						s.cluster), "a person must start the server without --cluster")
				}
			}
		}
	case cmp.Or(s.cluster, text("cluster")) != "":
		words = append(words, "--cluster="+cmp.Or(s.cluster, text("cluster")))
	}
	if name := text("scenario"); name != "" {
		if path := valueNamed(s.scenarios, name); t.command == "scenario" {
			rest = append(rest, path)
		} else {
			words = append(words, "--scenario="+path)
		}
	}
	flags := flagsOf(t.command)
	for _, name := range t.flags {
		if value, given := arguments[argumentOf(name)]; given {
			words = append(words, flagWords(flags.Lookup(name), value)...)
		}
	}
	if t.rest != nil {
		rest = append(rest, t.rest(arguments)...)
	}
	return slices.Concat(words, []string{"--json", "--"}, rest), nil
}

// valueNamed the name, or of the first if none is given.
func valueNamed(all []namedValue, name string) string {
	i := slices.IndexFunc(all, func(one namedValue) bool { return one.name == name })
	return all[max(0, i)].value
}

// flagsOf a command: they describe a tool's arguments, so that nothing is described twice.
func flagsOf(command string) *pflag.FlagSet {
	root := newApp(nil, nil, nil).root
	for _, c := range root.Commands() {
		if c.Name() == command {
			return c.Flags()
		}
	}
	panic("no command " + command) // a mistake in the source
}

// argumentOf is a flag's name as clients' languages write it.
func argumentOf(flag string) string { return strings.ReplaceAll(flag, "-", "_") }

// schemaOf a flag. Its default is in the text alone: one that a client sent would override a scenario.
func schemaOf(f *pflag.Flag) properties {
	_, text := flagUsage(f)
	schema := properties{"type": "string", "description": text}
	switch kind := f.Value.Type(); {
	case strings.HasPrefix(kind, "int"):
		schema["type"] = "integer"
	case strings.HasPrefix(kind, "float"):
		schema["type"] = "number"
	case kind == "bool":
		schema["type"] = "boolean"
	case kind == "duration":
		schema["pattern"] = `^[0-9][0-9.hmsµun]*$`
		schema["description"] = text + ", such as 30s, 5m or 1h"
	case strings.Contains(kind, "|"):
		schema["enum"] = strings.Split(kind, "|")
	case strings.HasPrefix(kind, "string") && kind != "string":
		schema["type"], schema["items"] = "array", properties{"type": "string"}
	}
	return schema
}

// flagWords are a flag with its value, which never becomes a flag itself.
func flagWords(f *pflag.Flag, value any) (words []string) {
	text := func(value any) string {
		if number, is := value.(float64); is { // JSON has no other numbers
			return strconv.FormatFloat(number, 'f', -1, 64)
		}
		return fmt.Sprint(value)
	}
	if list, is := value.([]any); is {
		for _, one := range list {
			words = append(words, "--"+f.Name+"="+text(one))
		}
		return words
	}
	return []string{"--" + f.Name + "=" + text(value)}
}

func textList(value any) (all []string) {
	list, _ := value.([]any)
	for _, one := range list {
		all = append(all, fmt.Sprint(one))
	}
	return all
}
