package server

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/platform/worker/presence"
	"plimsoll/test/patience"
)

// mark registers a load at the worker, which answers with the other loads.
func (b *bundle) mark(t *testing.T, report string) (int, []string) {
	t.Helper()
	status, _, body := b.call(t, "POST", "/health/load", report)
	var others presence.OtherUsers
	if status == http.StatusOK && json.Unmarshal([]byte(body), &others) != nil {
		t.Fatalf("%s, want other users as JSON", body)
	}
	return status, others.Loads
}

func TestLoadsSeeEachOtherThroughAWorker(t *testing.T) {
	b := serving(t, Config{}, func(l net.Listener) net.Listener { return l })
	const first, second = `{"load":"run A","key":"a"}`, `{"load":"run B","key":"b"}`
	for range 2 { // a renewal is no second load
		if status, loads := b.mark(t, first); status != http.StatusOK || len(loads) > 0 {
			t.Fatalf("alone: %d, %v", status, loads)
		}
	}
	if _, loads := b.mark(t, second); !slices.Equal(loads, []string{"run A"}) {
		t.Errorf("B sees %v", loads)
	}
	if _, loads := b.mark(t, first); !slices.Equal(loads, []string{"run B"}) {
		t.Errorf("A sees %v", loads)
	}
	direct, err := presence.Dial(t.Context(), b.db.DSN, "by DSN")
	if err != nil {
		t.Fatal(err)
	}
	defer direct.Close(t.Context())
	if others, err := direct.Look(t.Context()); err != nil || !slices.Equal(others.Loads, []string{"run A", "run B"}) {
		t.Errorf("a load by DSN sees %v, %v", others.Loads, err)
	}
	if _, loads := b.mark(t, first); !slices.Equal(loads, []string{"by DSN", "run B"}) {
		t.Errorf("A sees %v", loads)
	}
	b.mark(t, `{"load":"run B","key":"b","ends":true}`)
	b.loads.endAll(time.Now()) // A has not renewed for long
	patience.Until(t, "the marks are gone", func() bool {
		others, err := direct.Look(t.Context())
		return err == nil && len(others.Loads) == 0
	})
}

func TestMarksOfLoadsAreBounded(t *testing.T) {
	b := serving(t, Config{}, func(l net.Listener) net.Listener { return l })
	for n := range loadsMax {
		if status, _ := b.mark(t, fmt.Sprintf(`{"load":"x","key":"%d"}`, n)); status != http.StatusOK {
			t.Fatalf("load %d: %d", n, status)
		}
	}
	if status, _ := b.mark(t, `{"load":"x","key":"more"}`); status != http.StatusTooManyRequests {
		t.Errorf("one more: %d", status)
	}
	for _, body := range []string{``, `[]`, `{"load":"x"}`, `{"key":"x"}`, `{"load":"\u0000","key":"x"}`,
		`{"load":"` + strings.Repeat("x", loadNameMax+1) + `","key":"x"}`} {
		if status, _ := b.mark(t, body); status != http.StatusBadRequest {
			t.Errorf("%.40s: %d", body, status)
		}
	}
	form, err := http.Post(b.url+"/health/load", "text/plain", strings.NewReader(`{"load":"x","key":"y"}`))
	if err != nil {
		t.Fatal(err)
	}
	form.Body.Close()
	if form.StatusCode != http.StatusUnsupportedMediaType {
		t.Errorf("a form: %d", form.StatusCode)
	}
}

func TestAMarkNeedsTheTokenElsewhere(t *testing.T) {
	b := serving(t, Config{FiguresToken: "token of the figures"}, fromFar)
	if status, _ := b.mark(t, `{"load":"x","key":"y"}`); status != http.StatusUnauthorized {
		t.Errorf("without: %d", status)
	}
	b.token = "token of the figures"
	if status, _ := b.mark(t, `{"load":"x","key":"y"}`); status != http.StatusOK {
		t.Errorf("with: %d", status)
	}
}
