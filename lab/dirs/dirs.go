// Package dirs owns where Plimsoll keeps things on this machine: the cache (what
// can be built again), the state (what cannot) and the configuration file.
package dirs

import (
	"os"
	"path/filepath"
)

// Cache holds engine builds and fetched source.
func Cache() string {
	return place("PLIMSOLL_CACHE", "XDG_CACHE_HOME", ".cache", "/var/cache/plimsoll")
}

// State holds clusters, runs and the verdicts on claims.
func State() string {
	return place("PLIMSOLL_STATE", "XDG_STATE_HOME", ".local/state", "/var/lib/plimsoll")
}

// ConfigFile is where the configuration is read from when no file is named.
func ConfigFile() string {
	if file := os.Getenv("PLIMSOLL_CONFIG"); file != "" {
		return file
	}
	return filepath.Join(place("", "XDG_CONFIG_HOME", ".config", "/etc/plimsoll"), "plimsoll.toml")
}

// place follows one order: our own variable; root's fixed folder, because the
// server's ordinary user must reach it and cannot look into root's home; XDG; home.
func place(own, xdg, home, root string) string {
	if dir := os.Getenv(own); own != "" && dir != "" {
		return dir
	}
	if os.Geteuid() == 0 {
		return root
	}
	if dir := os.Getenv(xdg); filepath.IsAbs(dir) {
		return filepath.Join(dir, "plimsoll")
	}
	dir, err := os.UserHomeDir()
	if err != nil {
		return filepath.Join(os.TempDir(), "plimsoll")
	}
	return filepath.Join(dir, home, "plimsoll")
}
