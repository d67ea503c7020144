package installation

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"

	"plimsoll/ground/host/dirs"
)

// links are the folders that link to our builds by flavour: first this checkout's, so that two checkouts with different
// patch series do not run each other's, then the newest of any.
func links() []string {
	engines := filepath.Join(dirs.Cache(), "engine")
	newest := filepath.Join(engines, "current")
	root := checkout()
	if root == "" {
		return []string{newest}
	}
	// engine/lib/dirs.sh computes the same name.
	name := sha256.Sum256([]byte(root))
	return []string{filepath.Join(engines, "checkout", hex.EncodeToString(name[:])[:12]), newest}
}

// checkout is the source tree that contains the program, or else the working directory; empty: neither is one.
func checkout() string {
	var starts []string
	if program, err := os.Executable(); err == nil {
		starts = append(starts, filepath.Dir(program))
	}
	if here, err := os.Getwd(); err == nil {
		starts = append(starts, here)
	}
	for _, dir := range starts {
		dir, err := filepath.EvalSymlinks(dir)
		for ; err == nil && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
			if _, err := os.Stat(filepath.Join(dir, "engine", "build")); err == nil {
				return dir
			}
		}
	}
	return ""
}
