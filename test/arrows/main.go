// Arrows checks who imports whom against rules.txt, and draws the import graph of a folder or, inside one package,
// the references between its files.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

const rulesFile = "test/arrows/rules.txt"

const usage = `usage: go run ./test/arrows                      check every import against test/arrows/rules.txt
       go run ./test/arrows draw [FLAGS] FOLDER… draw the packages of a folder and their imports

  --at COMMIT     of that commit instead of the working tree
  --depth N       a room is a folder N levels below FOLDER with all that lies in it (default 1)
  --files         rooms are the files of the one package FOLDER, arrows the names they take from each other
  --format NAME   text, mermaid or dot (default text)

An arrow climbs if rules.txt puts its source below its target. Where the rules order nothing, the order of the rooms
that leaves the fewest arrows climbing is searched for, so a graph without circles has none.
`

func main() {
	os.Exit(run(os.Args[1:], ".", os.Stdout, os.Stderr))
}

// run returns the exit code: 1 if an import breaks a rule, 2 if it was called wrongly.
func run(args []string, root string, stdout, stderr io.Writer) int {
	var err error
	switch {
	case len(args) == 0:
		err = check(os.DirFS(root), stdout)
	case args[0] == "draw":
		err = draw(args[1:], root, stdout)
	default:
		err = errUsage
	}
	switch {
	case errors.Is(err, flag.ErrHelp) || errors.Is(err, errUsage):
		fmt.Fprint(stderr, usage)
		return 2
	case err != nil:
		fmt.Fprintln(stderr, "arrows:", err)
		return 1
	}
	return 0
}

var errUsage = errors.New("wrong usage")

func check(tree fs.FS, stdout io.Writer) error {
	rules, err := readRules(tree)
	if err != nil {
		return err
	}
	imports, err := readImports(tree)
	if err != nil {
		return err
	}
	broken := rules.check(imports)
	for _, problem := range broken {
		fmt.Fprintln(stdout, problem)
	}
	if len(broken) > 0 {
		return fmt.Errorf("%d imports break the rules of %s", len(broken), rulesFile)
	}
	return nil
}

func draw(args []string, root string, stdout io.Writer) error {
	flags := flag.NewFlagSet("draw", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	at := flags.String("at", "", "")
	depth := flags.Int("depth", 1, "")
	files := flags.Bool("files", false, "")
	format := flags.String("format", "text", "")
	if err := flags.Parse(args); err != nil {
		return errUsage
	}
	write, known := formats[*format]
	if !known || flags.NArg() == 0 || *depth < 1 {
		return errUsage
	}
	tree := os.DirFS(root)
	if *at != "" {
		var err error
		if tree, err = readCommit(root, *at); err != nil {
			return err
		}
	}
	for _, folder := range flags.Args() {
		folder = filepath.ToSlash(filepath.Clean(folder))
		g, err := graphOf(tree, folder, *depth, *files)
		if err != nil {
			return err
		}
		write(stdout, g)
	}
	return nil
}

// graphOf reads the graph of one folder; an older commit may have no rules.
func graphOf(tree fs.FS, folder string, depth int, files bool) (*graph, error) {
	if files {
		return fileGraph(tree, folder)
	}
	rules, err := readRules(tree)
	if errors.Is(err, fs.ErrNotExist) {
		rules, err = &ruleSet{}, nil
	}
	if err != nil {
		return nil, err
	}
	imports, err := readImports(tree)
	if err != nil {
		return nil, err
	}
	return packageGraph(imports, folder, depth, rules)
}
