package config

import (
	"fmt"
	"sort"
	"strings"

	"plimsoll/ground/human"
)

// Origins, weakest first.
const (
	Default     = "default"
	FromFile    = "file"
	FromEnv     = "environment"
	FromCommand = "flag"
)

// Origin is where a value came from: the kind, and the place in that kind.
type Origin struct {
	Kind  string `json:"from"`
	Place string `json:"where,omitempty"` // plimsoll.toml:3, PLIMSOLL_RUN_USERS, --users
}

func (o Origin) String() string {
	if o.Place == "" {
		return o.Kind
	}
	return o.Place
}

// Environment is the part of os.Environ that is ours; it errs on a variable that no
// setting has. others are our variables that are no settings, such as PLIMSOLL_STATE.
func Environment(environ []string, settings []Setting, others ...string) (map[string]string, error) {
	names := append([]string{}, others...)
	known := map[string]bool{}
	for _, s := range settings {
		names = append(names, s.Env)
	}
	for _, n := range names {
		known[n] = true
	}
	sort.Strings(environ)
	env := map[string]string{}
	for _, kv := range environ {
		name, text, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(name, envPrefix) || strings.HasPrefix(name, testPrefix) {
			continue
		}
		if !known[name] {
			return nil, usage(fmt.Errorf("unknown environment variable %s", name),
				human.NearestHint(name, names, "'plimsoll config' lists the variables there are"))
		}
		env[name] = text
	}
	return env, nil
}

// Sources says by key where each value came from.
type Sources map[string]Origin

// Apply gives every flag that the command line left alone its value from env or
// file, and says where each setting's value came from. Every value is checked, also
// those of other commands, so that a mistake shows before it is needed.
func Apply(settings []Setting, env map[string]string, file *File) (Sources, error) {
	origins := Sources{}
	for _, s := range settings {
		origin, err := s.apply(env, file)
		if err != nil {
			return nil, err
		}
		origins[s.Key] = origin
	}
	return origins, nil
}

func (s Setting) apply(env map[string]string, file *File) (Origin, error) {
	origin, text := Origin{Kind: Default}, ""
	if v, ok := file.values[s.Key]; ok {
		var err error
		if text, err = v.text(s); err != nil {
			return origin, usage(err, "")
		}
		origin = Origin{FromFile, file.position(v)}
	}
	// An empty variable is an unset one: that is how a shell takes a value back.
	if t := env[s.Env]; t != "" {
		if err := try(s.Flag(), t); err != nil {
			return origin, usage(Wrong(s.Env, s.Flag(), t, err), "")
		}
		origin, text = Origin{FromEnv, s.Env}, t
	}
	for _, f := range s.Flags {
		if f.Changed {
			origin = Origin{FromCommand, "--" + f.Name}
		} else if origin.Kind == FromFile || origin.Kind == FromEnv {
			if err := f.Value.Set(text); err != nil {
				return origin, usage(Wrong(s.Key, f, text, err), "")
			}
		}
	}
	return origin, nil
}

// Value is what the setting has now: a changed flag's value, else the first one's.
func (s Setting) Value() string {
	for _, f := range s.Flags {
		if f.Changed {
			return f.Value.String()
		}
	}
	return s.Flag().Value.String()
}
