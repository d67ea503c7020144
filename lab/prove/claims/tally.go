package claims

import "fmt"

// Tally counts claims by their verdicts. A stale finding counts for none: what it says was said of another machine,
// engine or version, or by rules whose words meant something else.
type Tally struct {
	counts map[Verdict]int
	stale  int
}

// Add a claim's verdict; stale as Record.Elsewhere says.
func (t *Tally) Add(v Verdict, stale bool) {
	if stale {
		t.stale++
		return
	}
	if t.counts == nil {
		t.counts = map[Verdict]int{}
	}
	t.counts[v]++
}

// Stale is how many findings are.
func (t *Tally) Stale() int { return t.stale }

// Texts of all verdicts, the best first: "7 confirmed"; stale ones last, if there are any.
func (t *Tally) Texts() (all []string) {
	for _, v := range Verdicts {
		all = append(all, fmt.Sprintf("%d %s", t.counts[v], v))
	}
	if t.stale > 0 {
		all = append(all, fmt.Sprintf("%d stale", t.stale))
	}
	return all
}
