package kept

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"plimsoll/ground/problem"
)

func TestFolder(t *testing.T) {
	f := Folder{Root: filepath.Join(t.TempDir(), "state", "notes"), File: "note.json", Kind: "note"}
	text := func(text string) func(io.Writer) error {
		return func(w io.Writer) error { _, err := io.WriteString(w, text); return err }
	}
	if ids, err := f.IDs(); err != nil || ids != nil {
		t.Errorf("%v, %v in a folder that is not there", ids, err)
	}
	noon := time.Date(2026, 1, 31, 13, 0, 0, 0, time.FixedZone("", 3600))
	var ids []string
	for n, want := range []string{"20260131-120000-5u", "20260131-120000-5u-2", "20260131-120001-5u"} {
		id, err := f.Begin(noon.Add(time.Duration(n/2)*time.Second), "-5u")
		if err != nil || id != want {
			t.Fatalf("%q, want %q, %v", id, want, err)
		}
		ids = append(ids, id)
	}
	if err := errors.Join(f.Save(ids[2], nil, text("{}")), f.Save(ids[0], text("page"), text("{}"))); err != nil {
		t.Fatal(err)
	}
	if all, err := f.IDs(); err != nil || !slices.Equal(all, []string{ids[2], ids[0]}) {
		t.Errorf("%v, %v: the newest first, and none without its JSON", all, err)
	}
	if page, err := os.ReadFile(f.ReportPath(ids[0])); err != nil || string(page) != "page" {
		t.Errorf("%q, %v", page, err)
	}
	t.Run("WithoutRoomForThePageKeepsTheJSON", func(t *testing.T) {
		full := func(io.Writer) error { return fmt.Errorf("page: %w", syscall.ENOSPC) }
		if err := f.Save(ids[1], full, text("{}")); !errors.Is(err, syscall.ENOSPC) || !f.Has(ids[1]) ||
			problem.ClassOf(err) != problem.Environment || !strings.HasPrefix(err.Error(), "store the note: ") {
			t.Errorf("want the JSON kept and \"store the note: no space\", got %v", err)
		}
	})
	t.Run("Remove", func(t *testing.T) {
		if err := f.Remove(ids[0]); err != nil || f.Has(ids[0]) {
			t.Error(err)
		}
		if _, err := os.Stat(f.Dir(ids[0])); !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	})
}

func TestMeant(t *testing.T) {
	ids := []string{"20260201-1", "20260131-1-2", "20260131-1"}
	for id, want := range map[string]string{
		Latest: "20260201-1", "20260201": "20260201-1", "20260131-1": "20260131-1",
		"20260131": "20260131-1-2 20260131-1",
		"2025":     "", "": "", "../x": "",
	} {
		if got := strings.Join(Meant(id, ids), " "); got != want {
			t.Errorf("%q: %q, want %q", id, got, want)
		}
	}
	if got := Meant(Latest, nil); got != nil {
		t.Errorf("%v of none", got)
	}
}
