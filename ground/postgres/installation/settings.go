package installation

import (
	"context"
	"fmt"
	"os"
	"strings"
)

// Settings are those that a server's program lists without extensions.
type Settings struct {
	ctx      context.Context
	server   Server
	postgres string
	known    map[string]bool
	err      error
}

// Settings asks the server's program, so that settings of one version or patchset are written only for it.
func (s Server) Settings(ctx context.Context) (*Settings, error) {
	postgres, err := s.Program("postgres")
	if err != nil {
		return nil, err
	}
	out, _, err := runProgram(ctx, postgres, "--describe-config")
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("read the settings of %s: %w", s, err)
	}
	known := map[string]bool{}
	for line := range strings.Lines(out) {
		name, _, _ := strings.Cut(line, "\t")
		known[name] = true
	}
	return &Settings{ctx: ctx, server: s, postgres: postgres, known: known}, nil
}

// Has says whether the server knows a setting. The program's list omits settings that the sample file omits, so those
// are queried by name.
func (s *Settings) Has(name string) bool {
	if known, asked := s.known[name]; asked || s.err != nil {
		return known
	}
	s.known[name] = s.serverAccepts(name)
	return s.known[name]
}

// Err is the error of a query, if any; Has was then false.
func (s *Settings) Err() error { return s.err }

// Accepts says whether the server accepts a value of a setting that it has: it may have been built without it.
func (s *Settings) Accepts(name, value string) bool {
	return s.err == nil && s.serverAccepts(name, "-c", name+"="+value)
}

// serverAccepts needs no cluster: the configuration files that the program wants are empty.
func (s *Settings) serverAccepts(name string, given ...string) bool {
	_, output, err := runProgram(s.ctx, s.postgres, append([]string{"-C", name, "-c", "config_file=" + os.DevNull, "-c",
		"data_directory=/", "-c", "hba_file=" + os.DevNull, "-c", "ident_file=" + os.DevNull}, given...)...)
	switch {
	case err == nil:
		return true
	case s.ctx.Err() != nil:
		s.err = s.ctx.Err()
	case strings.Contains(output, "invalid value for parameter"):
	case !strings.Contains(output, "unrecognized configuration parameter"):
		s.err = fmt.Errorf("read from %s its setting %s: %w: %s", s.server, name, err, strings.TrimSpace(output))
	}
	return false
}
