package script

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/postgres/installation"
)

// oracle runs the real pgbench of the engine that the tests use.
type oracle struct {
	program, dsn, dir string
}

func newOracle(t *testing.T) *oracle {
	t.Helper()
	s, err := installation.Find(t.Context(), clustertest.Engine())
	if err != nil {
		t.Skipf("SKIP: no PostgreSQL: %v", err)
	}
	program, err := s.Program("pgbench")
	if err != nil {
		t.Skipf("SKIP: this PostgreSQL has no pgbench: %v", err)
	}
	dir, err := os.MkdirTemp("", "plimsoll-pgbench-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return &oracle{program, clustertest.Database(t).Secret(), dir}
}

// run gives what pgbench writes when it does the script once.
func (o *oracle) run(script string, flags ...string) (stderr string, ok bool) {
	file := filepath.Join(o.dir, "script.sql")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		return err.Error(), false
	}
	cmd := exec.Command(o.program, append([]string{"-n", "-t", "1", "-D", DefaultSeed + "=42", "-f", file},
		append(flags, o.dsn)...)...)
	var b strings.Builder
	cmd.Stderr = &b
	err := cmd.Run()
	return b.String(), err == nil
}

var debugLine = regexp.MustCompile(`(?m)^debug\(script=0,command=\d+\): (.*)$`)

// values that debug() reported.
func (o *oracle) values(expressions []string) ([]string, string) {
	var b strings.Builder
	for _, e := range expressions {
		fmt.Fprintf(&b, "\\set x debug(%s)\n", e)
	}
	stderr, ok := o.run(b.String())
	if !ok && len(expressions) == 1 {
		return []string{"error"}, stderr
	}
	var all []string
	for _, m := range debugLine.FindAllStringSubmatch(stderr, -1) {
		all = append(all, m[1])
	}
	return all, stderr
}

func environment() *Environment {
	return &Environment{Variables: map[string]Value{DefaultSeed: Text("42")}, RNG: rand.New(rand.NewPCG(1, 2))}
}

func ours(expression string) string {
	e, err := ParseExpression("debug(" + expression + ")")
	if err != nil {
		return "error"
	}
	printed := "error"
	env := environment()
	env.Debug = func(s string) { printed = s }
	if _, err := e.Eval(env); err != nil {
		return "error"
	}
	return printed
}

func TestExpressionsMeanWhatTheyMeanInPgbench(t *testing.T) {
	o := newOracle(t)
	text, err := os.ReadFile("testdata/expressions.txt")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	var good []string
	for _, e := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		if e == "" || strings.HasPrefix(e, "//") {
			continue
		}
		seen++
		if got := ours(e); got != "error" {
			good = append(good, e)
			continue
		}
		if want, printed := o.values([]string{e}); want[0] != "error" {
			t.Errorf("%s: pgbench says %s, ours err\n%s", e, want[0], printed)
		}
	}
	want, printed := o.values(good)
	if len(want) != len(good) {
		t.Fatalf("pgbench gave %d values of %d:\n%s", len(want), len(good), printed)
	}
	for i, e := range good {
		if got := ours(e); got != want[i] {
			t.Errorf("%s: pgbench says %s, ours %s", e, want[i], got)
		}
	}
	if seen < 150 {
		t.Errorf("only %d expressions", seen)
	}
}

// Expressions made at random find what nobody thought of.
func TestRandomExpressionsMeanWhatTheyMeanInPgbench(t *testing.T) {
	o := newOracle(t)
	var good []string
	rapid.Check(t, func(t *rapid.T) {
		e := expressionOf(t, rapid.IntRange(1, 4).Draw(t, "depth"))
		if got := ours(e); got != "error" && !strings.Contains(got, "NaN") && len(good) < 2000 {
			good = append(good, e)
		}
	})
	want, printed := o.values(good)
	if len(want) != len(good) {
		t.Fatalf("pgbench gave %d values of %d, the next is %s:\n%.2000s", len(want), len(good),
			good[min(len(want), len(good)-1)], printed)
	}
	for i, e := range good {
		if got := ours(e); got != want[i] {
			t.Errorf("%s: pgbench says %s, ours %s", e, want[i], got)
		}
	}
	least := 20
	if testing.Short() { // rapid makes a fifth
		least = 4
	}
	if len(good) < least {
		t.Errorf("only %d expressions without an error", len(good))
	}
}

func expressionOf(t *rapid.T, depth int) string {
	if depth == 0 {
		return rapid.SampledFrom([]string{"0", "1", "2", "7", "-3", "63", "1.5", "-0.25", "1e10", "9223372036854775807",
			"-9223372036854775808", "true", "false", "null"}).Draw(t, "leaf")
	}
	sub := func() string { return expressionOf(t, depth-1) }
	switch rapid.IntRange(0, 5).Draw(t, "kind") {
	case 0, 1, 2: // without parentheses, so that precedence is compared too
		op := rapid.SampledFrom([]string{"+", "-", "*", "/", "%", "<", ">", "=", "<>", "<=", ">=", "!=", "&", "|", "#",
			"<<", ">>", "and", "or"}).Draw(t, "operator")
		return sub() + " " + op + " " + sub()
	case 3:
		return rapid.SampledFrom([]string{"not ", "- ", "+", "~"}).Draw(t, "prefix") + sub()
	case 4:
		return sub() + rapid.SampledFrom([]string{" is null", " is not null", " isnull", " notnull", " is true",
			" is not false"}).Draw(t, "test")
	}
	f := rapid.SampledFrom([]string{"abs(%s)", "int(%s)", "double(%s)", "greatest(%s, 3)", "least(2, %s)", "hash(%s)",
		"hash_fnv1a(%s, 5)", "permute(%s, 1000)", "(%s)", "case when %s then 1 else 2 end"}).Draw(t, "function")
	return fmt.Sprintf(f, sub())
}
