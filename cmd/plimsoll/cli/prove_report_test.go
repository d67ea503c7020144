package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"plimsoll/lab/prove/claims"
	"plimsoll/lab/view/report"
)

func TestProve_ReportsWhatIsKept(t *testing.T) {
	freshState(t)
	k := claims.Record{Claim: "C15", At: time.Now(), TookS: 90, Software: software().Version, Machine: claims.Here(),
		Engine: "PostgreSQL 18.6 plimsoll", Command: "plimsoll prove C15",
		Finding: claims.Finding{Verdict: claims.Refuted, Measured: "×0.9 & less"}}
	if err := claims.OpenStore("").Keep(k); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "claims.html")
	plimsoll(t, "prove", "--report", file).want(t, ExitOK, "wrote "+file)
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"1 refuted", "×0.9 &amp; less", "plimsoll prove C15"} {
		if !strings.Contains(string(page), part) {
			t.Errorf("the page lacks %q", part)
		}
	}
}

func TestProve_RefusesWhatHasNoEffect(t *testing.T) {
	freshState(t)
	for want, args := range map[string][]string{
		"--budget has no effect where nothing is run": {"--budget", "1h"},
		"no experiment fits into 1ms":                 {"--all", "--budget", "1ms"},
		"write report /no/such/folder/x.html":         {"--report", "/no/such/folder/x.html"},
		"--self and claims exclude each other":        {"--self", "--report", "x.html"},
	} {
		o := plimsoll(t, append([]string{"prove"}, args...)...)
		if o.code == ExitOK || !strings.Contains(o.stderr, "plimsoll: "+want) || !strings.Contains(o.stderr, "hint: ") {
			t.Errorf("%v: %d\n%s", args, o.code, o.stderr)
		}
	}
}

// A list, a plan and a result are shown whole on a terminal of a hundred columns.
func TestProve_LinesFitATerminal(t *testing.T) {
	freshState(t)
	k := claims.Record{Claim: "C15", At: time.Now(), TookS: 90, Software: software().Version, Machine: claims.Here(),
		Engine: "PostgreSQL 18.6 plimsoll", Command: "plimsoll prove C15",
		Finding: claims.Finding{Verdict: claims.Refuted, Measured: strings.Repeat("measured ", 40),
			Conditions: []claims.Condition{{Name: "engine", Text: strings.Repeat("as it is ", 30)}}}}
	if err := claims.OpenStore("").Keep(k); err != nil {
		t.Fatal(err)
	}
	shown := plimsoll(t, "prove").stdout + plimsoll(t, "prove", "C10", "C15").stdout +
		plimsoll(t, "prove", "--all", "--budget", "1ms").stderr
	if !strings.Contains(shown, "left out") || !strings.Contains(shown, "conditions  engine") {
		t.Errorf("a part is missing:\n%s", shown)
	}
	for line := range strings.Lines(shown) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > report.Width {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// One experiment that fails has nothing to do with the others.
func TestProve_GoesOnAfterAFailure(t *testing.T) {
	freshState(t)
	o := plimsoll(t, "prove", "C02", "C04", "--documents", "1", "--users", "1")
	o.want(t, ExitUsage, "prove C02: ", "continuing with the next\n", "; prove C04: ", "hint: ")
}

// What is left out of a budget is said beforehand, with what it would take.
func TestProve_SaysWhatDoesNotFit(t *testing.T) {
	freshState(t)
	o := plimsoll(t, "prove", "C07", "C12", "--budget", "1ms")
	o.want(t, ExitUsage, "left out, 2 of 2: C07 (about ", ", never measured), C12 (about ", "would take them all")
}

func TestProve_CommandMeasuresTheSame(t *testing.T) {
	o := proveOptions{full: true, duration: 90 * time.Second, repetitions: 5, threads: 10, engine: "vanilla"}
	const want = "plimsoll prove C31 --full --duration 1m30s --repetitions 5 --threads 10 --engine vanilla"
	if got := o.commandFor("C31"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := (proveOptions{}).commandFor("C31"); got != "plimsoll prove C31" {
		t.Errorf("want no flag, got %q", got)
	}
}
