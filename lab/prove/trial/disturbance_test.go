package trial_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"plimsoll/ground/host/process"
	"plimsoll/lab/prove/burner"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/trial"
	"plimsoll/test/patience"
)

// disturbing is a machine that others disturb in some turns, counted from 1.
func disturbing(turns ...int) trial.Watch {
	n := 0
	return func() func() []string {
		n++
		if slices.Contains(turns, n) {
			return func() []string { return []string{"others used 80 % of the processors"} }
		}
		return func() []string { return nil }
	}
}

func upTo(n int) (all []int) {
	for i := range n {
		all = append(all, i+1)
	}
	return all
}

// Two sides of four turns. The last figures say what the new side measures in a disturbed turn, which nobody may see.
func TestPlay_DisturbedTurnsAreVoid(t *testing.T) {
	for name, c := range map[string]struct {
		figure    float64 // of the new side; the old one has 10
		disturbed []int
		rounds    int
		counted   bool
		fail      string
		want      claims.Verdict
		why       string
		turns     int // that were played
	}{
		"Quiet":          {30, nil, 4, false, "", claims.Confirmed, "", 8},
		"QuietAndLess":   {11, nil, 4, false, "", claims.Refuted, "surely less than ×2", 8},
		"OneIsMadeAgain": {30, []int{3}, 4, false, "", claims.Confirmed, "", 9},
		"LessAndOneIsMadeAgain": {11, []int{3, 4}, 4, false, "", claims.Refuted,
			"surely less than ×2", 10},
		"AllDisturbed": {30, upTo(99), 4, false, "", claims.Inconclusive,
			"turns of each side: too few turns, 0 of 4 for old; 12 were disturbed by other programs and are void", 12},
		"NeverFourTurns": {30, nil, 3, false, "", claims.Inconclusive, "too few turns, 3 of 4 for old", 6},
		"TwoTooFewForARefutation": {11, nil, 2, false, "", claims.Inconclusive,
			"too few turns, 2 of 4", 4},
		"CountsAreNotDisturbed": {30, upTo(99), 4, true, "", claims.Confirmed, "", 8},
		"AFailureOfAVoidTurnProvesNothing": {30, []int{1}, 4, false, "valid", claims.Confirmed, "",
			9},
		"AFailureThatRefutesStands": {30, []int{1}, 4, false, "books", claims.Refuted, "books failed",
			9},
	} {
		t.Run(name, func(t *testing.T) {
			played := 0
			var numbers []int
			figures := func(name string, quiet float64) trial.Side {
				return trial.Side{Name: name, Open: func(_ context.Context, r *trial.Record) (trial.Turn, error) {
					return func(_ context.Context, n int) (trial.Figures, error) {
						played++
						numbers = append(numbers, n)
						if c.fail != "" && played == 1 {
							r.Fail(c.fail, c.fail+" failed")
						}
						if slices.Contains(c.disturbed, played) && !c.counted {
							r.Figure(name, "speed", 1e6)
							return trial.Figures{"speed": 1e6}, nil
						}
						return trial.Figures{"speed": quiet}, nil
					}, nil
				}}
			}
			faster := trial.Ratio{Of: trial.At("new", "speed"), To: trial.At("old", "speed")}
			two := trial.Trial{Parts: []trial.Part{{Rounds: c.rounds, Series: speed, Counted: c.counted,
				Sides: []trial.Side{figures("old", 10), figures("new", c.figure)}}},
				Rules: trial.Rules{Checks: []trial.Check{{Name: "valid", Want: "it is valid"},
					{Name: "books", Want: "the books balance", Refuted: "the books are wrong"}},
					Direction: []trial.Criterion{trial.Bar(faster, 2)}}}
			var lines []string
			f, err := two.Play(t.Context(), trial.Options{Watch: disturbing(c.disturbed...),
				Say: func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }})
			if err != nil || f.Verdict != c.want || !strings.Contains(f.Measured, c.why) || played != c.turns {
				t.Errorf("%s (%s) after %d turns, %v; want %s (%s) after %d", f.Verdict, f.Measured, played, err,
					c.want, c.why, c.turns)
			}
			if void := played - 2*c.rounds; void > 0 && (len(lines) < void ||
				!strings.Contains(lines[0], "is void and repeated: others used 80 %")) {
				t.Errorf("%d turns were repeated, said was %q", void, lines)
			}
			slices.Sort(numbers)
			if len(slices.Compact(numbers)) != played {
				t.Error("a repeated turn has the random seed of the void one")
			}
		})
	}
}

