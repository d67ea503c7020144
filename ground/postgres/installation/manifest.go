package installation

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// ManifestFile lies in the prefix of every engine that we built.
const ManifestFile = "plimsoll-engine.json"

// manifest is the engine's build record; other keys in it are ignored here.
type manifest struct {
	Flavour  string `json:"flavour"`
	Patchset int    `json:"patchset"`
}

// readManifest is false for a prefix that we did not build.
func readManifest(prefix string) (m manifest, ours bool, err error) {
	text, err := os.ReadFile(filepath.Join(prefix, ManifestFile))
	if os.IsNotExist(err) {
		return m, false, nil
	}
	if err != nil {
		return m, false, fmt.Errorf("read engine manifest: %w", err)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, false, fmt.Errorf("read engine manifest in %s: %w", prefix, err)
	}
	return m, true, nil
}
