package archive

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"plimsoll/ground/problem"
	"plimsoll/lab/run/result/resulttest"
)

func TestArchive_HasWhatWasWrittenAndNoSecret(t *testing.T) {
	r := resulttest.Overloaded(t)
	r.Title = "before postgres://ann:S3cret@db/erp"
	r.Operations[0].ErrorTexts[0].Text = "connect: password=S3cret host=db"
	for _, name := range []string{"result.tar.zst", "result.zip"} {
		path := filepath.Join(t.TempDir(), name)
		other := resulttest.Overloaded(t)
		other.ID = "20260131-154501-2u"
		whole := Archive{Software: "1.2", Runs: []Run{{r, []byte(`{"title": "shop"}`)}, {other, nil}}}
		if err := Write(path, whole); err != nil {
			t.Fatal(err)
		}
		a, err := Read(path)
		if err != nil {
			t.Fatal(err)
		}
		if a.Software != "1.2" || len(a.Runs) != 2 || string(a.Runs[0].Scenario) != `{"title": "shop"}` ||
			a.Runs[1].Scenario != nil || a.Runs[1].Result.ID != other.ID {
			t.Errorf("%s: %+v", name, a)
		}
		if got := a.Runs[0].Result.Title; got != "before postgres://ann:***@db/erp" {
			t.Errorf("title %s", got)
		}
		if diff := cmp.Diff(other.Series, a.Runs[1].Result.Series); diff != "" {
			t.Errorf("other figures: %s", diff)
		}
		files, err := readFiles(path)
		if err != nil {
			t.Fatal(err)
		}
		for file, text := range files {
			if bytes.Contains(text, []byte("S3cret")) {
				t.Errorf("%s: %s has a secret", name, file)
			}
		}
		if !bytes.Contains(files["runs/"+r.ID+"/report.html"], []byte("<html")) ||
			!bytes.Contains(files["runs/"+r.ID+"/conditions.json"], []byte(`"engine"`)) {
			t.Errorf("%s lacks the page or the conditions: %d files", name, len(files))
		}
	}
	if err := Write(filepath.Join(t.TempDir(), "result.rar"), Archive{}); problem.ClassOf(err) != problem.Usage {
		t.Errorf("an unknown format: %v", err)
	}
}

// entry of a hostile archive.
type entry struct {
	name string
	kind byte
	text string
}

func hostileTar(t *testing.T, entries []entry) string {
	t.Helper()
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(z)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Typeflag: e.kind, Mode: 0o644, Size: int64(len(e.text))}
		if e.kind == tar.TypeSymlink || e.kind == tar.TypeLink {
			h.Linkname, h.Size, e.text = "/etc/passwd", 0, ""
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(e.text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return stored(t, "hostile.tar.zst", b.Bytes())
}

func hostileZip(t *testing.T, entries []entry) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		h.SetMode(0o644)
		if e.kind == tar.TypeSymlink || e.kind == tar.TypeLink {
			h.SetMode(0o777 | os.ModeSymlink)
		}
		one, err := w.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := one.Write([]byte(e.text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return stored(t, "hostile.zip", b.Bytes())
}

func stored(t *testing.T, name string, text []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRead_RefusesHostileArchives(t *testing.T) {
	const good = `{"schema": "plimsoll.archive/1", "runs": ["a"]}`
	bomb := strings.Repeat("\x00", fileMost+1)
	for name, c := range map[string]struct {
		entries []entry
		says    string
	}{
		"Traversal":       {[]entry{{"../../etc/cron.d/x", tar.TypeReg, "x"}}, "no name of an archive's file"},
		"TraversalInside": {[]entry{{"runs/../../x/result.json", tar.TypeReg, "x"}}, "no name of an archive's file"},
		"Dots":            {[]entry{{"runs/../result.json", tar.TypeReg, "x"}}, "no name of an archive's file"},
		"Absolute":        {[]entry{{"/runs/a/result.json", tar.TypeReg, "x"}}, "no name of an archive's file"},
		"Backslash":       {[]entry{{`runs\a\result.json`, tar.TypeReg, "x"}}, "no name of an archive's file"},
		"Link":            {[]entry{{"runs/a/result.json", tar.TypeSymlink, "/etc/passwd"}}, "not a plain file"},
		"Twice": {[]entry{{"manifest.json", tar.TypeReg, good}, {"manifest.json", tar.TypeReg, good}},
			"there twice"},
		"Bomb":     {[]entry{{"runs/a/result.json", tar.TypeReg, bomb}}, "larger than any result"},
		"Nothing":  {nil, "manifest.json"},
		"NoResult": {[]entry{{"manifest.json", tar.TypeReg, good}}, "it lacks runs/a/result.json"},
		"NoRun":    {[]entry{{"manifest.json", tar.TypeReg, `{"schema": "plimsoll.archive/1"}`}}, "it has no run"},
		"OfTomorrow": {[]entry{{"manifest.json", tar.TypeReg, `{"schema": "plimsoll.archive/9"}`}},
			`"plimsoll.archive/9"`},
		"OtherRun": {[]entry{{"manifest.json", tar.TypeReg, good},
			{"runs/a/result.json", tar.TypeReg, string(resulttest.JSON)}}, "is that of run"},
		"NotJSON": {[]entry{{"manifest.json", tar.TypeReg, good}, {"runs/a/result.json", tar.TypeReg, "<html>"}},
			"read run"},
	} {
		for format, write := range map[string]func(*testing.T, []entry) string{"tar": hostileTar, "zip": hostileZip} {
			_, err := Read(write(t, c.entries))
			if err == nil || !strings.Contains(err.Error(), c.says) || problem.ClassOf(err) != problem.Usage {
				t.Errorf("%s, %s: %v", name, format, err)
			}
		}
	}
	if _, err := Read(hostileTar(t, []entry{{"runs/a/", tar.TypeDir, ""}})); err == nil {
		t.Error("a folder is read")
	}
	if _, err := Read(stored(t, "x.tar.zst", []byte("not at all"))); problem.ClassOf(err) != problem.Usage {
		t.Errorf("want a usage error, got %v", err)
	}
	if _, err := Read(stored(t, "x.zip", []byte("not at all"))); problem.ClassOf(err) != problem.Usage {
		t.Errorf("want a usage error, got %v", err)
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"a.zip", "a.tar.zst"} {
		path := filepath.Join(f.TempDir(), name)
		if err := Write(path, Archive{}); err != nil {
			f.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, name == "a.zip")
	}
	f.Fuzz(func(t *testing.T, text []byte, isZip bool) {
		name := "x.tar.zst"
		if isZip {
			name = "x.zip"
		}
		if _, err := Read(stored(t, name, text)); err != nil && problem.ClassOf(err) != problem.Usage {
			t.Errorf("want a usage error or none, got %v", err)
		}
	})
}
