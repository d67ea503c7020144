package report

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"plimsoll/lab/run/result"
	"plimsoll/lab/run/result/resulttest"
	"plimsoll/test/files"
	"plimsoll/test/patience"
	"plimsoll/web/browsertest"
)

func open(t *testing.T, r *result.Result) *browsertest.Visit {
	t.Helper()
	file := files.Write(t, t.TempDir(), "report.html", written(t, r))
	v := browsertest.Open(t, "file://"+file)
	v.Do(t, until(`document.documentElement.dataset.drawn === "yes"`))
	return v
}

// until waits until a condition holds in the page.
func until(condition string) chromedp.Action {
	return chromedp.Poll(condition, nil, chromedp.WithPollingTimeout(patience.Max))
}

// inked counts a canvas's pixels of exactly one colour of the style sheet.
const inked = `((figure, name) => {
	const probe = document.createElement("i");
	probe.style.color = getComputedStyle(document.documentElement).getPropertyValue("--" + name);
	document.body.append(probe);
	const want = getComputedStyle(probe).color.match(/\d+/g).map(Number);
	probe.remove();
	const c = document.querySelector("figure[data-chart=" + figure + "] canvas");
	const canvas = Object.assign(document.createElement("canvas"), {width: c.width, height: c.height});
	const copy = canvas.getContext("2d", {willReadFrequently: true});
	copy.drawImage(c, 0, 0);
	const d = copy.getImageData(0, 0, c.width, c.height).data;
	let n = 0;
	for (let i = 0; i < d.length; i += 4)
		if (d[i+3] === 255 && d[i] === want[0] && d[i+1] === want[1] && d[i+2] === want[2]) n++;
	return n;
})`

func TestReportInABrowser(t *testing.T) {
	r := resulttest.Overloaded(t)
	v := open(t, r)
	t.Run("LoadsQuietly", v.Quiet)
	t.Run("DrawsItsCharts", func(t *testing.T) {
		for _, figure := range []string{"throughput", "apdex", "latency", "processors"} {
			if n := browsertest.Ask[int](t, v, inked+fmt.Sprintf("(%q, 'blue')", figure)); n < 100 {
				t.Errorf("%s: %d pixels of its blue line", figure, n)
			}
		}
	})
	t.Run("RedrawsThemInTheDark", func(t *testing.T) {
		v.Do(t, emulation.SetEmulatedMedia().WithFeatures(
			[]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}),
			until(inked+`("throughput", "blue") > 100`))
		if got := browsertest.Ask[string](t, v,
			`getComputedStyle(document.body).backgroundColor`); got == "rgb(246, 247, 249)" {
			t.Error("the page stays light")
		}
		v.Do(t, emulation.SetEmulatedMedia(), until(inked+`("throughput", "blue") > 100`))
	})
	t.Run("TableEqualsTheJSON", func(t *testing.T) { tableEqualsJSON(t, v, r) })
	t.Run("TabGoesThroughInReadingOrder", func(t *testing.T) { tabOrder(t, v) })
	t.Run("ArrowKeysReadSingleMoments", func(t *testing.T) {
		v.Do(t, chromedp.Focus(`figure[data-chart="throughput"] .plot`, chromedp.ByQuery),
			chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight))
		want := fmt.Sprintf("at 2 s: valid answers per second %d", r.Series.OK[2]+r.Series.Refused[2])
		if text := browsertest.Ask[string](t, v,
			`document.querySelector("figure[data-chart=throughput] [aria-live]").textContent`); !strings.HasPrefix(text,
			want) {
			t.Errorf("said %q, want %q …", text, want)
		}
	})
	t.Run("NarrowScreenDoesNotScrollSideways", func(t *testing.T) {
		v.Do(t, chromedp.EmulateViewport(400, 800), until(`innerWidth === 400`),
			until(`document.documentElement.scrollWidth <= 400`))
	})
	t.Run("StaysQuiet", v.Quiet)
}

