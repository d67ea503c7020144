// Package dirs names the folders that Plimsoll uses on this machine: the cache (can be rebuilt), the state (cannot) and
// the configuration file.
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

// ConfigFile is the configuration file that is read when none is named.
func ConfigFile() string {
	if file := os.Getenv("PLIMSOLL_CONFIG"); file != "" {
		return file
	}
	return filepath.Join(place("", "XDG_CONFIG_HOME", ".config", "/etc/plimsoll"), "plimsoll.toml")
}

// Private makes a folder of the state directory that only its owner may read. The server's user may pass through the
// state directory itself, to its data.
func Private(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if info, err := os.Stat(dir); err == nil && info.Mode().Perm()&0o077 != 0 {
		_ = os.Chmod(dir, 0o700) // made by an older version; if it belongs to another user, so does its content
	}
	return nil
}

// place looks at, in this order: our own variable; for root a fixed folder, because the server's ordinary user must
// reach it and cannot read root's home; XDG; the home folder.
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
