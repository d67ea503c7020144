package diagnose

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/ground/postgres/waits"
)

// Story is one cause of blocking: who held a lock, what it did meanwhile, and who lost how much time.
type Story struct {
	Object string `json:"object"`
	Root   Root   `json:"root"`
	// LostS is the time of all victims, scaled to the ledger's time in lock waits.
	LostS   float64 `json:"lost_s"`
	Share   float64 `json:"share"` // of the time of all sessions
	Victims int     `json:"victims_most"`
	LongS   float64 `json:"longest_s"`
	// FromS and ToS are when it was seen first and last, since the beginning.
	FromS float64 `json:"from_s"`
	ToS   float64 `json:"to_s"`
	// Statements of the victims, those that lost most first.
	Statements []Part `json:"statements"`
	// Tree at the moment with the most victims.
	Tree []string `json:"tree"`
}

// Root of a tree of blocked sessions; it waits for no lock itself.
type Root struct {
	Application string  `json:"application"`
	Does        string  `json:"does"`
	Statement   string  `json:"statement"` // of an idle transaction, its last one
	Client      bool    `json:"waits_for_its_client"`
	LongXactS   float64 `json:"longest_transaction_s"`
	LongGapS    float64 `json:"longest_gap_s"` // of those who wait for their client
	// Prepared is set where no session holds the lock but a prepared transaction.
	Prepared *Prepared `json:"prepared,omitempty"`
	// Process is the kind of a process of the server that holds it and serves no client.
	Process string `json:"process,omitempty"`
	class   waits.Class
}

// story while it is collected.
type story struct {
	Story
	weight     float64 // victims times time, as the lock looks saw it
	statements amounts
}

// takeLocks tells who blocked whom: all victims, or some.
func (b *book) takeLocks(l lockLook, some func(pid int) bool) {
	b.lockLooks++
	blocked := map[int]waits.Blocked{}
	for _, one := range l.blocked {
		blocked[one.PID] = one
	}
	victims := map[root][]waits.Blocked{}
	for _, one := range l.blocked {
		if some != nil && !some(one.PID) {
			continue
		}
		at := rootOf(one, blocked)
		victims[at] = append(victims[at], one)
	}
	victimsNow := map[*story]int{}
	for at, all := range victims {
		slices.SortFunc(all, func(a, b waits.Blocked) int { return int(b.For - a.For) })
		b.addStory(at, all, l, victimsNow)
	}
	for s, n := range victimsNow {
		s.Victims = max(s.Victims, n)
	}
}

// rootOf follows the blockers of a session to one that is not blocked. In a deadlock that is not resolved yet it is the
// last one reached.
func rootOf(one waits.Blocked, blocked map[int]waits.Blocked) root {
	met := map[int]bool{}
	for {
		if len(one.Blockers) == 0 || met[one.PID] {
			return root{pid: one.PID}
		}
		met[one.PID] = true
		blocker := one.Blockers[0]
		next, is := blocked[blocker]
		if !is {
			if blocker == 0 && one.Prepared != nil {
				return root{0, one.Prepared.GID}
			}
			return root{pid: blocker}
		}
		one = next
	}
}

// root of a tree: a process, or a prepared transaction, which has none.
type root struct {
	pid int
	gid string
}

func (b *book) addStory(at root, victims []waits.Blocked, l lockLook, victimsNow map[*story]int) {
	blocker := rootIn(at, victims, l)
	object := objectOf(victims)
	key := strings.Join([]string{blocker.Application, blocker.Does, blocker.Statement, object}, "\x00")
	s := b.stories[key]
	if s == nil {
		if len(b.stories) >= storiesMost {
			return // at most a hundred stories; the ledger has the rest
		}
		s = &story{Story: Story{Object: object, Root: blocker, FromS: l.at.Seconds()}, statements: amounts{}}
		b.stories[key] = s
	}
	s.ToS = l.at.Seconds()
	if blocker.Prepared != nil {
		s.Root.Prepared = blocker.Prepared // its age grows
	}
	s.Root.LongXactS = max(s.Root.LongXactS, blocker.LongXactS)
	s.Root.LongGapS = max(s.Root.LongGapS, blocker.LongGapS)
	s.weight += l.covers.Seconds() * float64(len(victims))
	victimsNow[s] += len(victims)
	for _, v := range victims {
		s.LongS = max(s.LongS, v.For.Seconds())
		s.statements.add(normalizedText(l.sessions[v.PID].Query), l.covers.Seconds())
	}
	if victimsNow[s] > s.Victims {
		s.Tree = tree(at.pid, blocker, victims, l)
	}
}

