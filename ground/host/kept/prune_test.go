package kept

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"plimsoll/ground/problem"
)

var noon = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

func TestChoice(t *testing.T) {
	day := 24 * time.Hour
	item := func(id string, age time.Duration, tags ...string) Item {
		return Item{ID: id, At: noon.Add(-age), Bytes: 10, Label: Label{Tags: tags}}
	}
	items := []Item{item("b", 2*day), item("a", day, "nightly"), item("d", 40*day, "nightly"),
		item("c", 3*day, "nightly"), item("e", 50*day)}
	for name, c := range map[string]struct {
		choice Choice
		want   string
	}{
		"Old":                 {Choice{OlderThan: 30 * day}, "e d"},
		"OfATag":              {Choice{Tag: "nightly"}, "d c a"},
		"OldOfATag":           {Choice{Tag: "nightly", OlderThan: 30 * day}, "d"},
		"AllButTheNewest":     {Choice{Keep: 2}, "e d c"},
		"KeepCountsTheTag":    {Choice{Tag: "nightly", Keep: 2}, "d"},
		"UntilSmallEnough":    {Choice{LargerThan: 35}, "e d"},
		"SmallEnough":         {Choice{LargerThan: 50}, ""},
		"OnlyTheTagShrinks":   {Choice{LargerThan: 15, Tag: "nightly"}, "d c a"},
		"KeptWhateverTheSize": {Choice{LargerThan: 5, Keep: 4}, "e"},
		"NoneHasThatTag":      {Choice{Tag: "weekly"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, i := range c.choice.Of(items, noon) {
				got = append(got, i.ID)
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("removes %q, want %q", got, c.want)
			}
		})
	}
}

// stored is a folder with a result of each of the times.
func stored(t *testing.T, times ...time.Time) (Folder, []string) {
	t.Helper()
	f := Folder{Root: filepath.Join(t.TempDir(), "notes"), File: "note.json", Kind: "note"}
	var ids []string
	for _, at := range times {
		id, err := f.Begin(at, "")
		if err == nil {
			err = f.Save(id, nil, func(w io.Writer) error { _, err := io.WriteString(w, "12345"); return err })
		}
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	return f, ids
}

func TestItems(t *testing.T) {
	f, ids := stored(t, noon, noon.Add(time.Hour), noon.Add(2*time.Hour))
	label := Label{Tags: []string{"nightly"}, Note: "after the upgrade"}
	if err := f.SetLabel(ids[0], label); err != nil {
		t.Fatal(err)
	}
	release, err := f.Hold(t.Context(), ids[1])
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	items, err := f.Items()
	if err != nil || len(items) != 2 || items[0].ID != ids[2] || items[1].ID != ids[0] {
		t.Fatalf("%+v, %v: the newest first, without the one that is worked on", items, err)
	}
	if diff := cmp.Diff(label, items[1].Label); diff != "" || !items[1].At.Equal(noon) || items[0].Bytes != 5 {
		t.Errorf("%+v", items)
	}
	held := items[1]
	held.ID = ids[1]
	if err := held.Remove(t.Context()); problem.ClassOf(err) != problem.Environment || !f.Has(ids[1]) {
		t.Errorf("removed under the process that works on it: %v", err)
	}
	if err := items[1].Remove(t.Context()); err != nil || f.Has(ids[0]) {
		t.Error(err)
	}
	left, err := os.ReadDir(f.Root)
	if err != nil || len(left) != 3 { // two results, and the lock of the one that is held
		t.Errorf("left are %v, error %v: want 3", left, err)
	}
}

func TestLabel(t *testing.T) {
	f, ids := stored(t, noon)
	if l, err := f.Label(ids[0]); err != nil || l.Has("nightly") || !l.Has("") {
		t.Errorf("%+v, %v", l, err)
	}
	note := "as it was"
	l := Label{}.With([]string{"weekly", "nightly", "weekly"}, nil, &note)
	if diff := cmp.Diff(Label{Tags: []string{"nightly", "weekly"}, Note: note}, l); diff != "" {
		t.Error(diff)
	}
	l = l.With([]string{"base"}, []string{"nightly"}, nil)
	if err := f.SetLabel(ids[0], l); err != nil {
		t.Fatal(err)
	}
	got, err := f.Label(ids[0])
	if diff := cmp.Diff(Label{Tags: []string{"base", "weekly"}, Note: note}, got); diff != "" || err != nil {
		t.Errorf("%v, %s", err, diff)
	}
	for _, tag := range []string{"", "-x", "a b", "a,b", "../x", strings.Repeat("x", 65)} {
		if err := CheckTags([]string{"fine", tag}); problem.ClassOf(err) != problem.Usage {
			t.Errorf("%q: %v", tag, err)
		}
	}
	if err := errors.Join(CheckTags([]string{"v2.1", "nightly_7", "ночь"})); err != nil {
		t.Error(err)
	}
}
