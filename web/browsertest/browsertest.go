// Package browsertest owns the real browser in which tests open our pages, and collects the errors of a page.
package browsertest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"plimsoll/test/patience"
)

// path finds Chromium, or skips; on CI its absence is a failure.
func path(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("CI") == "true" {
		t.Fatal("no browser on CI: install chromium")
	}
	t.Skip("SKIPPED: no browser to look at the page with: install chromium")
	return ""
}

// Visit of one page collects its errors and its requests.
type Visit struct {
	ctx context.Context

	mu         sync.Mutex
	complaints []string
	requests   []string
}

// Open goes to a page in a browser of its own, which ends with the test.
func Open(t *testing.T, url string) *Visit {
	t.Helper()
	v := begin(t)
	v.Do(t, chromedp.Navigate(url))
	return v
}

// begin starts a browser.
func begin(t *testing.T) *Visit {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path(t)), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.WindowSize(1280, 1000), chromedp.WSURLReadTimeout(patience.Max))
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx, chromedp.WithBrowserOption(chromedp.WithDialTimeout(patience.Max)))
	t.Cleanup(cancel)
	t.Cleanup(func() { _ = chromedp.Cancel(ctx) }) // waits until the browser is gone
	v := &Visit{ctx: ctx}
	chromedp.ListenTarget(ctx, v.listen)
	if err := chromedp.Run(ctx); err != nil { // the browser lives as long as the context that it is begun with
		t.Fatal(err)
	}
	v.Do(t, network.Enable(), log.Enable(), runtime.Enable())
	return v
}

func (v *Visit) listen(event any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		v.complaints = append(v.complaints, fmt.Sprintf("console.%s", e.Type))
	case *runtime.EventExceptionThrown:
		v.complaints = append(v.complaints, e.ExceptionDetails.Error())
	case *log.EventEntryAdded:
		v.complaints = append(v.complaints, e.Entry.Text)
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, "data:") {
			v.requests = append(v.requests, e.Request.URL)
		}
	}
}

// Do carries out actions, or ends the test if they never finish.
func (v *Visit) Do(t *testing.T, actions ...chromedp.Action) {
	t.Helper()
	ctx, cancel := context.WithTimeout(v.ctx, patience.Max)
	defer cancel()
	if err := chromedp.Run(ctx, actions...); err != nil {
		t.Fatal(err, v.complaints)
	}
}

// Ask evaluates a script in the page.
func Ask[T any](t *testing.T, v *Visit, script string) (answer T) {
	t.Helper()
	v.Do(t, chromedp.Evaluate(script, &answer))
	return answer
}

// Quiet fails if the page reported an error or requested anything but itself.
func (v *Visit) Quiet(t *testing.T) {
	t.Helper()
	v.mu.Lock()
	defer v.mu.Unlock()
	v.uncomplaining(t)
	if len(v.requests) != 1 {
		t.Errorf("the page requested %q", v.requests)
	}
}

// Content fails if the page reported an error, whatever it requested.
func (v *Visit) Content(t *testing.T) {
	t.Helper()
	v.mu.Lock()
	defer v.mu.Unlock()
	v.uncomplaining(t)
}

func (v *Visit) uncomplaining(t *testing.T) {
	t.Helper()
	if len(v.complaints) > 0 {
		t.Errorf("the page reports errors: %q", v.complaints)
	}
}

// shotsVariable names a folder in which pictures of the pages are kept.
const shotsVariable = "PLIMSOLL_TEST_SHOTS"

// tooWideScript says what overflows the window, or nothing. Charts take a new width a few frames after the window
// has it: it counts frames, so that a busy machine has the time it needs.
const tooWideScript = `(async () => {
	const page = document.documentElement;
	for (let frames = 0; frames < 100 && page.scrollWidth > innerWidth; frames++)
		await new Promise(requestAnimationFrame);
	if (page.scrollWidth <= innerWidth) return "";
	const right = (e) => e.getBoundingClientRect().right;
	const out = [...document.querySelectorAll("body *")].filter((e) => right(e) > innerWidth + scrollX);
	return "the page is " + page.scrollWidth + " wide, the window " + innerWidth + "; overflowing: " +
		out.slice(0, 5).map((e) => e.tagName + "#" + e.id + "." + e.className + " to " + right(e)).join(", ");
})()`

func awaited(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }

// Look opens a page wide and narrow, light and dark: nothing may overflow, and the dark one must be dark.
func (v *Visit) Look(t *testing.T, name string) {
	t.Helper()
	grounds := map[string]bool{}
	for _, width := range []int64{1280, 390} {
		for _, theme := range []string{"light", "dark"} {
			v.Do(t, chromedp.EmulateViewport(width, 900), emulation.SetEmulatedMedia().WithFeatures(
				[]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}))
			what := fmt.Sprintf("%s-%s-%d", name, theme, width)
			var wide string
			v.Do(t, chromedp.Evaluate(tooWideScript, &wide, awaited))
			if wide != "" {
				t.Errorf("%s: %s", what, wide)
			}
			grounds[Ask[string](t, v, `getComputedStyle(document.body).backgroundColor`)] = true
			if Shooting() {
				v.Shoot(t, what)
			}
		}
	}
	if len(grounds) != 2 {
		t.Errorf("%s: light and dark have the backgrounds %v", name, grounds)
	}
}

// Shooting says whether pictures are to be kept: those of long pages take seconds.
func Shooting() bool { return os.Getenv(shotsVariable) != "" }

// Shoot takes a picture of the whole page, which must not be blank, and keeps it where PLIMSOLL_TEST_SHOTS says.
func (v *Visit) Shoot(t *testing.T, name string) {
	t.Helper()
	var picture []byte
	v.Do(t, chromedp.FullScreenshot(&picture, 100))
	if len(picture) < 20_000 {
		t.Errorf("the picture of %s has only %d bytes", name, len(picture))
	}
	if dir := os.Getenv(shotsVariable); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o644); err != nil {
			t.Error(err)
		}
	}
}