func rootIn(at root, victims []waits.Blocked, l lockLook) Root {
	s, found := l.sessions[at.pid]
	process, ofServer := l.background[at.pid]
	switch {
	case at.pid == 0:
		return preparedRoot(at.gid, victims)
	case !found && ofServer:
		return Root{Application: process.Kind, Does: "waits for " + process.Wait().String(), Process: process.Kind,
			Statement: normalizedText(process.Query), LongXactS: process.ForS, class: process.Wait().Class()}
	case !found:
		return Root{Application: "?", Does: "has ended since, or is a process of the server"}
	}
	r := Root{Application: nonEmpty(s.Application, s.User), Statement: normalizedText(s.Query),
		LongXactS: s.InXact.Seconds(), Client: s.Class() == waits.Client, class: s.Class()}
	if r.Client {
		r.LongGapS = s.InState.Seconds()
	}
	switch {
	case s.Idle():
		r.Does = "waits for its client within a transaction"
	case s.Class() == waits.Client:
		r.Does = "waits for its client (" + s.Wait.String() + ")"
	case s.Class() == waits.Running:
		r.Does = "runs"
	default:
		r.Does = "waits for " + s.Wait.String()
	}
	return r
}

// preparedRoot is a prepared transaction; its name is not known where it ended before it was looked up.
func preparedRoot(gid string, victims []waits.Blocked) Root {
	r := Root{Application: "a prepared transaction", Does: "is prepared and not committed",
		Prepared: &Prepared{}}
	for _, v := range victims {
		if p := v.Prepared; p != nil && p.GID == gid {
			r.Application = "prepared transaction " + gid
			r.Prepared = &Prepared{p.GID, p.Owner, p.Database, p.For.Seconds(), p.XIDs, p.Holds}
		}
	}
	return r
}

// objectOf returns the object of most victims; the states of one row share one name.
func objectOf(victims []waits.Blocked) string {
	count := amounts{}
	for _, v := range victims {
		name := v.On()
		if v.Row() != "" {
			name = "a row of " + v.Object // an updated row moves: its place is in the tree
		}
		count.add(name, 1)
	}
	best, most := "", -1.0
	for name, n := range count {
		known := !strings.Contains(name, "another transaction")
		if known {
			n += float64(len(victims)) // a name says more than none
		}
		if n > most || n == most && name < best {
			best, most = name, n
		}
	}
	return best
}

func tree(root int, blocker Root, victims []waits.Blocked, l lockLook) (lines []string) {
	lines = append(lines, fmt.Sprintf("%d %s: %s: %s", root, blocker.Application, blocker.Does, blocker.Statement))
	children := map[int][]waits.Blocked{}
	for _, v := range victims {
		if len(v.Blockers) > 0 {
			children[v.Blockers[0]] = append(children[v.Blockers[0]], v)
		}
	}
	met := map[int]bool{}
	var below func(pid int, depth int)
	below = func(pid, depth int) {
		for _, v := range children[pid] {
			if met[v.PID] {
				continue
			}
			met[v.PID] = true
			s := l.sessions[v.PID]
			lines = append(lines, fmt.Sprintf("%s└ %d %s: waits %s for %s: %s", strings.Repeat("  ", depth), v.PID,
				nonEmpty(s.Application, s.User), v.For.Round(time.Millisecond), v.On(), normalizedText(s.Query)))
			below(v.PID, depth+1)
		}
	}
	below(root, 0)
	if more := len(lines) - treeLinesMost; more > 0 {
		lines = append(lines[:treeLinesMost], fmt.Sprintf("… and %d more", more))
	}
	return lines
}

// sortedStories returns the stories, the costliest first. Looks at locks are rarer than samples, so the lost time is
// the ledger's, split in proportion to the stories.
func (b *book) sortedStories() (all []Story) {
	weights := 0.0
	for _, s := range b.stories {
		weights += s.weight
	}
	lost, total := b.secondsOf(waits.Lock), b.total()
	for _, s := range b.stories {
		if weights == 0 || total == 0 {
			continue
		}
		s.LostS = lost * s.weight / weights
		s.Share = s.LostS / total
		s.Story.Statements = parts(s.statements, partsKept)
		all = append(all, s.Story)
	}
	slices.SortFunc(all, func(a, b Story) int {
		return compareDown(a.LostS, b.LostS, a.Object+a.Root.Does, b.Object+b.Root.Does)
	})
	return all
}
