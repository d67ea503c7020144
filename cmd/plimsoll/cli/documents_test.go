package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var (
	// aCall is a command line in a document: to the end of the line, of the code or of this command.
	aCall = regexp.MustCompile("(?:^|[\\s/`(])plimsoll ([a-z]+)((?: [^`|&;\n]*)?)")
	// aShortCall is code that leaves out the program: `serve --jobs N`.
	aShortCall = regexp.MustCompile("`([a-z]+)( --[^`]*)`")
	aFlag      = regexp.MustCompile(`(?:^|[\s\[])(--[a-z][a-z0-9-]*)`)
	// continued is the end of a line within a command, or within code of a paragraph.
	continued = regexp.MustCompile(" *\\\\\n *")
	inCode    = regexp.MustCompile("`[^`\n]+\n[^`\n]+`")
)

// allCommands are made once for all documents: their flags are a thousand.
var allCommands = sync.OnceValue(func() *cobra.Command {
	root := newApp(nil, nil, nil).root
	root.InitDefaultHelpCmd()
	return root
})

// unknownFlags of the command lines in a document.
func unknownFlags(text string) (unknown []string, seen int) {
	text = continued.ReplaceAllString(text, " ")
	text = inCode.ReplaceAllStringFunc(text, func(code string) string { return strings.ReplaceAll(code, "\n", " ") })
	root := allCommands()
	for _, call := range slices.Concat(aCall.FindAllStringSubmatch(text, -1),
		aShortCall.FindAllStringSubmatch(text, -1)) {
		at := slices.IndexFunc(root.Commands(), func(c *cobra.Command) bool { return c.Name() == call[1] })
		if at < 0 || call[1] == "config" {
			continue // a sentence about Plimsoll; config takes a command with its flags
		}
		c := root.Commands()[at]
		c.InitDefaultHelpFlag()
		words, _, _ := strings.Cut(call[2], "  ")    // a comment stands after two blanks
		words, _, _ = strings.Cut(words+" ", " -- ") // what follows is another program's
		for _, flag := range aFlag.FindAllStringSubmatch(words, -1) {
			seen++
			if !hasFlag(c, strings.TrimPrefix(flag[1], "--")) {
				unknown = append(unknown, "plimsoll "+call[1]+" "+flag[1])
			}
		}
	}
	return unknown, seen
}

// hasFlag also of the commands below c: `backup restore --point`.
func hasFlag(c *cobra.Command, name string) bool {
	var found *pflag.Flag
	for _, one := range append(c.Commands(), c) {
		if f := one.Flags().Lookup(name); f != nil {
			found = f
		}
	}
	return found != nil || c.InheritedFlags().Lookup(name) != nil
}

// What a document tells to type must exist. The changelog speaks of its own days.
func TestDocuments_NameFlagsThatExist(t *testing.T) {
	const top = "../../.."
	seen := 0
	err := filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error {
		name, _ := filepath.Rel(top, path)
		switch {
		case err != nil:
			return err
		case e.IsDir() && (name == "build" || name == "engine/tree" || strings.HasPrefix(e.Name(), ".") && name != "."):
			return fs.SkipDir
		case e.IsDir(), name == "CHANGELOG.md", !slices.Contains([]string{".md", ".toml", ".mk"}, filepath.Ext(name)) &&
			e.Name() != "Makefile":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		unknown, n := unknownFlags(string(text))
		seen += n
		for _, one := range unknown {
			t.Errorf("%s: %s: there is no such flag", name, one)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 100 {
		t.Errorf("only %d flags found in the documents", seen)
	}
}

func TestUnknownFlags_AreFoundInEveryForm(t *testing.T) {
	for text, want := range map[string]string{
		"    bin/plimsoll run --usres 5":                             "plimsoll run --usres",
		"Say `plimsoll line --from 5\n--moist 7`, or less.":          "plimsoll line --moist",
		"plimsoll run --users 5 \\\n        --tink 2s":               "plimsoll run --tink",
		"`serve --jbos N` says":                                      "plimsoll serve --jbos",
		"plimsoll up && plimsoll fill --smal && make":                "plimsoll fill --smal",
		"plimsoll run --users 5   with --tables that are no flag":    "",
		"plimsoll advise --check -- --pairs 8":                       "",
		"plimsoll is young --very":                                   "",
		"plimsoll backup restore ID --point 'yesterday', --json too": "",
	} {
		if got, _ := unknownFlags(text); strings.Join(got, ", ") != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