func TestMemoryInABrowser(t *testing.T) {
	r := resulttest.Overloaded(t)
	for i := range r.Series.T {
		bytes := (80 + 0.1*float64(i%7)) * (1 << 20)
		r.Series.MemoryDatabase, r.Series.MemoryGenerator = append(r.Series.MemoryDatabase, &bytes),
			append(r.Series.MemoryGenerator, nil)
	}
	v := open(t, r)
	if n := browsertest.Ask[int](t, v, inked+`("memory", "blue")`); n < 100 {
		t.Errorf("%d pixels of its blue line", n)
	}
	text := browsertest.Ask[string](t, v, `document.querySelector("figure[data-chart=memory]").textContent`)
	if !strings.Contains(text, "database between 80.0 MB and 80.6 MB, workers not measured, generator not measured") {
		t.Errorf("said %q", text)
	}
	v.Quiet(t)
}

func tableEqualsJSON(t *testing.T, v *browsertest.Visit, r *result.Result) {
	cells := browsertest.Ask[map[string][]string](t, v,
		`Object.fromEntries([...document.querySelectorAll("tr[data-operation]")].map(
		(row) => [row.dataset.operation, [...row.querySelectorAll("td")].map((cell) => cell.textContent)]))`)
	number := func(text string) float64 {
		x, err := strconv.ParseFloat(strings.NewReplacer(",", "", "*", "", " s", "").Replace(text), 64)
		if err != nil {
			t.Error(err)
		}
		return x
	}
	for _, op := range r.Operations {
		row := cells[op.ID]
		if len(row) != 15 || row[10] != millis(op.Latency.Mean) || row[11] != millis(op.Latency.StdDev) ||
			row[12] != ownWait(op) {
			t.Fatalf("%s: %q", op.ID, row)
		}
		for i, want := range map[int]struct{ value, within float64 }{
			0: {op.TargetMS / 1000, 0}, 1: {*op.Apdex - 0.0005, 0.0006}, 3: {float64(op.Ops), 0},
			4: {float64(op.Refused), 0},
			5: {float64(op.Errors + op.Overload), 0}, 6: {*op.Latency.P50, 0.51}, 7: {*op.Latency.P95, 0.51},
			8: {*op.Latency.P99, 0.51}, 9: {*op.Latency.Max, 0.51},
		} {
			if got := number(row[i]); got < want.value-want.within || got > want.value+want.within {
				t.Errorf("%s, column %d: %v, want %v", op.ID, i, got, want.value)
			}
		}
		if row[2] != string(op.Band) {
			t.Errorf("%s: band %q, want %q", op.ID, row[2], op.Band)
		}
	}
	if len(cells) != len(r.Operations) {
		t.Errorf("%d rows for %d operations", len(cells), len(r.Operations))
	}
}

func tabOrder(t *testing.T, v *browsertest.Visit) {
	const who = `(() => { const e = document.activeElement; return e.className || e.tagName.toLowerCase(); })()`
	var got []string
	v.Do(t, chromedp.Evaluate(`document.activeElement.blur()`, nil))
	for range 11 {
		v.Do(t, chromedp.KeyEvent(kb.Tab))
		got = append(got, browsertest.Ask[string](t, v, who))
	}
	want := "skip scroll scroll plot plot plot plot summary scroll scroll summary"
	if text := strings.Join(got, " "); !strings.HasPrefix(text, want) {
		t.Errorf("tab order %s, want %s", text, want)
	}
}

func TestHostileTextsInABrowser(t *testing.T) {
	v := open(t, hostile(t))
	if title := browsertest.Ask[string](t, v, "document.title"); !strings.HasPrefix(title, "Not valid · Apdex 0.108") {
		t.Errorf("title %q", title)
	}
	if n := browsertest.Ask[int](t, v,
		`document.querySelectorAll("img, script:not([type]), script[type=module]").length`); n != 2 {
		t.Errorf("%d scripts and images, want the page's own 2", n)
	}
	v.Quiet(t)
}

func TestReportOfNothingInABrowser(t *testing.T) {
	v := open(t, &result.Result{Series: result.Series{T: []float64{}}, Events: []result.Event{}})
	v.Quiet(t)
}
