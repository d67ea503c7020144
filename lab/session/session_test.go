package session_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/ground/host/kept"
	"plimsoll/ground/postgres/identity"
	"plimsoll/ground/problem"
	"plimsoll/lab/session"
)

// course of five turns, and what happens in it: a turn in lower case was begun, in upper case it was kept.
type course struct {
	session.Session[int]
	happened strings.Builder
	made     int
}

func newCourse(during func(turn int) error) *course {
	c := &course{}
	c.Session = session.Session[int]{
		Next: func() (int, bool) { return c.made, c.made < 5 },
		Make: func(ctx context.Context, turn int) error {
			fmt.Fprintf(&c.happened, "%c", 'a'+turn)
			if err := during(turn); err != nil {
				return err
			}
			c.made++
			return nil
		},
		CleanUp: func(context.Context, int) error { c.happened.WriteString("-"); return nil },
		Keep:    func(stopped string) error { c.happened.WriteString("(" + stopped + ")"); return nil },
		Ended:   func(turn int) { fmt.Fprintf(&c.happened, "%c ", 'A'+turn) },
	}
	return c
}

func TestSession(t *testing.T) {
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		change func(c *course, stop context.CancelFunc)
		during func(turn int, stop context.CancelFunc) error
		err    error
		want   string
	}{
		"Whole": {want: "a-()A b-()B c-()C d-()D e-()E ()"},
		"TheUserStopsATurn": {during: func(turn int, stop context.CancelFunc) error {
			if turn < 2 {
				return nil
			}
			stop()
			return errors.New("cut off")
		}, want: "a-()A b-()B c-(by hand)"},
		"TheUserStopsAtTheEndOfATurn": {during: func(turn int, stop context.CancelFunc) error {
			if turn == 1 {
				stop()
			}
			return nil
		}, want: "a-()A b-()B (by hand)"},
		"TheUserStopsAtTheVeryEnd": {during: func(turn int, stop context.CancelFunc) error {
			if turn == 4 {
				stop()
			}
			return nil
		}, want: "a-()A b-()B c-()C d-()D e-()E ()"},
		"ATurnFails": {during: func(turn int, _ context.CancelFunc) error {
			if turn == 1 {
				return broken
			}
			return nil
		}, err: broken, want: "a-()A b-(broken)"},
		"ItIsNotCleanUp": {change: func(c *course, _ context.CancelFunc) {
			c.CleanUp = func(context.Context, int) error { return broken }
		}, err: broken, want: "a(broken)"},
		"TheUserStopsItAndItIsNotCleanUp": {change: func(c *course, _ context.CancelFunc) {
			c.CleanUp = func(ctx context.Context, _ int) error {
				if ctx.Err() != nil {
					t.Error("no time to clean up")
				}
				return broken
			}
		}, during: func(_ int, stop context.CancelFunc) error { stop(); return errors.New("cut off") },
			err: broken, want: "a(by hand)"},
		"NoTime": {change: func(c *course, _ context.CancelFunc) {
			c.Began, c.Budget = time.Now(), time.Hour
			c.Takes = func(turn int) time.Duration { return time.Duration(turn) * time.Hour }
		}, want: "a-()A (budget)"},
		"Hopeless": {change: func(c *course, _ context.CancelFunc) {
			c.Hopeless = func() string {
				if c.made == 2 {
					return "why"
				}
				return ""
			}
		}, want: "a-()A b-()B (why)"},
		"OnlyWhatItNeeds": {change: func(c *course, _ context.CancelFunc) {
			c.CleanUp, c.Keep, c.Ended = nil, nil, nil
		}, want: "abcde"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			turns := newCourse(func(turn int) error {
				if c.during == nil {
					return nil
				}
				return c.during(turn, stop)
			})
			if c.change != nil {
				c.change(turns, stop)
			}
			stopped, err := turns.All(ctx)
			if got := turns.happened.String(); got != c.want || !errors.Is(err, c.err) || err != nil && c.err == nil ||
				turns.Keep != nil && !strings.HasSuffix(got, "("+stopped+")") {
				t.Errorf("%s, stopped %q, %v; want %s, %v", got, stopped, err, c.want, c.err)
			}
		})
	}
	t.Run("WhatCannotBeKeptEndsIt", func(t *testing.T) {
		turns := newCourse(func(int) error { return nil })
		turns.Keep = func(string) error { return broken }
		if stopped, err := turns.All(t.Context()); !errors.Is(err, broken) || stopped != "broken" || turns.made != 1 {
			t.Errorf("%q, %v after %d turns", stopped, err, turns.made)
		}
	})
}

// What was made is not made again; a turn that failed is.
func TestOver(t *testing.T) {
	var made []string
	fail := errors.New("broken")
	turns := session.Over([]string{"a", "b", "c"}, func(_ context.Context, turn string) error {
		if turn == "b" && fail != nil {
			return fail
		}
		made = append(made, turn)
		return nil
	})
	if stopped, err := turns.All(t.Context()); !errors.Is(err, fail) || stopped != "broken" {
		t.Errorf("%q, %v", stopped, err)
	}
	fail = nil
	if stopped, err := turns.All(t.Context()); err != nil || stopped != "" || strings.Join(made, "") != "abc" {
		t.Errorf("%q, %v after %q", stopped, err, made)
	}
}

