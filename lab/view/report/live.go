package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"plimsoll/ground/human"
	"plimsoll/lab/load/apdex"
	"plimsoll/lab/run/live"
)

// Screen is the size and the abilities of a live view.
type Screen struct {
	Width  int
	Height int // lines; 0: as many as there are
	Colour bool
}

const (
	barCells   = 12
	titleCells = 24
	// titleCellsMin of a narrow screen, on which the other columns take restCells.
	titleCellsMin = 8
	restCells     = 30
	narrowWidth   = 64 // below it a table has no bars and no targets
	fewestOps     = 3  // operations shown on the smallest screen
	// fewestEntries of the log are shown before operations get more room.
	fewestEntries = 2
)

// Live is a run under way as lines for a terminal, none wider than the screen.
func Live(g live.Snapshot, s Screen) []string {
	v := &screenful{Screen: s}
	if g.Last != nil {
		v.items(statusLines(g)...)
		v.items(system(g)...)
		v.line("", waitsOf(g))
		v.operations(g)
	}
	for _, e := range v.latest(g.Log) {
		v.line(tones[e.Tone], entryTime(e)+"  "+e.Text)
	}
	return v.lines
}

// latest entries that fit.
func (v *screenful) latest(log []live.Entry) []live.Entry {
	if v.Height == 0 {
		return log
	}
	room := max(0, v.Height-len(v.lines))
	return log[max(0, len(log)-room):]
}

// tones of the log, as terminal colours.
var tones = map[live.Tone]string{live.Alarm: "31", live.ByUser: "36"}

// bandTones: a good score needs no colour.
var bandTones = map[apdex.Band]string{apdex.Fair: "33", apdex.Poor: "31", apdex.Unacceptable: "1;31"}

// screenful is lines being written.
type screenful struct {
	Screen
	lines []string
}

// line is cut at the edge of the screen.
func (v *screenful) line(tone, text string) {
	if text == "" {
		return
	}
	text = human.PlainLine(text) // what a server says must not steer the terminal
	if utf8.RuneCountInString(text) > v.Width {
		text = string([]rune(text)[:max(0, v.Width-1)]) + "…"
	}
	if v.Colour && tone != "" {
		text = "\x1b[" + tone + "m" + text + "\x1b[0m"
	}
	v.lines = append(v.lines, text)
}

// items are put on one line as far as they fit, then on the next.
func (v *screenful) items(all ...string) {
	row := ""
	for _, item := range all {
		if row != "" && utf8.RuneCountInString(row)+3+utf8.RuneCountInString(item) > v.Width {
			v.line("", row)
			row = ""
		}
		if row != "" {
			row += "   "
		}
		row += item
	}
	v.line("", row)
}

func statusLines(g live.Snapshot) []string {
	all := []string{fmt.Sprintf("users %s of %s", human.Thousands(g.Last.Users), human.Thousands(g.State.Wanted))}
	if g.State.Paused {
		all = append(all, "PAUSED")
	}
	if g.State.LoadEnded() {
		return append(all, "the load has ended", "Apdex steady "+score(g.State.Apdex),
			fmt.Sprintf("failed %s", human.Thousands(g.State.Failed)))
	}
	minute := merged(g.Zones)
	all = append(all, fmt.Sprintf("%.1f ops/s", g.Ops), "Apdex "+zonesScore(minute)+" last minute",
		"steady "+score(g.State.Apdex),
		"95 % "+millis(g.P95)+" ms", fmt.Sprintf("failed %s", human.Thousands(g.State.Failed)),
		fmt.Sprintf("lag %s ms", millis(&g.Last.Lag)))
	if g.Last.Backlog > 0 {
		all = append(all, fmt.Sprintf("%s waiting for a slot", human.Thousands(g.Last.Backlog)))
	}
	return all
}

func merged(all []live.Zones) (sum apdex.Counts) {
	for _, z := range all {
		sum.Add(z.Counts())
	}
	return sum
}

func zonesScore(c apdex.Counts) string {
	if s, ok := c.Score(); ok {
		return score(&s)
	}
	return unknown
}

