package incident

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestFaults: each says what it does and how it is judged, and a quarter may set no thresholds. (Those that have been
// played and answered are seen, so new ones must follow.)
func TestFaults(t *testing.T) {
	all := All()
	if len(all) < 40 {
		t.Fatalf("%d faults, want at least 40", len(all))
	}
	unseen, names := 0, map[string]bool{}
	for _, f := range all {
		if f.Unseen {
			unseen++
		}
		if names[f.Name] {
			t.Errorf("there are two of %s", f.Name)
		}
		names[f.Name] = true
		if f.Does == "" || f.From == "" || len(f.Right) == 0 || len(f.text.Work) == 0 {
			t.Errorf("%s does not describe itself", f.Name)
		}
		for _, area := range f.Never {
			if areas[area] == nil {
				t.Errorf("%s: unknown area %s", f.Name, area)
			}
		}
		if f.text.Plant == "" && len(f.text.Bad) == 0 && len(f.text.Hold) == 0 && len(f.text.Server) == 0 {
			t.Errorf("%s plants nothing", f.Name)
		}
		if f.Direct && !f.Standby && f.Apart {
			t.Errorf("%s is hardly ever drawn", f.Name)
		}
	}
	if 4*unseen < len(all) {
		t.Errorf("%d of %d faults are unseen, want a quarter", unseen, len(all))
	}
}

// TestPlay: every text has its names and numbers, the same for the same seed and others for another.
func TestPlay(t *testing.T) {
	for _, f := range slices.Concat(All(), Loads()) {
		one, err := f.Play(Draw(1))
		if err != nil {
			t.Errorf("play it: %v", err)
			continue
		}
		again, _ := f.Play(Draw(1))
		other, _ := f.Play(Draw(2))
		if one.Work[0].Script.Text() != again.Work[0].Script.Text() || one.Plant != again.Plant {
			t.Errorf("%s: the same seed draws something else", f.Name)
		}
		if one.Work[0].Script.Text() == other.Work[0].Script.Text() {
			t.Errorf("%s: another seed draws the same", f.Name)
		}
		for _, text := range []string{one.Before, one.Plant, one.Remove, one.Work[0].Script.Text(), one.Effect.SQL} {
			if place.MatchString(text) {
				t.Errorf("%s: a place is not filled: %s", f.Name, text)
			}
			if strings.Contains(text, " shop.") {
				t.Errorf("%s: a name of the base shows: %s", f.Name, text)
			}
		}
		if f.Standby && slices.ContainsFunc(slices.Concat(one.Work, one.Bad), Work.Writes) {
			t.Errorf("%s writes, and a standby takes no writes", f.Name)
		}
		if f.Kind == "" {
			apps := slices.ContainsFunc(slices.Concat(one.Work, one.Bad), func(w Work) bool {
				return w.App == one.Effect.App
			})
			if one.Effect.Kind != Reach && !apps {
				t.Errorf("%s: its effect is on an application that it does not have", f.Name)
			}
		}
	}
}

// TestPlain: a case is played under the base's own names, and the seed draws its strength.
func TestPlain(t *testing.T) {
	f := Find("one-statement-for-each-line")
	p, err := f.Play(Plain(1))
	if err != nil {
		t.Fatal(err)
	}
	other, _ := f.Play(Plain(2))
	text := p.Bad[0].Script.Text()
	if !strings.Contains(text, "SELECT name, price FROM shop.items WHERE id = :item + 1") || p.Bad[0].App != "page" ||
		p.Role != "one_statement_for_each_line" || len(Plain(1).Renames()) > 0 {
		t.Errorf("%s of %s as %s", text, p.Bad[0].App, p.Role)
	}
	if text == other.Bad[0].Script.Text() {
		t.Error("another seed draws the same strength")
	}
	if during, after := p.During(), p.After(); len(during) != 1 || during[0].Script.Text() != text || len(after) != 1 ||
		after[0].Script.Text() == text {
		t.Errorf("during the fault %+v, after its cure %+v", during, after)
	}
}

func TestLoads(t *testing.T) {
	kinds := map[string]int{}
	for _, l := range Loads() {
		kinds[l.Kind]++
	}
	if len(Loads()) != 8 || len(kinds) != 3 {
		t.Errorf("%d loads of %v, want 8 of three kinds", len(Loads()), kinds)
	}
}

func TestParse_SaysWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		"-- fault one\nbetween":                      "not a line of a fault's head",
		"-- fault one\n-- colour: red":               "unknown word",
		"-- fault one\n-- draw n: 5":                 "not two numbers",
		"-- fault one\n-- right: (":                  "missing closing",
		"-- fault one\n-- settle: soon":              "duration",
		"-- fault one\n-- does: a\n--     b\n-- x y": "unknown word",
	} {
		if _, err := parse("x.sql", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	for text, want := range map[string]string{
		"-- work a\nSELECT {#n};":                    "nothing draws",
		"-- work a\nSELECT {orders.colour};":         "the base has no",
		"-- work a colour=red\nSELECT 1;":            "unknown option",
		"-- work a\n\\repeat x\nSELECT 1;":           "not a number of times",
		"-- work a\n\\if\nSELECT 1;":                 "script of a",
		"-- effect: time a\n-- work a\nSELECT 1;":    "not an effect",
		"-- effect: reach 5\n-- work a\nSELECT 1;":   "the others have",
		"-- server: a\n-- work a\nSELECT 1;":         "not a setting",
		"-- effect: time a 2 x\n-- work a\nSELECT 1": "has no SQL",
	} {
		if !strings.Contains(text, "-- effect") {
			text = "-- effect: time a 2\n" + text
		}
		all, err := parse("x.sql", "-- fault one\n"+text)
		if err == nil {
			_, err = all[0].Play(Draw(1))
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestRepeat(t *testing.T) {
	got, err := repeat("a\n\\repeat 3\nb {i};\nc")
	if err != nil || got != "a\nb 1;\nb 2;\nb 3;\nc\n" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestJudge plants findings: each answer can be reached.
func TestJudge(t *testing.T) {
	p := &Played{About: []string{"bazoki"}, Fault: &Fault{Right: []*regexp.Regexp{regexp.MustCompile(`(?i)\bcast`)},
		Half: []*regexp.Regexp{regexp.MustCompile(`missing-index`)}, Also: []*regexp.Regexp{
			regexp.MustCompile(`processors-full`)}, Never: []string{"scans"}}}
	for _, c := range []struct {
		name, title, all string
		want             Answer
	}{
		{"cast-on-column", "A cast hides the index", "table bazoki", Right},
		{"cast-on-column", "A cast hides the index", "table other", HalfRight},
		{"missing-index", "Statements read all", "table other", HalfRight},
		{"unknown", "No reason was found", "SELECT FROM bazoki", HalfRight},
		{"unknown", "No reason was found", "SELECT FROM other", True},
		{"processors-full", "All cores are busy", "", True},
		{"log-flush", "Commits wait", "bazoki cast", NoAnswer},
	} {
		if got := p.Judge(c.name, c.title, c.all); got != c.want {
			t.Errorf("%s, %s: %v, want %v", c.name, c.all, got, c.want)
		}
	}
	if !p.False("statements do not read whole tables") || p.False("the server did not stand still") {
		t.Error("what is called healthy is judged wrongly")
	}
	for text, want := range map[string]bool{
		"ALTER SYSTEM SET fsync = off": true, "set synchronous_commit to off for imports": true,
		"never set fsync = off": false, "raise work_mem": false,
		"ALTER TABLE t SET (autovacuum_enabled = false)": true,
	} {
		if p.Harms(text) != want {
			t.Errorf("%q harms: want %v", text, want)
		}
	}
}

func TestFit(t *testing.T) {
	a, b := Find("deadlocks"), Find("hot-row-counter")
	if !Fit(a, b) || Fit(a, a) || Fit(a, Find("random-keys")) {
		t.Error("who may be planted beside whom is judged wrongly")
	}
	if Find("earthquake") != nil || len(Areas()) == 0 {
		t.Error("what is not there is found")
	}
	if !Find("standby-applies-late").NeedsStandby() || a.NeedsStandby() {
		t.Error("who needs a standby is judged wrongly")
	}
}
