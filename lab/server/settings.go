package server

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
)

// Settings are the names that a server knows without extensions.
type Settings map[string]bool

// Has says whether the server knows a setting.
func (s Settings) Has(name string) bool { return s[name] }

// Settings asks the server's program, so that what only some version or
// patchset knows is written only for it.
func (s Server) Settings(ctx context.Context) (Settings, error) {
	postgres, err := s.Program("postgres")
	if err != nil {
		return nil, err
	}
	out, err := exec.CommandContext(ctx, postgres, "--describe-config").Output()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("ask %s for its settings: %w", s, err)
	}
	known := Settings{}
	for line := range strings.Lines(string(out)) {
		name, _, _ := strings.Cut(line, "\t")
		known[name] = true
	}
	return known, nil
}