func system(g live.Snapshot) []string {
	c := g.Last.CPU
	all := []string{"CPU: database " + percent(c.Database), "workers " + percent(c.Workers),
		"generator " + percent(c.Generator), "machine " + percent(c.Machine)}
	if d := g.Last.Database; d != nil && d.WALBytes != nil {
		all = append(all, fmt.Sprintf("WAL %.1f MB/s", *d.WALBytes/1e6))
	}
	if w := g.Last.Workers; w != nil {
		all = append(all, fmt.Sprintf("%.0f temp tables/s", w.TempTables))
	}
	return all
}

func waitsOf(g live.Snapshot) string {
	d := g.Last.Database
	if d == nil {
		return "database: not watched"
	}
	text := fmt.Sprintf("database: %.1f sessions active, %.1f of them running", d.Active(), d.Classes[0])
	for _, w := range g.Waits {
		text += fmt.Sprintf("; %s %s %.1f", w.Type, w.Event, w.Sessions)
	}
	return text
}

// operations as a table; on a small screen, the worst of them.
func (v *screenful) operations(g live.Snapshot) {
	wide := v.Width >= narrowWidth
	head := fmt.Sprintf("%-*s %7s  %6s  %s", v.titleCells(), "last minute", "count", "Apdex", "band")
	if wide {
		head = fmt.Sprintf("%-*s %7s  %7s  %6s  %-*s  %s", titleCells, "key operation", "T ms", "count", "Apdex",
			barCells, "last minute", "band")
	}
	v.line("2", head)
	shown, left := v.choose(g)
	for _, i := range shown {
		v.operation(g.Plan.Operations[i], g.Zones[i].Counts(), wide)
	}
	if left > 0 {
		v.line("2", fmt.Sprintf("… and %d better ones", left))
	}
}

// choose picks the operations that fit, in their order.
func (v *screenful) choose(g live.Snapshot) (shown []int, left int) {
	for i := range g.Plan.Operations {
		shown = append(shown, i)
	}
	room := v.Height - len(v.lines) - min(len(g.Log), fewestEntries) - 1
	if v.Height == 0 || len(shown) <= room {
		return shown, 0
	}
	all := len(shown)
	slices.SortStableFunc(shown, func(a, b int) int {
		return cmp.Compare(missingScore(g.Zones[b]),
			missingScore(g.Zones[a]))
	})
	shown = shown[:min(all, max(fewestOps, room-1))]
	slices.Sort(shown)
	return shown, all - len(shown)
}

// titleCells leaves room for the other columns of a narrow line.
func (v *screenful) titleCells() int {
	if v.Width >= narrowWidth {
		return titleCells
	}
	return min(titleCells, max(titleCellsMin, v.Width-restCells))
}

// missingScore is what the score lacks to 1; 0 without a score.
func missingScore(z live.Zones) float64 {
	s, ok := z.Counts().Score()
	if !ok {
		return -1
	}
	return 1 - s
}

func (v *screenful) operation(op live.Operation, c apdex.Counts, wide bool) {
	band, gauge := apdex.NoSample, ""
	if s, ok := c.Score(); ok {
		band = apdex.BandOf(s)
		full := int(s*barCells + 0.5)
		gauge = strings.Repeat("#", full) + strings.Repeat(".", barCells-full)
	}
	title := op.ID
	if cells := v.titleCells(); utf8.RuneCountInString(title) > cells {
		title = string([]rune(title)[:cells-1]) + "…"
	}
	text := fmt.Sprintf("%-*s %7s  %6s  %s", v.titleCells(), title, human.Thousands(c.N()), zonesScore(c), band)
	if wide {
		text = fmt.Sprintf("%-*s %7s  %7s  %6s  %-*s  %s", titleCells, title, millis(&op.TargetMS),
			human.Thousands(c.N()), zonesScore(c), barCells, gauge, band)
	}
	v.line(bandTones[band], text)
}

// entryTime is when something happened: time in the run, or wall-clock time before it.
func entryTime(e live.Entry) string {
	if e.AtS == nil {
		return e.Time.Local().Format("15:04:05")
	}
	return fmt.Sprintf("%7.0f s", *e.AtS)
}
