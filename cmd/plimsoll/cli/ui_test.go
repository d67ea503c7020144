package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"plimsoll/lab/run/result"
	"plimsoll/test/patience"
	"plimsoll/web/browsertest"
)

// uiRun is `plimsoll run --ui --ui-stay` under way, and a browser that looks at it.
type uiRun struct {
	*browsertest.Visit
	stdout bytes.Buffer
	stderr *watched
	stop   context.CancelFunc
	code   chan int
}

func startUI(t *testing.T, args ...string) *uiRun {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	printed := make(chan struct{})
	r := &uiRun{stderr: &watched{text: "dashboard: http", seen: func() { close(printed) }}, stop: cancel,
		code: make(chan int, 1)}
	go func() {
		r.code <- Exec(ctx, append([]string{"run", "--ui", "--ui-stay", "--json"}, args...), strings.NewReader(""),
			&r.stdout, r.stderr)
	}()
	t.Cleanup(cancel)
	select {
	case <-printed:
	case code := <-r.code:
		t.Fatalf("ended with %d: %s", code, r.stderr)
	}
	r.Visit = browsertest.Open(t, regexp.MustCompile(`http://\S+`).FindString(r.stderr.String()))
	r.Do(t, chromedp.WaitVisible("#tiles dd", chromedp.ByQuery)) // beyond the page that takes the token
	return r
}

// until waits for a condition in the page.
func (r *uiRun) until(t *testing.T, condition string) {
	t.Helper()
	r.Do(t, chromedp.Poll(condition, nil, chromedp.WithPollingTimeout(patience.Max),
		chromedp.WithPollingInterval(100*time.Millisecond)))
}

func text(id string) string { return fmt.Sprintf("document.getElementById(%q).textContent", id) }

// A person looks at a real run in a real browser, changes it by buttons and keys, ends it, and reads the report.
func TestRunInABrowser(t *testing.T) {
	s := newStand(t)
	plimsoll(t, append(s.upOne, "--quiet")...).want(t, ExitOK)
	plimsoll(t, "fill", "--small", "--quiet").want(t, ExitOK)
	args := []string{"--scenario", endless(t, 60), "--think", "5s", "--ramp", "1s", "--duration", "10m", "--title",
		"A title with <b>markup</b>"}
	r := startUI(t, args...)

	t.Run("ShowsTheRun", func(t *testing.T) { r.shows(t) })
	t.Run("TokenLeavesTheAddress", func(t *testing.T) {
		if at := browsertest.Ask[string](t, r.Visit, "location.href"); strings.Contains(at, "token") {
			t.Errorf("the page is at %s", at)
		}
	})
	t.Run("ButtonsAndKeysChangeTheLoad", func(t *testing.T) { r.changes(t) })
	t.Run("LooksWellInTheLightAndInTheDark", func(t *testing.T) { r.colours(t) })
	t.Run("NarrowScreenDoesNotScrollSideways", func(t *testing.T) {
		r.Do(t, chromedp.EmulateViewport(400, 900),
			chromedp.Poll(`document.documentElement.scrollWidth <= 400`, nil,
				chromedp.WithPollingTimeout(patience.Max)))
		r.Shoot(t, "live-narrow")
		r.Do(t, chromedp.EmulateViewport(1280, 1000))
	})
	t.Run("EndsEarlyAndKeepsTheResult", func(t *testing.T) { r.ends(t) })
	t.Run("DoesNotComplain", r.Content)
	r.stop()
	r.finish(t, <-r.code)

	t.Run("ByAgents", func(t *testing.T) {
		r := startUI(t, append(args, "--agents", "local:2", "--agents-listen", "127.0.0.1:0")...)
		r.shows(t)
		r.changes(t)
		r.ends(t)
		r.stop()
		r.finish(t, <-r.code)
	})
}

func (r *uiRun) shows(t *testing.T) {
	r.until(t, text("phase")+` === "Steady state: measuring"`)
	r.until(t, `document.querySelectorAll("#heat tr").length > 10 &&
		document.querySelectorAll("figure canvas").length === 6`)
	r.until(t, `[...document.querySelectorAll("#heat .score")].some((cell) => /^[01]\.\d{3}$/.test(cell.textContent))`)
	// A figure can be missing for a second: the first look has no rate yet.
	for name, pattern := range map[string]string{"Users": "^60$", "Throughput": `^[1-9]`, "Apdex": `^[01]\.`,
		"Log": `\d.*B per s$`, "Sessions waiting": `^\d`, "Lag": `s$`, "p95": `s$`} {
		r.until(t, fmt.Sprintf(`[...document.querySelectorAll("#tiles > div")].some((d) =>
			d.children[0].textContent === %q && /%s/.test(d.children[1].textContent.trim()))`, name, pattern))
	}
	if title := browsertest.Ask[string](t, r.Visit, text("run")); !strings.Contains(title, "<b>markup</b>") {
		t.Errorf("the title is %q", title)
	}
	r.until(t, `document.querySelector("#waits tr") !== null && document.querySelectorAll("#events li").length > 2`)
}