// A side may say itself that a turn is no data: a run judges its own time.
func TestPlay_ATurnThatSaysItIsVoidIsMadeAgain(t *testing.T) {
	played := 0
	one := trial.Trial{Parts: []trial.Part{{Rounds: 4, Series: speed, Sides: []trial.Side{{Name: "one",
		Open: func(_ context.Context, r *trial.Record) (trial.Turn, error) {
			return func(context.Context, int) (trial.Figures, error) {
				if played++; played == 2 {
					r.Void("a second load")
				}
				return trial.Figures{"speed": float64(played)}, nil
			}, nil
		}}}}}}
	f, err := one.Play(t.Context(), trial.Options{})
	if err != nil || !slices.Equal(f.Figures[0].Values, []float64{1, 3, 4, 5}) {
		t.Errorf("%+v, %v", f.Figures, err)
	}
}

// Every text of rules names what holds for all.
func TestRulesText_NamesTheTurns(t *testing.T) {
	two := twoSides(new([]string))
	if text := two.RulesText(); !strings.HasSuffix(text, "no verdict without turns of each side at least 4") {
		t.Error(text)
	}
	two.Parts[0].Counted = true
	if text := two.RulesText(); strings.Contains(text, "turns of each side") {
		t.Error(text)
	}
}

// stranger is nobody's child and uses a processor.
func stranger(t *testing.T, name string) process.ID {
	t.Helper()
	link := filepath.Join(t.TempDir(), name)
	err := os.Symlink("/bin/sh", link)
	var output []byte
	if err == nil {
		output, err = exec.Command("/bin/sh", "-c",
			`ulimit -t 60; "$0" -c 'while :; do :; done' >/dev/null 2>&1 & echo $!`, link).Output()
	}
	var pid int
	if err == nil {
		_, err = fmt.Sscan(string(output), &pid)
	}
	var one process.ID
	if err == nil {
		one, err = process.Of(pid)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = one.Signal(syscall.SIGKILL) })
	return one
}

// What a stranger takes is seen; what a turn plants itself is none.
func TestMachine_SeesStrangers(t *testing.T) {
	if trial.Machine(0) != nil {
		t.Error("a limit of 0 does not turn it off")
	}
	end, began := trial.Machine(1e-6)(), time.Now()
	planted, err := burner.Start(t.Context(), t.TempDir(), 1, 60)
	if err != nil {
		t.Fatal(err)
	}
	defer planted.End()
	var strangers burner.Burners // of one name, which are counted together
	for range 6 {
		strangers = append(strangers, stranger(t, "a-stranger"))
	}
	// The five that used most are named: whoever used more than a fifth of the processors is among them.
	patience.Until(t, "both have worked", func() bool {
		return planted.Used() > 50*time.Millisecond && time.Since(began) > time.Second &&
			strangers.Used() > time.Since(began)*time.Duration(runtime.NumCPU())/5
	})
	why := strings.Join(end(), "; ")
	if !strings.Contains(why, "other processes used") || !strings.Contains(why, "a-stranger") ||
		strings.Contains(why, burner.Name) {
		t.Errorf("disturbed by %q, want a-stranger named and not the burners", why)
	}
}

// A server that a turn kills leaves orphans, which have used most of their time before.
func TestMachine_OrphansAreNoStrangers(t *testing.T) {
	link := filepath.Join(t.TempDir(), "an-orphan")
	if err := os.Symlink("/bin/sh", link); err != nil {
		t.Fatal(err)
	}
	end := trial.Machine(1e-6)()
	parent := exec.Command("/bin/sh", "-c",
		`ulimit -t 60; "$0" -c 'while :; do :; done' >/dev/null 2>&1 & echo $!; wait`, link)
	stdout, err := parent.StdoutPipe()
	if err == nil {
		err = parent.Start()
	}
	var pid int
	if err == nil {
		_, err = fmt.Fscan(stdout, &pid)
	}
	if err != nil {
		t.Fatal(err)
	}
	orphan, err := process.Of(pid)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = orphan.Signal(syscall.SIGKILL) }()
	began := time.Now()
	burners := burner.Burners{orphan}
	patience.Until(t, "it has worked, and was seen as ours", func() bool {
		return burners.Used() > 300*time.Millisecond && time.Since(began) > 1500*time.Millisecond
	})
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	used := burners.Used()
	patience.Until(t, "the orphan has worked", func() bool { return burners.Used() > used+100*time.Millisecond })
	if why := strings.Join(end(), "; "); strings.Contains(why, "an-orphan") {
		t.Errorf("disturbed by %q, want no orphan of ours", why)
	}
}
