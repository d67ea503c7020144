package progress_test

import (
	"bytes"
	"fmt"
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

func TestMeter_TellsAProgramAtOnceAndEverySecond(t *testing.T) {
	var told []progress.Step
	c := newClock()
	m := progress.New(nil, progress.Options{Now: c.now, Watch: func(s progress.Step) { told = append(told, s) }})
	m.Phase("run", 10, "")
	m.Say("a cluster is made")
	for range 4 {
		c.pass(time.Second / 2)
		m.UpdateLeft(float64(len(told)), 8*time.Second, "steady")
	}
	m.End()
	want := []progress.Step{{Text: "run: 0%"}, {Text: "a cluster is made"},
		{Text: "run: 20%, about 8s left, steady", Left: 8 * time.Second},
		{Text: "run: 30%, about 8s left, steady", Left: 8 * time.Second}}
	if fmt.Sprint(told) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", told, want)
	}
}

func TestMeter_ShortPhasesTogetherShowALine(t *testing.T) {
	var out bytes.Buffer
	c := newClock()
	m := progress.New(&out, progress.Options{Now: c.now})
	for n := range 6 {
		m.Phase(fmt.Sprint("part ", n), 2, "tables")
		c.pass(time.Second)
		m.Update(1, "")
	}
	m.End()
	if want := "part 4: 50%, about 1s left, 1 tables, 1/s\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

func TestMeter_RedrawsOneLineOnATerminal(t *testing.T) {
	var out bytes.Buffer
	c := newClock()
	m := progress.New(&out, progress.Options{Terminal: true, Now: c.now, Width: 60})
	m.Phase("run", 60, "")
	c.pass(30 * time.Second)
	m.Update(30, "Apdex 0.91")
	if got, want := last(visible(out.String())),
		"run: [############............]  50%, about 30s left, Apdex"; got != want {
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

func TestMeter_RedrawsTheLinesBelowInPlace(t *testing.T) {
	var out bytes.Buffer
	c := newClock()
	height := 10
	m := progress.New(&out, progress.Options{Terminal: true, Now: c.now, Size: func() (int, int) { return 30, height }})
	m.Phase("run", 60, "")
	n := 0
	m.Below(func(width, height int) []string {
		n++
		lines := []string{fmt.Sprintf("look %d, %d wide", n, width)}
		for i := range 20 {
			lines = append(lines, fmt.Sprint("operation ", i))
		}
		return lines[:min(len(lines), 3)]
	})
	draw := func() string {
		before := out.Len()
		c.pass(time.Second)
		m.Update(30, "")
		return out.String()[before:]
	}
	if got := draw(); strings.Count(got, "\r\n") != 3 ||
		!strings.Contains(got, "\r\nlook 1, 29 wide\r\noperation 0\r\noperation 1") {
		t.Errorf("shows %q", got)
	}
	if got := draw(); !strings.HasPrefix(got, "\r\x1b[3A\x1b[J") || !strings.Contains(got, "look 2") {
		t.Errorf("redraws with %q", got)
	}
	height = 2
	if got := draw(); strings.Count(got, "\r\n") != 1 {
		t.Errorf("on a screen of two lines: %q", got)
	}
	m.End()
	if !strings.HasSuffix(out.String(), "\r\x1b[1A\x1b[J") {
		t.Errorf("lines are left: %q", out.String())
	}
	m.Phase("next", 1, "")
	draw()
	if strings.Count(out.String(), "look") != 3 {
		t.Error("the lines below outlive their phase")
	}
}

func TestMeter_WritesTheLinesBelowOneUnderTheOtherWhereThereIsNoTerminal(t *testing.T) {
	var out bytes.Buffer
	c := newClock()
	m := progress.New(&out, progress.Options{Now: c.now})
	m.Phase("run", 60, "")
	m.Below(func(int, int) []string { return []string{"users 5", "Apdex 1"} })
	c.pass(6 * time.Second)
	m.Update(6, "steady")
	m.End()
	if want := "run: 10%, about 54s left, steady\nusers 5\nApdex 1\n\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}
