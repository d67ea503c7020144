package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"plimsoll/test/patience"

	"plimsoll/lab/prove/peers"
)

// running is a target behind HTTP, and the bench's hold on it.
func running(t *testing.T) (*target, *application) {
	t.Helper()
	goal := &target{}
	front, back := httptest.NewServer(goal.application()), httptest.NewServer(goal.handle())
	t.Cleanup(front.Close)
	t.Cleanup(back.Close)
	return goal, &application{at: addresses{front.URL, back.URL}}
}

func call(t *testing.T, base, token, user string) (status int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/v1/cards/7", nil)
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	request.Header.Set("Authorization", token)
	request.Header.Set("X-User", user)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	return answer.StatusCode, string(text)
}

func TestTargetCountsWhoCalls(t *testing.T) {
	_, app := running(t)
	for _, user := range []string{"0", "5", "5", "99999"} {
		if status, body := call(t, app.at.Application, token, user); status != http.StatusOK || len(body) != cardBytes {
			t.Errorf("user %s: %d, %d bytes", user, status, len(body))
		}
	}
	for _, wrong := range [][2]string{{"Bearer other", "1"}, {token, ""}, {token, "-1"}, {token, "1000000"}} {
		if status, _ := call(t, app.at.Application, wrong[0], wrong[1]); status != http.StatusUnauthorized {
			t.Errorf("%q: %d", wrong, status)
		}
	}
	want := report{Requests: 8, Refused: 4, Users: 3}
	if got, err := app.report(t.Context()); err != nil || got != want {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
}

func TestTargetAnswersNobodyWhileItStandsStill(t *testing.T) {
	goal, app := running(t)
	goal.mu.Lock()
	var over atomic.Bool
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		if status, _ := call(t, app.at.Application, token, "1"); status != http.StatusOK || !over.Load() {
			t.Errorf("status %d, the stall is over: %v", status, over.Load())
		}
	}()
	patience.Until(t, "the request is there", func() bool { return goal.requests.Load() > 0 })
	time.Sleep(50 * time.Millisecond) // for an answer that comes too early
	over.Store(true)
	goal.mu.Unlock()
	<-answered
	if err := app.stall(t.Context(), time.Millisecond); err != nil {
		t.Error(err)
	}
	if status, _ := call(t, app.at.Application, token, "1"); status != http.StatusOK {
		t.Errorf("status %d after a stall", status)
	}
}

// In a simulation of what is due every 10 ms, the same waits come out.
func TestHeldIsWhatWhoIsDueWaits(t *testing.T) {
	const every = time.Second / stallRate
	var waits []time.Duration // descending: the first of the stall waits longest
	for due := time.Duration(0); due < stallLasting; due += every {
		if in := due - stallAfter; in >= 0 && in < stallFor {
			waits = append(waits, stallFor-in)
		}
	}
	all := int(stallLasting / every)
	for _, share := range []float64{0.5, 0.9, 0.95, 0.99} {
		var want time.Duration
		if above := int(float64(all)*(1-share) + 0.5); above < len(waits) {
			want = waits[above]
		}
		if got := waitAtShare(share); got < want-every || got > want+every {
			t.Errorf("%v: %v, want %v", share, got, want)
		}
	}
}

func TestPlanAndChoice(t *testing.T) {
	all, err := plan([]string{stalled, thinking, busy}, []int{7, 8})
	want := []work{{stalled, 10}, {stalled, 400}, {thinking, 7}, {thinking, 8}, {busy, busyUsers}}
	if diff := cmp.Diff(want, all); err != nil || diff != "" {
		t.Error(err, diff)
	}
	for name, do := range map[string]func() error{
		"Work":  func() error { _, err := plan([]string{"sleep"}, nil); return err },
		"Users": func() error { _, err := numbers("10,x"); return err },
		"None":  func() error { _, err := numbers("0"); return err },
		"Only":  func() error { _, err := choose("k6,jmeter"); return err },
	} {
		if err := do(); err == nil {
			t.Errorf("%s: nothing is said", name)
		}
	}
	if one, err := choose("locust"); err != nil || len(one) != 1 || one[0].Name != "locust" {
		t.Errorf("%v, %v", one, err)
	}
}

func TestTablesOfKeptTrials(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trials")
	users := func(name string, n int, cores, resident float64) trial {
		return trial{Generator: name, Work: work{thinking, n}, Rate: float64(n) / 10, Cores: cores, Resident: resident}
	}
	for _, one := range []trial{
		users("plimsoll", 100, 0.01, 50e6), users("k6", 100, 0.02, 100e6), users("k6", 100, 0.04, 120e6),
		users("plimsoll", 1100, 0.1, 60e6), users("k6", 1100, 0.4, 310e6),
		{Generator: "locust", Work: work{thinking, 1100}, Wrong: "it took more than 8 GB"},
		{Generator: "plimsoll", Work: work{stalled, 10}, Own: peers.Report{P50: 1, P95: 1001, P99: 1802, Max: 2003}},
		{Generator: "k6", Work: work{stalled, 10}, Own: peers.Report{P50: 1, P95: 2, P99: 3, Max: 2001, Dropped: 190}},
	} {
		if err := keep(path, one); err != nil {
			t.Fatal(err)
		}
	}
	all, err := readTrials(path)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := tables(&text, all); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| 100 | plimsoll | 1 | 100 | 1000 | 500 | 50.0 |",
		"| 100 | k6 | 2 | 300 (200 to 400), ×2.83 (2 to 4) | 3000 (2000 to 4000), ×2.83 (2 to 4) | 1100 (1000 to " +
			"1200), ×2.19 (2 to 2.4) |",
		"| plimsoll | 100 | 1100 | 10.0 |", "| k6 | 100 | 1100 | 200 |",
		"| 10 | *who was due waited* | | 0 | 1000 | 1800 | 2000 | 0 |",
		"| 10 | plimsoll | 1 | 1.00 | 1001 | 1802 | 2003 | 0 |", "| 10 | k6 | 1 | 1.00 | 2.00 | 3.00 | 2001 | 190 |",
		"No figures: locust, think, 1100 users: it took more than 8 GB",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%s is not in\n%s", want, text.String())
		}
	}
	if _, err := readTrials(filepath.Join(t.TempDir(), "none")); err != nil {
		t.Error(err)
	}
}

func TestNumber(t *testing.T) {
	for x, want := range map[float64]string{0: "0", 0.01234: "0.0123", 1: "1.00", 12.345: "12.3", 123.4: "123",
		12345: "12345"} {
		if got := number(x); got != want {
			t.Errorf("%v is %s, want %s", x, got, want)
		}
	}
}