func (r *uiRun) changes(t *testing.T) {
	t.Helper()
	tile := `document.querySelector("#tiles dd").textContent.trim()`
	r.Do(t, chromedp.Click("#pause", chromedp.ByQuery))
	r.until(t, text("phase")+` === "Paused by the user" && `+text("pause")+` === "Resume"`)
	r.Do(t, chromedp.Evaluate(`document.activeElement.blur()`, nil), chromedp.KeyEvent("p"))
	r.until(t, text("phase")+` !== "Paused by the user"`)
	r.Do(t, chromedp.KeyEvent("+"))
	r.until(t, tile+` === "66"`)
	r.Do(t, chromedp.KeyEvent("u"), chromedp.SendKeys("#users", kb.Control+"a", chromedp.ByQuery),
		chromedp.Evaluate(`document.getElementById("users").value = "40"`, nil), chromedp.KeyEvent(kb.Enter))
	r.until(t, tile+` === "40"`)
	r.Do(t, chromedp.Evaluate(`document.getElementById("users").value = "0"`, nil),
		chromedp.Click("#set", chromedp.ByQuery))
	r.until(t, text("answer")+`.includes("between 1 and")`)
	r.until(t, `[...document.querySelectorAll("#events .hand")].length >= 4`)
}

func (r *uiRun) colours(t *testing.T) {
	ground := func() string {
		return browsertest.Ask[string](t, r.Visit, "getComputedStyle(document.body).backgroundColor")
	}
	r.Do(t, emulation.SetEmulatedMedia().WithFeatures(
		[]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "light"}}))
	light := ground()
	r.Shoot(t, "live-light")
	r.Do(t, emulation.SetEmulatedMedia().WithFeatures(
		[]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}))
	dark := ground()
	r.Do(t, chromedp.SetValue("#theme", "light", chromedp.ByQuery),
		chromedp.Evaluate(`document.getElementById("theme").dispatchEvent(new Event("change"))`, nil))
	chosen := ground()
	r.Do(t, chromedp.SetValue("#theme", "system", chromedp.ByQuery),
		chromedp.Evaluate(`document.getElementById("theme").dispatchEvent(new Event("change"))`, nil))
	r.Shoot(t, "live-dark")
	if light == dark || chosen != light {
		t.Errorf("light %s, dark %s, light chosen in the dark %s", light, dark, chosen)
	}
	r.Do(t, emulation.SetEmulatedMedia())
}

func (r *uiRun) ends(t *testing.T) {
	r.Do(t, chromedp.Evaluate(`document.activeElement.blur()`, nil), chromedp.KeyEvent("e"),
		chromedp.WaitVisible("#end-yes", chromedp.ByQuery))
	r.Do(t, chromedp.Click("#end-yes", chromedp.ByQuery))
	r.until(t, `!document.getElementById("result").hidden`)
	if said := browsertest.Ask[string](t, r.Visit, text("result")); !strings.Contains(said, "not valid") ||
		!strings.Contains(said, "changed by the user") || !strings.Contains(said, "audit: clean") {
		t.Errorf("the result is told as %q", said)
	}
	r.Shoot(t, "live-over")
	r.Do(t, chromedp.Click("#result a", chromedp.ByQuery), chromedp.WaitVisible("#verdict", chromedp.ByQuery))
	r.until(t, `document.documentElement.dataset.drawn === "yes" && document.title.startsWith("Not valid · Apdex")`)
}

// finish compares what the page showed with what the command says.
func (r *uiRun) finish(t *testing.T, code int) {
	var kept result.Result
	if err := json.Unmarshal(r.stdout.Bytes(), &kept); err != nil {
		t.Fatalf("exit code %d: %v\n%s", code, err, r.stderr)
	}
	if code != ExitInterrupted || !kept.Interrupted || !kept.Audit.Clean || len(kept.Conditions.Load.Changes) != 4 {
		t.Errorf("exit code %d, interrupted %v, audit %+v, changes %+v", code, kept.Interrupted, kept.Audit,
			kept.Conditions.Load.Changes)
	}
	if !strings.Contains(r.stderr.String(), "the dashboard stays until Ctrl-C") {
		t.Errorf("want that the dashboard stays, got %s", r.stderr)
	}
}

func TestMistakesWithTheDashboard(t *testing.T) {
	freshState(t)
	plimsoll(t, "run", "--ui", "--ui-address", "0.0.0.0:7070").want(t, ExitUsage, "must be on loopback", "ssh -L")
	plimsoll(t, "run", "--ui", "--ui-address", "7070").want(t, ExitUsage, "must be HOST:PORT")
	plimsoll(t, "run", "--view", "tabel").want(t, ExitUsage, "did you mean table")
}
