package line

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"plimsoll/lab/load/apdex"
	"plimsoll/test/files"
	"plimsoll/web/browsertest"
)

// drawnLine is a search up to a number of users of which the last third fails, at a thousand operations a second.
func drawnLine(name string) *Line {
	l := &Line{ID: name, Plan: Plan{Target: 0.85, Bounds: usual, ThinkS: 2, Configuration: name}}
	for i, users := range []int{100, 200, 400, 300, 300, 350, 400} {
		score, outcome := 0.97, Passes
		if users > 320 {
			score, outcome = 0.41, Fails
		}
		purpose := Coarse
		if i > 3 {
			purpose = Confirm
		}
		l.Trials = append(l.Trials, Trial{Users: users, Purpose: purpose, Outcome: outcome, Valid: true, Apdex: &score,
			Interval: &apdex.Interval{Low: score - 0.03, High: score + 0.03}, OpsPerS: 2.65 * float64(users),
			Run: "20260102-030405", DurationS: 20})
	}
	l.Trials = append(l.Trials, Trial{Users: 350, Outcome: Void, Why: "a worker died", OpsPerS: 900})
	l.conclude(0)
	return l
}

// hiddenMarks are those of trials, bars and the texts of charts that a reader does not see without scrolling sideways.
const hiddenMarks = `[...document.querySelectorAll("figure svg :is(circle, path, rect, text)")].filter((e) => {
	const box = e.getBoundingClientRect();
	let right = innerWidth;
	for (let p = e.parentElement; p; p = p.parentElement)
		if (getComputedStyle(p).overflowX !== "visible") right = Math.min(right, p.getBoundingClientRect().right);
	return box.left < 0 || box.right > right;
}).map((e) => e.textContent || e.tagName)`

// marks are what stands for a trial in the first chart.
const marks = `[...document.querySelector("figure").querySelectorAll("title")].map((e) => e.textContent)`

// texts are those of all axes; tall says how high the smallest of them is on the screen.
const (
	texts = `[...document.querySelectorAll("figure svg text")].map((e) => e.textContent)`
	tall  = `Math.min(...[...document.querySelectorAll("figure svg text")].map((e) =>
	e.getBoundingClientRect().height))`
)

// On a telephone all trials are visible, above all those that failed, and the axes have readable round numbers.
func TestChartsInABrowser(t *testing.T) {
	var page strings.Builder
	l := drawnLine("20260101-000000")
	if err := l.HTML(&page); err != nil {
		t.Fatal(err)
	}
	v := browsertest.Open(t, "file://"+files.Write(t, t.TempDir(), "line.html", page.String()))
	t.Run("LoadsQuietly", v.Quiet)
	t.Run("Fits", func(t *testing.T) { v.Look(t, "line") })
	for _, width := range []int64{390, 1280} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			v.Do(t, chromedp.EmulateViewport(width, 900))
			if hidden := browsertest.Ask[[]string](t, v, hiddenMarks); len(hidden) > 0 {
				t.Errorf("cut off: %q", hidden)
			}
			seen := strings.Join(browsertest.Ask[[]string](t, v, marks), "; ")
			// the void one has no score
			if n := strings.Count(seen, "users"); n != 7 || strings.Count(seen, "400 users: 0.41") != 2 {
				t.Errorf("%d trials of 7: %s", n, seen)
			}
			if px := browsertest.Ask[float64](t, v, tall); px < 11 {
				t.Errorf("text is %.1f pixels high", px)
			}
			got := strings.Join(browsertest.Ask[[]string](t, v, texts), " ")
			for _, part := range []string{"0 100 200 300 400", "0 200 400 600 800 1,000"} {
				if !strings.Contains(got, part) || strings.Contains(got, "e+") {
					t.Errorf("ticks %q, want %q among them", got, part)
				}
			}
		})
	}
}

func TestBarsInABrowser(t *testing.T) {
	var page strings.Builder
	c := &Comparison{Lines: []Compared{{Line: drawnLine("vanilla+classic")},
		{Line: drawnLine("a-cluster-with-a-long-name+lean")}}}
	c.conclude()
	if err := c.HTML(&page); err != nil {
		t.Fatal(err)
	}
	v := browsertest.Open(t, "file://"+files.Write(t, t.TempDir(), "lines.html", page.String()))
	t.Run("LoadsQuietly", v.Quiet)
	t.Run("Fits", func(t *testing.T) { v.Look(t, "lines") })
	v.Do(t, chromedp.EmulateViewport(390, 900))
	if hidden := browsertest.Ask[[]string](t, v, hiddenMarks); len(hidden) > 0 {
		t.Errorf("cut off: %q", hidden)
	}
	seen := strings.Join(browsertest.Ask[[]string](t, v, texts), " ")
	if !strings.Contains(seen, "a-cluster-with-a-long-name+lean") || !strings.Contains(seen, c.Lines[0].Line.brief()) {
		t.Errorf("bars of %q", seen)
	}
}
