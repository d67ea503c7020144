package scenario

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/ground/human"
	"plimsoll/ground/problem"
	"plimsoll/ground/tomlfile"
	"plimsoll/lab/load/script"
)

// Defaults of a load of pgbench scripts. pgbench has one client and no targets.
const (
	PgbenchUsers  = 10
	PgbenchTarget = 100 * time.Millisecond
)

// Pgbench is a load of unchanged pgbench scripts, as the flags of pgbench name them.
type Pgbench struct {
	// Scripts are files or built-in scripts, each with a weight if @ and a number follow.
	Scripts []string
	// Protocol is how statements are sent. Defaults to Simple, as pgbench's.
	Protocol script.Mode
	// Define are variables, each as NAME=VALUE.
	Define []string
}

// Given says whether there are any scripts.
func (p Pgbench) Given() bool { return len(p.Scripts) > 0 }

// builtins are pgbench's own scripts, which 'pgbench --show-script' prints.
var builtins = map[string]string{
	"tpcb-like": `\set aid random(1, 100000 * :scale)
\set bid random(1, 1 * :scale)
\set tid random(1, 10 * :scale)
\set delta random(-5000, 5000)
BEGIN;
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid;
UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid;
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);
END;
`,
	"simple-update": `\set aid random(1, 100000 * :scale)
\set bid random(1, 1 * :scale)
\set tid random(1, 10 * :scale)
\set delta random(-5000, 5000)
BEGIN;
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);
END;
`,
	"select-only": `\set aid random(1, 100000 * :scale)
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
`,
}

// scaleLogin reads the scale as pgbench does; it holds for a user from its log-in on.
const scaleLogin = `SELECT count(*) AS scale FROM pgbench_branches \gset`

var usesScale = regexp.MustCompile(`:scale\b`)

// Scenario reads the scripts.
func (p Pgbench) Scenario() (*Scenario, error) {
	text, err := p.TOML()
	if err != nil {
		return nil, err
	}
	f, err := tomlfile.Parse("--pgbench", text)
	if err != nil {
		return nil, err
	}
	s, err := read(f)
	if err != nil {
		return nil, err
	}
	s.Name = "pgbench"
	return s, nil
}

// pgbenchScript is one of them.
type pgbenchScript struct {
	id, file string // no file: a built-in one
	text     string
	weight   int
}

// TOML is the scenario file of the scripts; a path in it is taken from the current folder.
func (p Pgbench) TOML() (string, error) {
	all, err := p.read()
	if err != nil {
		return "", err
	}
	variables, err := p.variables()
	if err != nil {
		return "", err
	}
	mode := p.Protocol
	if mode == "" {
		mode = script.Simple
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Scripts of pgbench as a scenario: each user has a session and does not think.\n"+
		"title = %s\napplication = \"none\"\nusers = %d\n\n[think]\nmean = \"0s\"\n\n"+
		"[sql]\nsession = \"user\"\nmode = %s\n",
		quote("pgbench: "+strings.Join(p.Scripts, ", ")), PgbenchUsers, quote(string(mode)))
	if len(variables) > 0 {
		b.WriteString("\n[variables]\n")
	}
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		fmt.Fprintf(&b, "%s = %s\n", name, quote(variables[name]))
	}
	scaled := slices.ContainsFunc(all, func(one pgbenchScript) bool { return usesScale.MatchString(one.text) })
	if _, given := variables["scale"]; scaled && !given {
		fmt.Fprintf(&b, "\n[login]\nsql = '%s'\n", scaleLogin)
	}
	for _, one := range all {
		fmt.Fprintf(&b, "\n[operations.%s]\ntarget = %s\nweight = %d\n", quote(one.id),
			quote(human.Duration(PgbenchTarget)), one.weight)
		if one.file != "" {
			fmt.Fprintf(&b, "script = %s\n", quote(one.file))
		} else {
			fmt.Fprintf(&b, "sql = '''\n%s'''\n", one.text)
		}
	}
	return b.String(), nil
}

func (p Pgbench) read() (all []pgbenchScript, err error) {
	sum, seen := 0, map[string]int{}
	for _, given := range p.Scripts {
		one, err := readPgbench(given)
		if err != nil {
			return nil, err
		}
		if seen[one.id]++; seen[one.id] > 1 {
			one.id += "-" + strconv.Itoa(seen[one.id])
		}
		sum += one.weight
		all = append(all, one)
	}
	if sum == 0 {
		return nil, problem.New(problem.Usage, errors.New("--pgbench: the scripts have no weight above 0"), "")
	}
	return all, nil
}

func readPgbench(given string) (one pgbenchScript, err error) {
	name, weight, weighed := cutLast(given, "@")
	one.weight = 1
	if weighed {
		if one.weight, err = strconv.Atoi(weight); err != nil || one.weight < 0 {
			return one, problem.New(problem.Usage, fmt.Errorf("--pgbench: the weight of %q is no whole number", given),
				"such as own.sql@3")
		}
	}
	text, err := os.ReadFile(name)
	if err == nil {
		one.id, one.file = strings.TrimSuffix(filepath.Base(name), filepath.Ext(name)), name
		one.text = string(text)
		return one, nil
	}
	names := slices.Sorted(maps.Keys(builtins))
	matching := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !strings.HasPrefix(n, name) })
	if len(matching) != 1 || name == "" {
		return one, problem.New(problem.Usage, fmt.Errorf("--pgbench: %w", err),
			"a file, or one of "+strings.Join(names, ", "))
	}
	one.id, one.text = matching[0], builtins[matching[0]]
	return one, nil
}

// cutLast cuts at the last separator.
func cutLast(s, separator string) (before, after string, found bool) {
	at := strings.LastIndex(s, separator)
	if at < 0 {
		return s, "", false
	}
	return s[:at], s[at+len(separator):], true
}

func (p Pgbench) variables() (map[string]string, error) {
	all := map[string]string{}
	for _, given := range p.Define {
		name, value, found := strings.Cut(given, "=")
		if !found || !script.IsName(name) {
			return nil, problem.New(problem.Usage, fmt.Errorf("--define: %q is not NAME=VALUE", given),
				"a name of letters, digits and _")
		}
		all[name] = value
	}
	return all, nil
}
