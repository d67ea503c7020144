package claims_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"plimsoll/ground/problem"
	"plimsoll/lab/prove/claims"
	"plimsoll/test/files"
	"plimsoll/test/golden"
)

// The claims are numbered without a gap.
var numbered = [][2]int{{1, 64}}

func TestRegistry_HoldsEveryClaimOnceInOrder(t *testing.T) {
	var want, got []string
	for _, r := range numbered {
		for n := r[0]; n <= r[1]; n++ {
			want = append(want, fmt.Sprintf("C%02d", n))
		}
	}
	for _, c := range claims.All() {
		got = append(got, c.ID)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestRegistry_TextsAreOneFilledLineEach(t *testing.T) {
	seen := map[string]string{}
	for _, c := range claims.All() {
		for what, text := range map[string]string{"statement": c.Statement, "claimed": c.Claimed,
			"not here": c.NotHere} {
			if what == "not here" && text == "" {
				continue
			}
			if len(text) < 4 || strings.ContainsAny(text, "\n\t") || strings.TrimSpace(text) != text ||
				strings.HasSuffix(text, ".") {
				t.Errorf("%s: %s %q is not one filled line without a full stop", c.ID, what, text)
			}
		}
		if len([]rune(c.Statement)) > 120 {
			t.Errorf("%s: statement has %d characters, over 120", c.ID, len([]rune(c.Statement)))
		}
		if other := seen[c.Statement]; other != "" {
			t.Errorf("%s says the same as %s", c.ID, other)
		}
		seen[c.Statement] = c.ID
	}
}

func TestFind(t *testing.T) {
	for typed, want := range map[string]string{"C01": "C01", "c01": "C01", "c55": "C55", "C20": "C20"} {
		if c, err := claims.Find(typed); err != nil || c.ID != want {
			t.Errorf("%q finds %q, %v", typed, c.ID, err)
		}
	}
	const list = "'plimsoll prove' lists the claims"
	for typed, hint := range map[string]string{"": list, "C": list, "C65": list, "C99": list, "0": list,
		"latest": list, "C1x": list, "C1": "did you mean C01?", "1": "did you mean C01?", "c055": "did you mean C55?"} {
		c, err := claims.Find(typed)
		if problem.ClassOf(err) != problem.Usage || problem.HintOf(err) != hint {
			t.Errorf("%q finds %q, %v; hint %q, want %q", typed, c.ID, err, problem.HintOf(err), hint)
		}
	}
}

// A verdict of other rules is no verdict.
func TestTally_StaleVerdictsCountAsNone(t *testing.T) {
	var tally claims.Tally
	tally.Add(claims.Confirmed, true)
	tally.Add(claims.Refuted, false)
	const want = "0 confirmed, 0 in direction, 0 small scale, 1 refuted, 0 inconclusive, 0 not run, 0 not yet, " +
		"0 cannot be had here, 1 stale"
	if got := strings.Join(tally.Texts(), ", "); got != want || tally.Stale() != 1 {
		t.Errorf("%s, want %s", got, want)
	}
	var current claims.Tally
	if last := current.Texts(); strings.Contains(strings.Join(last, ", "), "stale") {
		t.Errorf("%q, though nothing is stale", last)
	}
}

func kept() claims.Record {
	return claims.Record{
		Claim: "C01", At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), TookS: 61.5, Software: "v1",
		Engine:  "PostgreSQL 18.6 plimsoll",
		Machine: claims.Machine{CPU: "Example 9000", Cores: 2, MemoryBytes: 8 << 30, Kernel: "6.1.0"},
		Finding: claims.Finding{
			Verdict: claims.SmallScale, Measured: "Apdex 0.99", Answers: &claims.Answers{
				Direction: claims.InClaimedDirection, Size: claims.NoSize, Situation: []claims.Met{{Name: "users",
					Report: "30,000", Here: "3,000"}}},
			Figures:    []claims.Figure{{Name: "apdex", Values: []float64{0.99, 0.98}}},
			Conditions: []claims.Condition{{Name: "base", Text: "small"}},
		},
	}
}

func TestStore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "verdicts")
	s := claims.OpenStore(dir)

	t.Run("NothingKeptYet", func(t *testing.T) {
		if _, ok, err := s.Load("C01"); ok || err != nil {
			t.Errorf("found %v, error %v: want nothing", ok, err)
		}
	})
	t.Run("GivesBackWhatWasKept", func(t *testing.T) {
		if err := s.Keep(kept()); err != nil {
			t.Fatal(err)
		}
		got, ok, err := s.Load("C01")
		if diff := cmp.Diff(kept(), got); !ok || err != nil || diff != "" {
			t.Errorf("%v %v %s", ok, err, diff)
		}
	})
	t.Run("NamesInTheFileStay", func(t *testing.T) {
		text, err := os.ReadFile(filepath.Join(dir, "C01.json"))
		if err != nil {
			t.Fatal(err)
		}
		golden.Compare(t, "testdata/kept.json", string(text))
	})
	t.Run("LeavesNoHalfFile", func(t *testing.T) {
		files, _ := os.ReadDir(dir)
		old, _ := os.ReadDir(filepath.Join(dir, "history"))
		if len(files) != 2 || len(old) != 1 {
			t.Errorf("files %v, %v", files, old)
		}
	})
	t.Run("DamagedFileIsNamed", func(t *testing.T) {
		files.Write(t, dir, "C02.json", "{")
		if _, _, err := s.Load("C02"); err == nil || !strings.Contains(problem.HintOf(err), "C02.json") {
			t.Errorf("%v, hint %q", err, problem.HintOf(err))
		}
	})
	t.Run("NoRoomIsAnEnvironmentProblem", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := claims.OpenStore(filepath.Join(file, "verdicts")).Keep(kept()); problem.ClassOf(
			err) != problem.Environment {
			t.Errorf("a folder that cannot be made: %v, want an environment error", err)
		}
	})
}

