package image_test

import (
	"os"
	"path/filepath"
	"testing"

	"plimsoll/lab/crash/image"
	"plimsoll/lab/postgres/storage"
)

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
			err := image.Build(base, dir, records, image.Cut{At: 1, Seed: 1, Model: image.Ordered},
				func(string) error { return nil })
			t.Log(err)
			text, readErr := os.ReadFile(kept)
			entries, _ := os.ReadDir(victim)
			if readErr != nil || string(text) != "kept" || len(entries) != 1 {
				t.Errorf("the victim has %q %v, %v; %v", text, readErr, entries, err)
			}
		})
	}
}