// kept in a folder, the oldest first.
func keptIn(t *testing.T, texts ...string) kept.Folder {
	t.Helper()
	f := kept.Folder{Root: t.TempDir(), File: "one.txt", Kind: "one"}
	for n, text := range texts {
		id, err := f.Begin(time.Date(2026, 1, 31, 12, 0, n, 0, time.UTC), "")
		if err == nil {
			err = f.Save(id, nil, func(w io.Writer) error { _, err := io.WriteString(w, text); return err })
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return f
}

func TestResume(t *testing.T) {
	read := func(path string) (*string, error) {
		text, err := os.ReadFile(path)
		s := string(text)
		if s == "unreadable" {
			err = errors.New("unreadable")
		}
		return &s, err
	}
	match := func(id string, one *string) session.Match {
		switch word, _, _ := strings.Cut(*one, " "); word {
		case "same":
			return session.Match{Same: true}
		case "foreign":
			return session.Match{Same: true, Foreign: id + " is foreign"}
		case "other":
			return session.Match{Hint: id + " is other"}
		}
		return session.Match{}
	}
	for name, c := range map[string]struct {
		texts []string
		want  string // of what goes on, or the error
		hint  string
	}{
		"Newest":        {texts: []string{"same 1", "same 2", "ended"}, want: "same 2"},
		"BehindOthers":  {texts: []string{"same 1", "other", "foreign", "unreadable"}, want: "same 1"},
		"None":          {want: "there is no stopped test with these settings", hint: "start one: the same command"},
		"AllEnded":      {texts: []string{"ended"}, want: "there is no stopped test", hint: "start one: the same"},
		"Others":        {texts: []string{"other", "other"}, want: "there is no stopped test", hint: "120001 is other"},
		"ForeignBefore": {texts: []string{"foreign", "other"}, want: "20260131-120000 is foreign", hint: "be mixed"},
	} {
		t.Run(name, func(t *testing.T) {
			one, release, err := session.Resume(t.Context(), keptIn(t, c.texts...), "test", read, match)
			if err == nil {
				if release(); *one != c.want {
					t.Errorf("%q, want %q", *one, c.want)
				}
				return
			}
			if !strings.HasPrefix(err.Error(), c.want) || !strings.Contains(problem.HintOf(err), c.hint) ||
				problem.ClassOf(err) != problem.Usage {
				t.Errorf("%v (%s), want %s (%s)", err, problem.HintOf(err), c.want, c.hint)
			}
		})
	}
	t.Run("FolderThatIsNone", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := session.Resume(t.Context(), kept.Folder{Root: file, Kind: "one"}, "test", read,
			match); problem.ClassOf(err) != problem.Environment {
			t.Errorf("want an environment error, got %v", err)
		}
	})
	t.Run("OneAtATime", func(t *testing.T) {
		f := keptIn(t, "same 1", "same 2")
		_, release, err := session.Resume(t.Context(), f, "test", read, match)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := session.Resume(t.Context(), f, "test", read, match); err == nil ||
			!strings.HasPrefix(err.Error(), "one 20260131-120001: in use by one (pid ") {
			t.Errorf("%v, want the process that works on it", err)
		}
		release()
		if _, release, err = session.Resume(t.Context(), f, "test", read, match); err != nil {
			t.Fatal(err)
		}
		release()
	})
	t.Run("EndedByWhoHeldIt", func(t *testing.T) {
		f, reads := keptIn(t, "same 1", "same 2"), 0
		one, release, err := session.Resume(t.Context(), f, "test", func(path string) (*string, error) {
			if reads++; reads == 2 { // between the two looks at the newest
				return new("ended"), nil
			}
			return read(path)
		}, match)
		if err != nil || *one != "same 1" {
			t.Fatalf("%v, error %v: want \"same 1\"", one, err)
		}
		release()
	})
}

func TestOrigin_NamesWhatIsForeign(t *testing.T) {
	server := func(system string) *identity.Identity { return &identity.Identity{System: system, Address: "db:5432"} }
	now := session.Origin{Program: "0.5.0", Server: server("1")}
	for name, c := range map[string]struct {
		before session.Origin
		want   string
	}{
		"TheSame":       {now, ""},
		"AnotherServer": {session.Origin{Program: "0.5.0", Server: server("2")}, "it is of another server: system"},
		"AnotherProgram": {session.Origin{Program: "0.4.0", Server: server("1")},
			"it was made by plimsoll 0.4.0, this"},
		"NoServer":         {session.Origin{Program: "0.5.0"}, "it does not record its server"},
		"OfAnOlderVersion": {session.Origin{}, "it was made by plimsoll of an older version, this is 0.5.0"},
	} {
		if got := now.Foreign(c.before, "it"); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestShare_IsOfAllTheTime(t *testing.T) {
	for _, c := range []struct {
		elapsed, left time.Duration
		want          float64
	}{{0, 0, 0}, {0, time.Hour, 0}, {time.Minute, 3 * time.Minute, 0.25}, {time.Minute, 0, 1}} {
		if got := session.Share(c.elapsed, c.left); got != c.want {
			t.Errorf("%s of %s more: %v, want %v", c.elapsed, c.left, got, c.want)
		}
	}
}
