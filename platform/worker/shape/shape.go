// Package shape owns the three shapes of an application: how it talks to the database, and nothing else. All make the
// same books. Tuned and lean may serve one database together, and classic with them if it has the same durability.
//
//	classic  as such platforms are before they are tuned: temp tables per posting, one row per statement and round
//	         trip, a small pool of temp tables, one fixed lifetime of connections, every temp table truncated
//	tuned    classic with four tweaks, each switchable alone: a large pool (C13), random lifetimes (C14), empty temp
//	         tables not truncated and few rows deleted (C15), statements in chains (C16); answers wait for the log,
//	         commits do not
//	lean     no temp table on the way of a posting: arrays, sets, differences, few round trips
package shape

import (
	"fmt"
	"strings"
	"time"

	"plimsoll/platform/books/posting"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/durability"
	"plimsoll/platform/data/temptable"
)

// Name of a shape.
type Name string

const (
	Classic Name = "classic"
	Tuned   Name = "tuned"
	Lean    Name = "lean"

	Default = Lean
)

// Names of all, slowest first.
var Names = []Name{Classic, Tuned, Lean}

// Values of the classic shape.
const (
	ClassicTempPool = 50
	ClassicChain    = 1
)

// Tweaks of Tuned, for callers who want one of them alone.
const (
	TempPoolTweak = temptable.MaxDefault
	LifetimeTweak = database.LifetimeJitterDefault
	ClearingTweak = temptable.Delete
	ChainTweak    = database.ChainDefault
)

// Tweaks of a shape; zero values keep the shape's own.
type Tweaks struct {
	TempPool int                // temp tables kept by a connection (C13)
	Lifetime time.Duration      // of a connection, without its random part
	Jitter   time.Duration      // random part of the lifetime (C14); database.Never means fixed
	Clearing temptable.Clearing // of temp tables (C15)
	Chain    int                // statements in a round trip (C16)
	// Durability is the plan of commits, as durability.Parse reads it. The server decides in the classic shape alone.
	Durability string
}

// Shape configures a worker.
type Shape struct {
	Name    Name
	Posting posting.Strategy
	tweaks  Tweaks // all of them
	own     Tweaks // of the shape itself
}

// New makes a shape with some tweaks. The empty name means Default.
func New(name Name, tweaks Tweaks) (Shape, error) {
	s := Shape{Name: name, Posting: posting.Classic}
	switch name {
	case Classic:
		s.own = Tweaks{ClassicTempPool, database.LifetimeDefault, database.Never, temptable.Always, ClassicChain, ""}
	case Tuned:
		s.own = tuned
	case Lean, "":
		s.Name, s.Posting, s.own = Lean, posting.Lean, tuned
	default:
		return Shape{}, fmt.Errorf("unknown shape %q: use %s", name, list(Names))
	}
	if _, err := durability.Parse(tweaks.Durability); err != nil {
		return Shape{}, err
	}
	s.tweaks = s.own.merged(tweaks)
	return s, nil
}

var tuned = Tweaks{TempPoolTweak, database.LifetimeDefault, LifetimeTweak, ClearingTweak, ChainTweak,
	string(durability.DurableAck)}

func (t Tweaks) merged(other Tweaks) Tweaks {
	set(&t.TempPool, other.TempPool)
	set(&t.Lifetime, other.Lifetime)
	set(&t.Jitter, other.Jitter)
	set(&t.Clearing, other.Clearing)
	set(&t.Chain, other.Chain)
	set(&t.Durability, other.Durability)
	return t
}

func set[T comparable](value *T, to T) {
	var zero T
	if to != zero {
		*value = to
	}
}

// Options sets the database options of the shape.
func (s Shape) Options(o database.Options) database.Options {
	o.TempTables = temptable.Options{Max: s.tweaks.TempPool, Clearing: s.tweaks.Clearing}
	o.Lifetime.AtLeast, o.Lifetime.Jitter = s.tweaks.Lifetime, s.tweaks.Jitter
	if s.tweaks.Jitter == database.Never {
		o.Lifetime.EvictStep = database.Never // connections that end together should drop their tables together
	}
	o.Chain, o.Durability = s.tweaks.Chain, s.tweaks.Durability
	return o
}

// String is the name and its tweaks: "classic, chains of 100".
func (s Shape) String() string {
	parts := []string{string(s.Name)}
	add := func(differs bool, format string, args ...any) {
		if differs {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	t, own := s.tweaks, s.own
	add(t.TempPool != own.TempPool, "%d temp tables per connection", t.TempPool)
	add(t.Lifetime != own.Lifetime, "connections live %s", t.Lifetime)
	if t.Jitter == database.Never {
		add(t.Jitter != own.Jitter, "fixed lifetimes")
	} else {
		add(t.Jitter != own.Jitter, "lifetimes random by %s", t.Jitter)
	}
	add(t.Clearing != own.Clearing, "temp tables cleared by %s", t.Clearing)
	add(t.Chain != own.Chain, "chains of %d", t.Chain)
	add(t.Durability != own.Durability, "durability %s", s.durability())
	return strings.Join(parts, ", ")
}

// durability names what a crash may lose.
func (s Shape) durability() string {
	p, err := durability.Parse(s.tweaks.Durability)
	if err == nil && p.Uses(durability.Async) {
		return s.tweaks.Durability + " (async: a crash loses acknowledged operations)"
	}
	return s.tweaks.Durability
}

func list(names []Name) string {
	words := make([]string, len(names))
	for i, n := range names {
		words[i] = string(n)
	}
	return strings.Join(words, ", ")
}
