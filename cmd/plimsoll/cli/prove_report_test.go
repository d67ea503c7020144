package cli

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"plimsoll/ground/postgres/installation"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/view/report"
)

func TestProve_ReportsWhatIsKept(t *testing.T) {
	freshState(t)
	// of the engine that is here, if one is: else it would be stale, and count as none
	engine := cmp.Or(hereNow(t.Context()).Engines[installation.Plimsoll], "PostgreSQL 18.6 plimsoll")
	k := claims.Record{Claim: "C15", At: time.Now(), TookS: 90, Software: software().Version, Machine: claims.Here(),
		Engine: engine, Command: "plimsoll prove C15",
		Finding: claims.Finding{Verdict: claims.Refuted, Measured: "×0.9 & less", Answers: &claims.Answers{}}}
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

// What other rules or another version confirmed is shown and marked, and counts as none.
func TestProve_StaleVerdictsCountAsNone(t *testing.T) {
	freshState(t)
	for claim, change := range map[string]func(*claims.Record){
		"C15": func(k *claims.Record) { k.Answers = nil },
		"C16": func(k *claims.Record) { k.Software = "v0" },
		"C47": func(*claims.Record) {},
	} {
		k := claims.Record{Claim: claim, At: time.Now(), Software: software().Version, Machine: claims.Here(),
			Finding: claims.Finding{Verdict: claims.Confirmed, Answers: &claims.Answers{}}}
		if e, is := experiments.For(claim); is {
			k.Engine = engineOfClaim(t.Context(), e, site.Bench{})
		}
		change(&k)
		if err := claims.OpenStore("").Keep(k); err != nil {
			t.Fatal(err)
		}
	}
	list := plimsoll(t, "prove").stdout
	lines := map[string]string{}
	for line := range strings.Lines(list) {
		if words := strings.Fields(line); len(words) > 0 {
			lines[words[0]] = line
		}
	}
	for claim, stale := range map[string]bool{"C15": true, "C16": true, "C47": false} {
		line := lines[claim]
		if !strings.Contains(line, "confirmed") || strings.Contains(line, "stale") != stale {
			t.Errorf("%s: %q", claim, line)
		}
	}
	if !strings.Contains(list, "claims: 1 confirmed,") || !strings.Contains(list, "2 stale") {
		t.Errorf("the tally counts stale verdicts:\n%s", list[strings.LastIndex(list, "claims: "):])
	}
}

// What a large machine has found comes back as one file, and its page says nothing of this machine.
func TestProve_ArchivesAndReportsAnothersResults(t *testing.T) {
	freshState(t)
	k := claims.Record{Claim: "C15", At: time.Now().UTC(), TookS: 90, Software: "v9",
		Machine: claims.Machine{CPU: "Large 9000", Cores: 96}, Engine: "PostgreSQL 18.6 plimsoll",
		Command: "plimsoll prove C15", Finding: claims.Finding{Verdict: claims.Confirmed, Measured: "×1.08",
			Answers: &claims.Answers{Direction: claims.InClaimedDirection, Size: claims.AsClaimed}}}
	if err := claims.OpenStore("").Keep(k); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	archive, file := filepath.Join(dir, "big.json"), filepath.Join(dir, "big.html")
	plimsoll(t, "prove", "--archive", archive).want(t, ExitOK, "wrote "+archive)
	freshState(t)
	plimsoll(t, "prove", "--report", file, "--from", archive).want(t, ExitOK, "wrote "+file)
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"1 confirmed", "×1.08", "96 cores of Large 9000", "Plimsoll v9"} {
		if !strings.Contains(string(page), part) {
			t.Errorf("the page lacks %q", part)
		}
	}
	if strings.Contains(string(page), "stale: recorded") {
		t.Error("the archive's own results are stale on its page")
	}
	if _, kept, _ := claims.OpenStore("").Load("C15"); kept {
		t.Error("another machine's result is stored as one of this machine")
	}
}

func TestProve_SaysWhyAClaimCannotBeHad(t *testing.T) {
	freshState(t)
	o := plimsoll(t, "prove", "C47")
	o.want(t, ExitFailure, "there is no experiment behind C47; nothing was run")
	for _, part := range []string{"cannot be had here", "because", "Plimsoll runs on Linux alone"} {
		if !strings.Contains(o.stdout, part) {
			t.Errorf("%q lacks %q", o.stdout, part)
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
		"--from applies only to --report":             {"--from", "x.json"},
		"read archive /no/such.json":                  {"--report", "x.html", "--from", "/no/such.json"},
		"there are no results to write":               {"--archive", "x.json"},
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
	shown := plimsoll(t, "prove").stdout + plannedAndShown(t, "C10", "C15") +
		plimsoll(t, "prove", "--all", "--budget", "1ms").stderr
	if !strings.Contains(shown, "left out") || !strings.Contains(shown, "C10: ") ||
		!strings.Contains(shown, "conditions  engine") {
		t.Errorf("a part is missing:\n%s", shown)
	}
	for line := range strings.Lines(shown) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > report.Width {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// plannedAndShown is what 'plimsoll prove' prints before and after the experiments behind claims, which are not run.
func plannedAndShown(t *testing.T, ids ...string) string {
	t.Helper()
	var shown strings.Builder
	a := newApp(nil, &shown, &shown)
	a.progressTo(&shown)
	chosen, err := chosenClaims(ids)
	if err != nil {
		t.Fatal(err)
	}
	var o proveOptions
	bench := a.benchNow(t.Context(), o)
	items, err := a.itemsOf(t.Context(), chosen, o, bench)
	if err != nil {
		t.Fatal(err)
	}
	a.sayPlan(items, nil, bench)
	if err := a.showClaims(t.Context(), chosen, o, true); err != nil {
		t.Fatal(err)
	}
	return shown.String()
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
