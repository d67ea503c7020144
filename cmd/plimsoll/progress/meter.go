// Package progress owns how a long job shows how far it is: one line with a bar,
// rate and time left that redraws itself on a terminal, a plain line every few
// seconds elsewhere, nothing when quiet.
//
//	Phase ──Update*──▶ Phase ──Update*──▶ End      Say at any time
package progress

import (
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"plimsoll/ground/human"
)

const (
	redrawEvery = 100 * time.Millisecond // on a terminal
	plainEvery  = 5 * time.Second        // elsewhere
	watchEvery  = time.Second            // by a program
)

// Options say what kind of reader there is.
type Options struct {
	Quiet    bool
	Terminal bool                       // redraw one line instead of writing many
	Width    int                        // of the terminal; 0 means 80
	Height   int                        // of the terminal; 0 means not known
	Size     func() (width, height int) // now; nil: as it was
	Now      func() time.Time           // defaults to time.Now
	// Watch is told instead of a reader, when a phase begins and every second; nil: w is written to. It must not wait.
	Watch func(Step)
}

// Step is what a reader would have read: a line, and how long the phase will still take; 0: not known.
type Step struct {
	Text string
	Left time.Duration
}

// Detect tells from w whether a terminal reads it, and how wide it is.
func Detect(w io.Writer) Options {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" {
		return Options{}
	}
	size := func() (int, int) {
		width, height, _ := term.GetSize(int(f.Fd()))
		return width, height
	}
	width, height := size()
	return Options{Terminal: true, Width: width, Height: height, Size: size}
}

// Meter is safe for concurrent use.
type Meter struct {
	mu    sync.Mutex
	w     io.Writer
	o     Options
	phase phase
	next  time.Time // when the next line is due; short phases one after the other show one, too
	drawn int       // lines that stand on a terminal and will be drawn over
	below func(width, height int) []string
}

type phase struct {
	name, unit, note string
	done, total      float64
	left             time.Duration // as told; 0 is reckoned from the pace
	began            time.Time
}

// New writes to w.
func New(w io.Writer, o Options) *Meter {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Width <= 0 {
		o.Width = 80
	}
	return &Meter{w: w, o: o}
}

// Phase begins a stretch of work, which ends the one before. total is how much
// there is in units, or 0 if that is unknown; the unit "" counts time, of which no rate is shown.
func (m *Meter) Phase(name string, total float64, unit string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.close()
	now := m.o.Now()
	m.phase = phase{name: name, total: total, unit: unit, began: now}
	atOnce := m.o.Terminal || m.o.Watch != nil
	if atOnce || m.next.IsZero() {
		m.next = now.Add(m.every())
	}
	if atOnce {
		m.draw(now)
	}
}

// Update says how much of the phase is done; note is a word on how it goes.
func (m *Meter) Update(done float64, note string) { m.UpdateLeft(done, 0, note) }

// UpdateLeft is Update for work that knows better than the pace so far how long it will take.
func (m *Meter) UpdateLeft(done float64, left time.Duration, note string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.phase.name == "" {
		return
	}
	m.phase.done, m.phase.left, m.phase.note = done, left, note
	if now := m.o.Now(); !now.Before(m.next) {
		m.next = now.Add(m.every())
		m.draw(now)
	}
}

// Grow changes the phase's total, for work that is found on the way.
func (m *Meter) Grow(total float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.phase.total = total
}

// Redraws is true where a terminal reads.
func (m *Meter) Redraws() bool { return m.o.Terminal }

// Below shows more lines under the phase's own until it ends: redrawn in place on a
// terminal, written one under the other elsewhere. None may be wider than width; height
// is what a terminal has left, 0 where there is no end. They are written as they are: only they may hold colours.
func (m *Meter) Below(lines func(width, height int) []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.below = lines
}

// Say writes a line that stays.
func (m *Meter) Say(format string, args ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.o.Quiet {
		return
	}
	text := human.Plain(fmt.Sprintf(format, args...))
	if m.o.Watch != nil {
		m.o.Watch(Step{Text: text})
		return
	}
	m.wipe()
	fmt.Fprintln(m.w, text)
	if m.o.Terminal && m.phase.name != "" {
		m.draw(m.o.Now())
	}
}

// End closes the last phase; a terminal is left without a half-drawn line.
func (m *Meter) End() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.close()
}

func (m *Meter) close() {
	m.wipe()
	m.phase, m.below = phase{}, nil
}

func (m *Meter) every() time.Duration {
	switch {
	case m.o.Watch != nil:
		return watchEvery
	case m.o.Terminal:
		return redrawEvery
	}
	return plainEvery
}

func (m *Meter) wipe() {
	if m.drawn > 1 {
		fmt.Fprintf(m.w, "\r\x1b[%dA\x1b[J", m.drawn-1) // up to the first, and all from there
	} else if m.drawn == 1 {
		fmt.Fprint(m.w, "\r\x1b[K")
	}
	m.drawn = 0
}

func (m *Meter) draw(now time.Time) {
	if m.o.Quiet {
		return
	}
	line := human.PlainLine(m.phase.line(now, m.o.Terminal))
	if m.o.Watch != nil {
		left, _ := m.phase.remaining(now)
		m.o.Watch(Step{line, left})
		return
	}
	if !m.o.Terminal {
		lines := []string{line}
		if m.below != nil {
			lines = append(append(lines, m.below(m.o.Width, 0)...), "")
		}
		fmt.Fprintln(m.w, strings.Join(lines, "\n"))
		return
	}
	m.wipe()
	m.resize()
	if r := []rune(line); len(r) > m.o.Width-1 {
		line = string(r[:m.o.Width-1])
	}
	lines := []string{line}
	if m.below != nil {
		lines = append(lines, m.below(m.o.Width-1, max(0, m.o.Height-1))...)
		if m.o.Height > 0 { // what has scrolled away cannot be drawn over
			lines = lines[:min(len(lines), m.o.Height)]
		}
	}
	fmt.Fprint(m.w, strings.Join(lines, "\r\n"))
	m.drawn = len(lines)
}

// resize follows the terminal.
func (m *Meter) resize() {
	if m.o.Size == nil {
		return
	}
	if width, height := m.o.Size(); width > 0 {
		m.o.Width, m.o.Height = width, height
	}
}

// line is the phase in words, most important first, because a narrow terminal cuts the end.
func (p *phase) line(now time.Time, withBar bool) string {
	elapsed := now.Sub(p.began)
	parts := []string{}
	switch {
	case p.total <= 0:
		parts = append(parts, human.Elapsed(elapsed))
	case withBar:
		parts = append(parts, fmt.Sprintf("%s %3.0f%%", bar(p.done/p.total), 100*p.done/p.total))
	default:
		parts = append(parts, fmt.Sprintf("%.0f%%", 100*p.done/p.total))
	}
	if d, known := p.remaining(now); known {
		parts = append(parts, "about "+human.Elapsed(d)+" left")
	}
	if p.unit != "" && p.done > 0 {
		parts = append(parts, human.Thousands(int64(math.Round(p.done)))+" "+p.unit)
		if s := elapsed.Seconds(); s >= 1 {
			parts = append(parts, human.Thousands(int64(math.Round(p.done/s)))+"/s")
		}
	}
	if p.note != "" {
		parts = append(parts, p.note)
	}
	return p.name + ": " + strings.Join(parts, ", ")
}

// remaining is how long the phase will still take, as told or at the pace so far.
func (p *phase) remaining(now time.Time) (d time.Duration, known bool) {
	if p.left > 0 {
		return p.left, true
	}
	return left(now.Sub(p.began), p.done, p.total)
}
