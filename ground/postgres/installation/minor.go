package installation

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
)

//go:embed releases.txt
var releasesText string

// Release is a minor release of PostgreSQL: what a server of an older one lacks.
type Release struct {
	Version string `json:"version"`
	Date    string `json:"date"`
	Mends   string `json:"mends"`
	words   []string
}

// releases, as the file has them.
func releases() (all []Release) {
	for line := range strings.Lines(releasesText) {
		fields := strings.Split(strings.TrimSpace(line), "|")
		if strings.HasPrefix(line, "#") || len(fields) != 4 {
			continue
		}
		for i := range fields {
			fields[i] = strings.TrimSpace(fields[i])
		}
		all = append(all, Release{Version: fields[0], Date: fields[1], Mends: fields[3],
			words: strings.Fields(fields[2])})
	}
	return all
}

// Missing are the known minor releases of its major version that are later than this server, oldest first.
func (s Server) Missing() (later []Release) {
	for _, r := range releases() {
		if n := number(r.Version); n/10000 == s.Major() && n > s.VersionNum {
			later = append(later, r)
		}
	}
	return later
}

// MissingNote tells a user which known fixes this server lacks; empty: none.
func (s Server) MissingNote() string {
	var lines []string
	for _, r := range s.Missing() {
		lines = append(lines, fmt.Sprintf("note: PostgreSQL %s lacks the fixes of %s (%s): %s", s.Version, r.Version,
			r.Date, r.Mends))
	}
	return strings.Join(lines, "\n")
}

// DistrustsIncremental is the release that mends incremental backups of this server; false: they are as good as any.
func (s Server) DistrustsIncremental() (Release, bool) {
	for _, r := range s.Missing() {
		if slices.Contains(r.words, "incremental") {
			return r, true
		}
	}
	return Release{}, false
}
