// Package config owns where the value of a flag comes from:
//
//	flag on the command line  >  environment  >  configuration file  >  default
//
// Keys are not written down anywhere: each flag is its own definition. The flag
// --users of the command run is the key users in the table [run] of the file and
// the variable PLIMSOLL_RUN_USERS. A flag that several commands share, such as
// --cluster, has one key without a table and one variable, PLIMSOLL_CLUSTER.
package config

import (
	"sort"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const (
	envPrefix = "PLIMSOLL_"
	// Variables with this prefix belong to the tests.
	testPrefix = "PLIMSOLL_TEST_"

	sharedMark = "plimsoll_shared"
	onlyMark   = "plimsoll_flag_only"
	secretMark = "plimsoll_secret"
)

// Setting is one key with the flags that take its value: one, or for a shared
// key one of each command that has it.
type Setting struct {
	Key   string
	Env   string
	Flags []*pflag.Flag
}

// Flag is the definition that the others repeat.
func (s Setting) Flag() *pflag.Flag { return s.Flags[0] }

// Share marks a flag of several commands as one setting.
func Share(fs *pflag.FlagSet, names ...string) { mark(fs, sharedMark, names) }

// FlagOnly marks flags that no file or variable may give, such as the consent to destroy.
func FlagOnly(fs *pflag.FlagSet, names ...string) { mark(fs, onlyMark, names) }

// Secret marks flags whose value is never shown.
func Secret(fs *pflag.FlagSet, names ...string) { mark(fs, secretMark, names) }

// IsSecret says whether the value must not be shown.
func (s Setting) IsSecret() bool { return s.Flag().Annotations[secretMark] != nil }

func mark(fs *pflag.FlagSet, as string, names []string) {
	for _, name := range names {
		if err := fs.SetAnnotation(name, as, []string{"yes"}); err != nil {
			panic(err) // no such flag: a mistake in the source
		}
	}
}

// Settings are all of them, of root and every visible command below, by key.
func Settings(root *cobra.Command) []Setting {
	byKey := map[string]*Setting{}
	walk(root, func(c *cobra.Command, f *pflag.Flag) {
		key := keyOf(c, f)
		if key == "" {
			return
		}
		s := byKey[key]
		if s == nil {
			s = &Setting{Key: key, Env: envPrefix +
				strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(key))}
			byKey[key] = s
		}
		s.Flags = append(s.Flags, f)
	})
	all := make([]Setting, 0, len(byKey))
	for _, s := range byKey {
		all = append(all, *s)
	}
	sort.Slice(all, func(i, j int) bool { return less(all[i].Key, all[j].Key) })
	return all
}

// less puts the keys without a table first, as a TOML file must.
func less(a, b string) bool {
	if x, y := strings.Contains(a, "."), strings.Contains(b, "."); x != y {
		return y
	}
	return a < b
}

func walk(c *cobra.Command, visit func(*cobra.Command, *pflag.Flag)) {
	if c.Hidden || c.Name() == "help" || c.Name() == "completion" {
		return
	}
	c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) { visit(c, f) })
	c.PersistentFlags().VisitAll(func(f *pflag.Flag) { visit(c, f) })
	for _, sub := range c.Commands() {
		walk(sub, visit)
	}
}

// keyOf is the key of flag f of command c, or "" when it has none.
func keyOf(c *cobra.Command, f *pflag.Flag) string {
	if f.Hidden || f.Name == "help" || f.Annotations[onlyMark] != nil {
		return ""
	}
	path := strings.Fields(c.CommandPath())[1:]
	if len(path) == 0 || f.Annotations[sharedMark] != nil {
		return f.Name
	}
	return strings.Join(append(path, f.Name), ".")
}
