package shape

import (
	"strings"
	"testing"
	"time"

	"plimsoll/platform/books/posting"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/durability"
	"plimsoll/platform/data/temptable"
)

func made(t *testing.T, name Name, with Tweaks) Shape {
	t.Helper()
	s, err := New(name, with)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Each tweak of tuned is one field of classic's options, and changes nothing else.
func TestEachTweakIsSwitchedAlone(t *testing.T) {
	classic := made(t, Classic, Tweaks{}).Options(database.Options{})
	want := database.Options{Chain: 1, TempTables: temptable.Options{Max: 50, Clearing: temptable.Always},
		Lifetime: database.Lifetime{AtLeast: 30 * time.Minute, Jitter: database.Never, EvictStep: database.Never}}
	if classic != want {
		t.Errorf("classic %+v", classic)
	}
	for text, c := range map[string]struct {
		tweaks Tweaks
		change func(*database.Options)
	}{
		"classic": {Tweaks{}, func(*database.Options) {}},
		"classic, 2000 temp tables per connection": {Tweaks{TempPool: 2000},
			func(o *database.Options) { o.TempTables.Max = 2000 }},
		"classic, lifetimes random by 30m0s": {Tweaks{Jitter: 30 * time.Minute}, func(o *database.Options) {
			o.Lifetime.Jitter = 30 * time.Minute
			o.Lifetime.EvictStep = 0
		}},
		"classic, temp tables cleared by ask": {Tweaks{Clearing: temptable.Ask},
			func(o *database.Options) { o.TempTables.Clearing = temptable.Ask }},
		"classic, chains of 100": {Tweaks{Chain: 100}, func(o *database.Options) { o.Chain = 100 }},
		"classic, connections live 1m0s, chains of 10": {Tweaks{Lifetime: time.Minute, Chain: 10},
			func(o *database.Options) {
				o.Lifetime.AtLeast = time.Minute
				o.Chain = 10
			}},
	} {
		s, want := made(t, Classic, c.tweaks), classic
		c.change(&want)
		if got := s.Options(database.Options{}); got != want || s.String() != text || s.Posting != posting.Classic {
			t.Errorf("%s: %s %+v, want %+v", text, s, got, want)
		}
	}
}

func TestAllTweaksTogetherAreTuned(t *testing.T) {
	all := Tweaks{TempPool: TempPoolTweak, Jitter: LifetimeTweak, Clearing: ClearingTweak, Chain: ChainTweak,
		Durability: string(durability.DurableAck)}
	tuned := made(t, Tuned, Tweaks{})
	if got, want := made(t, Classic, all).Options(database.Options{}), tuned.Options(database.Options{}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	back := made(t, Tuned, Tweaks{Jitter: database.Never})
	if o := back.Options(database.Options{Connections: 7}); o.Lifetime.EvictStep != database.Never ||
		o.Connections != 7 || back.String() != "tuned, fixed lifetimes" {
		t.Errorf("%s %+v", back, o)
	}
}

func TestLeanIsTheDefault(t *testing.T) {
	s := made(t, "", Tweaks{})
	if s.Name != Lean || s.Posting != posting.Lean || s.String() != "lean" {
		t.Errorf("shape %+v, want lean", s)
	}
	if _, err := New("fat", Tweaks{}); err == nil || !strings.Contains(err.Error(), "classic, tuned, lean") {
		t.Error(err)
	}
}
