package progress_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"plimsoll/cmd/plimsoll/progress"
)

type clock struct{ t time.Time }

func (c *clock) now() time.Time       { return c.t }
func (c *clock) pass(d time.Duration) { c.t = c.t.Add(d) }
func newClock() *clock                { return &clock{time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)} }
func visible(s string) []string       { return strings.Split(strings.ReplaceAll(s, "\r\x1b[K", "\n"), "\n") }
func last(ss []string) string         { return ss[len(ss)-1] }

func TestMeter_WritesAPlainLineEveryFewSeconds(t *testing.T) {
	var out bytes.Buffer
	c := newClock()
	m := progress.New(&out, progress.Options{Now: c.now})
	m.Phase("fill", 40000, "rows")
	for range 12 {
		c.pass(time.Second)
		m.Update(float64(c.now().Second())*2000, "goods sale")
	}
	m.End()
	want := "fill: 25%, about 15s left, 10,000 rows, 2,000/s, goods sale\n" +
		"fill: 50%, about 10s left, 20,000 rows, 2,000/s, goods sale\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

func TestMeter_RedrawsOneLineOnATerminal(t *testing.T) {
	var out bytes.Buffer
	c := newClock()
	m := progress.New(&out, progress.Options{Terminal: true, Now: c.now, Width: 60})
	m.Phase("run", 60, "")
	c.pass(30 * time.Second)
	m.Update(30, "Apdex 0.91")
	if got, want := last(visible(out.String())), "run: [############............]  50%, about 30s left, Apdex"; got != want {
		t.Errorf("shows %q, want %q", got, want)
	}
	m.Say("worker %d restarted", 2)
	m.End()
	if strings.Count(out.String(), "\n") != 1 {
		t.Errorf("only what is said may end a line: %q", out.String())
	}
	if !strings.HasSuffix(out.String(), "\r\x1b[K") {
		t.Errorf("a half-drawn line is left: %q", out.String())
	}
}

func TestMeter_DoesNotRedrawTooOften(t *testing.T) {
	var out bytes.Buffer
	c := newClock()
	m := progress.New(&out, progress.Options{Terminal: true, Now: c.now})
	m.Phase("run", 100, "ops")
	before := out.Len()
	for i := range 99 {
		c.pass(time.Millisecond)
		m.Update(float64(i), "")
	}
	if out.Len() != before {
		t.Errorf("redrew within a tenth of a second: %q", out.String()[before:])
	}
}

func TestMeter_QuietWritesNothing(t *testing.T) {
	var out bytes.Buffer
	c := newClock()
	m := progress.New(&out, progress.Options{Quiet: true, Terminal: true, Now: c.now})
	m.Phase("run", 60, "")
	c.pass(time.Minute)
	m.Update(60, "")
	m.Say("done")
	m.End()
	if out.Len() != 0 {
		t.Errorf("wrote %q", out.String())
	}
}

func TestMeter_GivesNoEstimateWithoutATotalOrAPace(t *testing.T) {
	var out bytes.Buffer
	c := newClock()
	m := progress.New(&out, progress.Options{Now: c.now})
	m.Phase("wait", 0, "")
	c.pass(65 * time.Second)
	m.Update(0, "")
	m.Phase("fill", 10000, "rows")
	c.pass(6 * time.Second)
	m.Update(10, "")
	want := "wait: 1m05s\nfill: 0%, 10 rows, 2/s\n"
	if out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}