// What was found survives another version, engine or machine; measured again under the same conditions it is replaced.
func TestStore_KeepsWhatOthersFound(t *testing.T) {
	dir := t.TempDir()
	s := claims.OpenStore(dir)
	first := kept()
	keep := func(change func(*claims.Record)) claims.Record {
		k := first
		k.At = k.At.Add(time.Hour)
		change(&k)
		if err := s.Keep(k); err != nil {
			t.Fatal(err)
		}
		return k
	}
	keep(func(k *claims.Record) { k.At = first.At })
	if err := os.RemoveAll(filepath.Join(dir, "history")); err != nil { // as versions without it left it
		t.Fatal(err)
	}
	newer := keep(func(k *claims.Record) { k.Software = "v2" })
	stock := keep(func(k *claims.Record) { k.Engine, k.At = "PostgreSQL 18.6 vanilla", k.At.Add(time.Hour) })
	again := keep(func(k *claims.Record) { k.Engine, k.At = stock.Engine, k.At.Add(2*time.Hour) })
	part := keep(func(k *claims.Record) {
		k.Engine, k.At, k.Partial = stock.Engine, k.At.Add(3*time.Hour), true
	})
	got, err := s.All("C01")
	if diff := cmp.Diff([]claims.Record{part, again, newer, first}, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	if last, _, _ := s.Load("C01"); !last.At.Equal(part.At) {
		t.Errorf("the last is that of %s", last.At)
	}
	if none, err := s.All("C02"); len(none) > 0 || err != nil {
		t.Errorf("found %v, error %v: want nothing", none, err)
	}
}

func TestKept_ElsewhereNamesWhatDiffers(t *testing.T) {
	k := kept()
	for _, c := range []struct {
		name, want       string
		change           func(*claims.Machine)
		engine, software string
	}{
		{"Same", "", func(*claims.Machine) {}, k.Engine, "v1"},
		{"RAMWithinTheKernelsReserve", "", func(m *claims.Machine) { m.MemoryBytes -= 1 << 20 }, k.Engine, "v1"},
		{"EngineNotKnownNow", "", func(*claims.Machine) {}, "", "v1"},
		{"CPU", "machine", func(m *claims.Machine) { m.CPU = "Other" }, k.Engine, "v1"},
		{"Cores", "machine", func(m *claims.Machine) { m.Cores = 4 }, k.Engine, "v1"},
		{"RAM", "machine", func(m *claims.Machine) { m.MemoryBytes *= 2 }, k.Engine, "v1"},
		{"Kernel", "kernel", func(m *claims.Machine) { m.Kernel = "7" }, k.Engine, "v1"},
		{"Engine", "engine", func(*claims.Machine) {}, "PostgreSQL 15", "v1"},
		{"Version", "version", func(*claims.Machine) {}, k.Engine, "v2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			here := k.Machine
			c.change(&here)
			if got := k.Elsewhere(here, c.engine, c.software); got != c.want {
				t.Errorf("differs in %q, want %q", got, c.want)
			}
		})
	}
	k.Answers = nil
	if got := k.Elsewhere(k.Machine, k.Engine, k.Software); got != "set of rules" {
		t.Errorf("a finding of before, whose words meant something else, differs in %q", got)
	}
}

