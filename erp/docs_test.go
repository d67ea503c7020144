package erp_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"plimsoll/erp"
	"plimsoll/erp/books"
	"plimsoll/erp/erptest"
	"plimsoll/platform/worker/server"
	"plimsoll/test/patience"
	"plimsoll/web/browsertest"
)

func TestDocsInABrowser(t *testing.T) {
	base := erptest.New(t, 1).Worker(t, server.Config{})
	v := browsertest.Open(t, base+"/docs")
	if title := browsertest.Ask[string](t, v, "document.title"); !strings.Contains(title, "erp") {
		t.Errorf("title %q", title)
	}
	t.Run("ShowsEveryTypeOfDocument", func(t *testing.T) {
		shown := browsertest.Ask[[]string](t, v, `[...document.querySelectorAll("details[id]")].map((d) => d.id)`)
		for _, d := range erp.Metadata().Documents {
			for _, step := range []string{".list", ".card", ".create", ".change", ".repost", ".unpost"} {
				// A month is closed by a job: its documents can only be looked at.
				want := d.Name != books.MonthClose || step == ".list" || step == ".card"
				if slices.Contains(shown, d.Name+step) != want {
					t.Errorf("%s%s is shown: %v", d.Name, step, !want)
				}
			}
		}
	})
	t.Run("AnOperationOpensWithItsLineOfCurl", func(t *testing.T) {
		v.Do(t, chromedp.Click(`[id="goods_sale.create"] summary`, chromedp.ByQuery),
			chromedp.WaitVisible(`[id="goods_sale.create"] pre`, chromedp.ByQuery))
		line := browsertest.Ask[string](t, v, `document.querySelector('[id="goods_sale.create"] pre').textContent`)
		for _, part := range []string{
			`curl -sS -X POST -H "Authorization: Bearer $TOKEN" "$BASE/v1/documents/goods-sale"`,
			`"item": "$ITEM"`, `"quantity": "2"`,
		} {
			if !strings.Contains(line, part) {
				t.Errorf("no %s in %s", part, line)
			}
		}
	})
	t.Run("IsStyledUnderItsPolicy", func(t *testing.T) {
		if display := browsertest.Ask[string](t, v, `getComputedStyle(document.body).display`); display != "grid" {
			t.Errorf("the style sheet was not taken: %s", display)
		}
	})
	t.Run("NarrowScreenDoesNotScrollSideways", func(t *testing.T) {
		v.Do(t, chromedp.EmulateViewport(400, 800),
			chromedp.Poll(`document.documentElement.scrollWidth <= 400`, nil,
				chromedp.WithPollingTimeout(patience.Max)))
		v.Do(t, chromedp.EmulateViewport(1280, 1000))
	})
	v.Quiet(t)
	if file := os.Getenv("PLIMSOLL_TEST_SCREENSHOT"); file != "" {
		var picture []byte
		v.Do(t, chromedp.FullScreenshot(&picture, 100))
		if err := os.WriteFile(file, picture, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
