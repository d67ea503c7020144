package uninstall

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
)

// written are the files that a person has written with 'plimsoll completion' and 'plimsoll man', where shells and man
// look for them. Those of a package belong to the package.
func written() (paths []string) {
	for _, data := range dataFolders() {
		for _, place := range []string{"bash-completion/completions/plimsoll", "zsh/site-functions/_plimsoll",
			"fish/vendor_completions.d/plimsoll.fish", "man/man1/plimsoll*.1"} {
			paths = append(paths, oursAt(filepath.Join(data, place))...)
		}
	}
	if config, err := os.UserConfigDir(); err == nil {
		paths = append(paths, oursAt(filepath.Join(config, "fish/completions/plimsoll.fish"))...)
	}
	return paths
}

// dataFolders are those where a person writes: of the user, and of the machine without that of its packages.
func dataFolders() (all []string) {
	own := os.Getenv("XDG_DATA_HOME")
	if home, err := os.UserHomeDir(); err == nil && !filepath.IsAbs(own) {
		own = filepath.Join(home, ".local/share")
	}
	everybodys := cmp.Or(os.Getenv("XDG_DATA_DIRS"), "/usr/local/share")
	for _, folder := range append([]string{own}, filepath.SplitList(everybodys)...) {
		if filepath.IsAbs(folder) && filepath.Clean(folder) != "/usr/share" {
			all = append(all, folder)
		}
	}
	return all
}

// oursAt a place, which may have wildcards.
func oursAt(place string) (paths []string) {
	found, _ := filepath.Glob(place)
	for _, path := range found {
		if isOurs(path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// isOurs looks for what 'plimsoll completion' and 'plimsoll man' begin with.
func isOurs(path string) bool {
	text, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	begin, _, _ := bytes.Cut(text, []byte("\n"))
	begin = bytes.ToLower(begin)
	for _, sign := range []string{"completion", "#compdef", ".th "} {
		if bytes.Contains(begin, []byte(sign)) && bytes.Contains(begin, []byte("plimsoll")) {
			return true
		}
	}
	return false
}