// A finding of before the three questions is read as it was.
func TestStore_ReadsFindingsOfBefore(t *testing.T) {
	dir := t.TempDir()
	files.Write(t, dir, "C01.json", `{"claim": "C01", "software": "v0", "verdict": "confirmed", "measured": "Apdex 1"}`)
	k, is, err := claims.OpenStore(dir).Load("C01")
	if err != nil || !is || k.Verdict != claims.Confirmed || k.Answers != nil ||
		k.Verdict.Words(k.Answers) != "confirmed" {
		t.Errorf("%+v, %v", k, err)
	}
}

func TestVerdict_WordsSayTheSize(t *testing.T) {
	for want, c := range map[string]struct {
		v claims.Verdict
		a claims.Answers
	}{
		"in direction, smaller": {claims.InDirection,
			claims.Answers{Size: claims.AsClaimed.And(claims.LessThanClaimed)}},
		"in direction, size open": {claims.InDirection,
			claims.Answers{Size: claims.OpenSize.And(claims.MoreThanClaimed)}},
		"small scale": {claims.SmallScale, claims.Answers{Size: claims.AsClaimed}},
		"small scale, larger": {claims.SmallScale,
			claims.Answers{Size: claims.AsClaimed.And(claims.MoreThanClaimed)}},
		"inconclusive, against it at this scale": {claims.Inconclusive, claims.Answers{
			Direction: claims.AgainstClaim}},
		"confirmed": {claims.Confirmed, claims.Answers{Size: claims.AsClaimed}},
	} {
		if got := c.v.Words(&c.a); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// What a machine found travels in one file; one that was changed on the way is refused.
func TestArchive(t *testing.T) {
	s := claims.OpenStore(filepath.Join(t.TempDir(), "verdicts"))
	if err := s.Keep(kept()); err != nil {
		t.Fatal(err)
	}
	other := kept()
	other.Claim, other.Engine, other.At = "C20", "PostgreSQL 18.6 vanilla", other.At.Add(time.Hour)
	if err := s.Keep(other); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "big.json")
	if err := s.WriteArchive(file); err != nil {
		t.Fatal(err)
	}
	got, err := claims.ReadArchive(file)
	if diff := cmp.Diff([]claims.Record{kept(), other}, got.Records); err != nil || diff != "" {
		t.Fatalf("%v %s", err, diff)
	}
	if last := got.Last(); last.Claim != "C20" {
		t.Errorf("the last is %s", last.Claim)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for name, changed := range map[string]string{
		"Changed": strings.Replace(string(text), "small scale", "confirmed", 1),
		"Cut":     string(text)[:len(text)/2],
		"Other":   `{"format": "something else"}`,
	} {
		path := filepath.Join(t.TempDir(), "changed.json")
		if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := claims.ReadArchive(path); problem.ClassOf(err) != problem.Usage || problem.HintOf(err) == "" {
			t.Errorf("%s: %v, hint %q", name, err, problem.HintOf(err))
		}
	}
	if err := claims.OpenStore(t.TempDir()).WriteArchive(file); err == nil {
		t.Error("an archive of nothing")
	}
}

func TestHere_KnowsThisMachine(t *testing.T) {
	m := claims.Here()
	if m.Cores < 1 || m.MemoryBytes < 1<<20 || m.Kernel == "" || m.CPU == "" {
		t.Errorf("this machine is %+v, want all parts", m)
	}
}

// The page of claims adds up: each claim has one verdict, the tally and README count them, and an experiment that is
// another one by now has none from its old figures.
func TestThePageOfClaimsAddsUp(t *testing.T) {
	page, readme := document(t, "docs/bench/claims.md"), document(t, "README.md")
	verdicts, tally := map[string]string{}, map[string]int{}
	judge := func(id, verdict string) {
		if before, twice := verdicts[id]; twice {
			t.Errorf("%s is %s, and %s", id, before, verdict)
		}
		verdicts[id] = verdict
		tally[verdict]++
	}
	word := regexp.MustCompile(`^\**(confirmed|in direction|small scale|refuted|inconclusive|not run)`)
	rows := regexp.MustCompile(`(?m)^\| (C\d\d) [^|]*\| ([^|]*)\|([^|\n]*\|)?`)
	for _, row := range rows.FindAllStringSubmatch(page, -1) {
		if found := word.FindStringSubmatch(row[2]); found != nil {
			judge(row[1], found[1])
		} else if row[3] == "" {
			judge(row[1], "cannot be had here")
		}
	}
	left, _, _ := strings.Cut(page[strings.Index(page, "Without figures here: "):], "\n\n")
	for _, id := range regexp.MustCompile(`C\d\d`).FindAllString(left, -1) {
		judge(id, "not run")
	}
	for _, c := range claims.All() {
		if verdicts[c.ID] == "" {
			t.Errorf("%s has no verdict", c.ID)
		}
	}
	measured := map[string]int{}
	_, byTheseRules, _ := strings.Cut(page, "have run by these\nrules**")
	byTheseRules, _, _ = strings.Cut(byTheseRules, "The verdicts of all other claims")
	for _, row := range rows.FindAllStringSubmatch(byTheseRules, -1) {
		measured[word.FindStringSubmatch(row[2])[1]]++
	}
	tallied := regexp.MustCompile(`(?m)^\| ([a-z ]+) \| *\d* *\| (\d+)[^|]*\| *(\d*) *\|`)
	for _, row := range tallied.FindAllStringSubmatch(page, -1) {
		if n := strconv.Itoa(tally[row[1]]); n != row[2] {
			t.Errorf("the tally has %s %s, its table %s", row[2], row[1], n)
		}
		if n := strconv.Itoa(measured[row[1]]); row[3] != "" && n != row[3] {
			t.Errorf("of %s the tally has %s measured, the table %s", row[1], row[3], n)
		}
	}
	mended := page[strings.Index(page, "| claim | was | is |"):]
	mended, _, _ = strings.Cut(mended, "\n\n")
	for _, row := range regexp.MustCompile(`(?m)^\| (C\d\d) \|`).FindAllStringSubmatch(mended, -1) {
		if v := verdicts[row[1]]; v != "not run" {
			t.Errorf("the experiment of %s is another one now, and its verdict is %s", row[1], v)
		}
	}
	said := strings.Join(strings.Fields(readme), " ")
	for _, one := range []string{fmt.Sprintf("Of the %d claims", len(verdicts)),
		fmt.Sprintf("confirm %d,", tally["confirmed"]), fmt.Sprintf("show %d at a small scale", tally["small scale"]),
		fmt.Sprintf("and %d in the claimed direction", tally["in direction"]),
		fmt.Sprintf("leave %d open", tally["inconclusive"]), fmt.Sprintf("%d have an experiment", tally["not run"]),
		fmt.Sprintf("%d cannot be had", tally["cannot be had here"])} {
		if !strings.Contains(said, one) {
			t.Errorf("README does not say %q", one)
		}
	}
}

func document(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../..", path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
