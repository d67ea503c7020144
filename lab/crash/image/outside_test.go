package image_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/ground/postgres/storage"
	"plimsoll/lab/crash/image"
)

// TestBuild_ReadsNothingOutside: a name in the copy may lead, by its file or by a folder on the way, to what only root
// may read; the image is the server's user's.
func TestBuild_ReadsNothingOutside(t *testing.T) {
	for _, name := range []string{"link/secret", "to-file", "hard"} {
		t.Run(name, func(t *testing.T) {
			all := t.TempDir()
			base, dir, victim := filepath.Join(all, "base"), filepath.Join(all, "data"), filepath.Join(all, "victim")
			for _, folder := range []string{base, dir, victim} {
				if err := os.Mkdir(folder, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			secret := filepath.Join(victim, "secret")
			err := errors.Join(os.WriteFile(secret, []byte("secret"), 0o600),
				os.Symlink(victim, filepath.Join(base, "link")), os.Symlink(secret, filepath.Join(base, "to-file")))
			if name == "hard" {
				err = errors.Join(err, os.Link(secret, filepath.Join(base, name)))
			}
			if err != nil {
				t.Fatal(err)
			}
			records := []storage.Record{{Number: 1, Kind: storage.Open, Ino: 7, Path: name},
				{Number: 2, Kind: storage.Rename, Flags: storage.Durable, Path: name, To: "stolen"},
				{Number: 3, Kind: storage.SyncAll, Before: 3}}
			_, err = image.Build(base, dir, records, image.Cut{At: 3, Seed: 1, Model: image.Ordered})
			t.Log(err)
			if text, _ := os.ReadFile(filepath.Join(dir, "stolen")); strings.Contains(string(text), "secret") {
				t.Errorf("the image has %q", text)
			}
		})
	}
}

// TestBuild_TouchesNothingOutside: the journal and the data belong to the server's user, and the builder may be root.
func TestBuild_TouchesNothingOutside(t *testing.T) {
	for name, records := range map[string][]storage.Record{
		"Upwards":    {{Kind: storage.Open, Flags: storage.Created | storage.Durable, Path: "../victim/made"}},
		"Absolute":   {{Kind: storage.Mkdir, Path: "/victim"}},
		"Renamed":    {{Kind: storage.Rename, Path: "own", To: "../victim/made"}},
		"ByALink":    {{Kind: storage.Open, Flags: storage.Created | storage.Durable, Path: "link/made"}},
		"ALink":      {{Kind: storage.Open, Flags: storage.Created | storage.Durable, Path: "to-file"}},
		"RemoveLink": {{Kind: storage.Rmdir, Flags: storage.Durable, Path: "link/kept"}},
	} {
		t.Run(name, func(t *testing.T) {
			all := t.TempDir()
			base, dir, victim := filepath.Join(all, "base"), filepath.Join(all, "data"), filepath.Join(all, "victim")
			for _, folder := range []string{base, dir, filepath.Join(victim, "kept")} {
				if err := os.MkdirAll(folder, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			kept := filepath.Join(victim, "kept", "file")
			if err := os.WriteFile(kept, []byte("kept"), 0o600); err != nil {
				t.Fatal(err)
			}
			for link, to := range map[string]string{"link": victim, "to-file": kept} {
				if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
					t.Fatal(err)
				}
			}
			for i := range records {
				records[i].Number, records[i].Ino = uint64(i)+1, 7
			}
			_, err := image.Build(base, dir, records, image.Cut{At: 1, Seed: 1, Model: image.Ordered})
			t.Log(err)
			text, readErr := os.ReadFile(kept)
			entries, _ := os.ReadDir(victim)
			if readErr != nil || string(text) != "kept" || len(entries) != 1 {
				t.Errorf("the victim has %q %v, %v; %v", text, readErr, entries, err)
			}
		})
	}
}
