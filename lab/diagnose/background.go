package diagnose

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/waits"
)

// Background is one kind of the server's own processes: no client waits for an answer from them, but they use
// processors and disks, and some hold locks.
type Background struct {
	Kind string `json:"kind"`
	// AtWork is how many of them were at work, on average of the looks, which are made as often as the machine is read.
	AtWork float64 `json:"at_work"`
	// Cores that they use; null: not visible.
	Cores *float64 `json:"cores"`
	// Waits are the shares of their time at work.
	Waits []Part `json:"waits"`
	// Does is what they do, as far as the server says it: what autovacuum works on.
	Does []Part `json:"does,omitempty"`
}

// background is what was seen of the server's own processes. Its size does not grow with time.
type background struct {
	looks int
	kinds map[string]*atWork
	now   map[int]waits.Process
	// checkpointing: the checkpointer was at work at the last look.
	checkpointing bool
}

type atWork struct {
	n           float64
	waits, does amounts
}

const (
	kindAutovacuum   = "autovacuum worker"
	kindCheckpointer = "checkpointer"
	kindSender       = "walsender"
	kindParallel     = "parallel worker"
)

// take a look at them. Parallel workers serve a session, and count with its statement.
func (b *background) take(all []waits.Process) {
	if b.kinds == nil {
		b.kinds = map[string]*atWork{}
	}
	b.looks++
	b.now = map[int]waits.Process{}
	b.checkpointing = false
	for _, p := range all {
		b.now[p.PID] = p
		if p.Idle() || p.Kind == kindParallel || len(b.kinds) >= namesMost && b.kinds[p.Kind] == nil {
			continue
		}
		one := b.kinds[p.Kind]
		if one == nil {
			one = &atWork{waits: amounts{}, does: amounts{}}
			b.kinds[p.Kind] = one
		}
		b.checkpointing = b.checkpointing || p.Kind == kindCheckpointer
		one.n++
		one.waits.add(p.Wait().String(), 1)
		if p.Query != "" {
			one.does.add(normalizedText(p.Query), 1)
		}
	}
}

// list of the kinds that were at work, or that use processors: those that used most first.
func (b *background) list(h *Host) []Background {
	all := []Background{}
	for _, kind := range slices.Sorted(maps.Keys(b.kinds)) {
		one := b.kinds[kind]
		all = append(all, Background{Kind: kind, AtWork: one.n / float64(max(1, b.looks)),
			Waits: parts(one.waits, partsKept), Does: parts(one.does, partsKept), Cores: h.coresOf(kind)})
	}
	slices.SortStableFunc(all, func(a, b Background) int {
		return compareDown(valueOr(a.Cores, 0)+a.AtWork/1000, valueOr(b.Cores, 0)+b.AtWork/1000, a.Kind, b.Kind)
	})
	return all
}

func valueOr(x *float64, otherwise float64) float64 {
	if x == nil {
		return otherwise
	}
	return *x
}

// of a kind; nil: none was at work.
func (m *measured) backgroundOf(kind string) *Background {
	for i := range m.background {
		if m.background[i].Kind == kind {
			return &m.background[i]
		}
	}
	return nil
}

// says what processes of a kind did.
func (b *Background) says() []string {
	lines := []string{fmt.Sprintf("%s: %.2f at work on average, %s", b.Kind, b.AtWork,
		human.Known(b.Cores, "processor time not visible", func(x float64) string {
			return fmt.Sprintf("%.2f cores used", x)
		}))}
	var texts []string
	for _, p := range b.Waits[:min(3, len(b.Waits))] {
		texts = append(texts, fmt.Sprintf("%s %s", p.Name, human.Percent(p.Share)))
	}
	if len(texts) > 0 {
		lines = append(lines, "they wait for: "+strings.Join(texts, ", "))
	}
	for _, p := range b.Does[:min(2, len(b.Does))] {
		lines = append(lines, fmt.Sprintf("%s of their time: %s", human.Percent(p.Share), p.Name))
	}
	return lines
}
