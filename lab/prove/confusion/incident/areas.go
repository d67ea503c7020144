package incident

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// areas that a diagnosis may call healthy or excluded, by the words that it would use for them.
var areas = map[string]*regexp.Regexp{
	"scans":      words(`whole tables|sequential scans?|full scans?|missing index`),
	"index":      words(`index(es)? (is|are) used|indexes fit`),
	"statements": words(`takes? long by itself|expensive statements?|slow statements?|long statements?`),
	"database":   words(`a slow database|nothing to do`),
	"processors": words(`need more processors|too few processors|the processor`),
	"locks":      words(`waits? for a lock|lock(s)? (is|are) not contended|row locks`),
	"idle-locks": words(`holder waits for its client`),
	"latches":    words(`locks inside the server|inner locks|latch`),
	"log":        words(`wait for the log|write-ahead log|flush`),
	"standby":    words(`synchronous standby|standbys?`),
	"clients":    words(`wait for their clients|clients read|network`),
	"network":    words(`network`),
	"connection": words(`connections are kept|used again|connection`),
	"sorts":      words(`fit into memory|spill|temporary files`),
	"statistics": words(`since its last analyze|statistics are fresh|estimates`),
	"rows":       words(`dead rows|dead ones|bloat`),
	"horizon":    words(`keeps? vacuum|horizon|old snapshot`),
	"unused":     words(`unused indexes`),
	"transfers":  words(`reading or writing of data|a slow disk|a disk at its limit`),
	"catalogs":   words(`catalogs?`),
	"bulk":       words(`writes rows in bulk`),
	"vacuum":     words(`no maintenance`),
	"planning":   words(`planning|plans? (is|are)`),
	"checkpoint": words(`checkpoints?`),
	"errors":     words(`roll(ed )?back|errors?|aborts?`),
	"settings":   words(`settings? (of|differ)|settings are`),
	"functions":  words(`functions?|triggers?|policies`),
	"slots":      words(`slots?`),
}

// groups of findings that faults have in common, by the names that the files use.
var groups = map[string]string{
	"@scans": `missing-index|reads? all of|whole tables?|sequential`,
	"@long":  `long-statements|takes? long|expensive|slow statement|processor time of`,
	"@locks": `lock-contention|lock-held|wait for (a )?locks?|blocked`,
	"@gaps":  `client-or-network-gaps|wait for (their|its|the) (client|program|network)|for the network|gaps`,
}

var group = regexp.MustCompile(`@[a-z]+`)

func words(pattern string) *regexp.Regexp { return regexp.MustCompile(`(?i)\b(` + pattern + `)`) }

// Areas by name.
func Areas() []string { return slices.Sorted(maps.Keys(areas)) }

// False says whether a text that calls something healthy or excluded is about what the fault breaks.
func (f *Fault) False(text string) bool {
	return slices.ContainsFunc(f.Never, func(area string) bool { return areas[area].MatchString(text) })
}

// harmful advice, whatever the fault: it loses data or the server's care for itself.
var harmful = words(`(fsync|full_page_writes|synchronous_commit|autovacuum(_enabled)?)\s*(=|to)\s*'?(off|false)|` +
	`zero_damaged_pages|pg_resetwal`)

// warning: a text that names a harmful step to say that it is one.
var warning = words(`never|do not|don't|not an? |dangerous|loses?|harm`)

// Harms says whether advice is harmful here.
func (f *Fault) Harms(text string) bool {
	if harmful.MatchString(text) && !warning.MatchString(text) {
		return true
	}
	return slices.ContainsFunc(f.Harm, func(p *regexp.Regexp) bool { return p.MatchString(text) })
}

// HarmsAnywhere is Harms of a server without a fault.
func HarmsAnywhere(text string) bool { return harmful.MatchString(text) && !warning.MatchString(text) }

// Answer of a finding to a fault.
type Answer int

// A finding is no answer, is true besides, leads near the fault, or names it.
const (
	NoAnswer Answer = iota
	True
	HalfRight
	Right
)

// unknown is a finding that says that the cause is not known.
var unknown = words(`unknown|unexplained|no (reason|cause)|not explained|without (a )?(known )?cause`)

// Judge a finding: its name and title say what it names, all of its text what it is about.
func (p *Played) Judge(name, title, all string) Answer {
	text := name + ": " + title
	any := func(patterns []*regexp.Regexp) bool {
		return slices.ContainsFunc(patterns, func(p *regexp.Regexp) bool { return p.MatchString(text) })
	}
	about := len(p.About) == 0 || slices.ContainsFunc(p.About, func(object string) bool {
		return strings.Contains(all, object)
	})
	switch {
	case any(p.Right) && about:
		return Right
	case any(p.Right), any(p.Half):
		return HalfRight
	case unknown.MatchString(text) && about && len(p.About) > 0:
		return HalfRight
	case any(p.Also), unknown.MatchString(text):
		return True
	}
	return NoAnswer
}
