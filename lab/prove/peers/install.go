package peers

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Versions that are compared, from the registries of their languages.
const (
	locustVersion = "2.47.0"
	k6Module      = "go.k6.io/k6"
	k6Version     = "v1.8.1"
)

// Install returns the program of a tool, and builds or fetches it if it is missing.
type Install func(ctx context.Context, folder string) (program string, err error)

func locustFromPip(ctx context.Context, folder string) (string, error) {
	venv := filepath.Join(folder, "locust-"+locustVersion)
	return installOnce(filepath.Join(venv, "bin", "locust"), func() error {
		if err := sh(ctx, nil, "python3", "-m", "venv", venv); err != nil {
			return err
		}
		return sh(ctx, nil, filepath.Join(venv, "bin", "pip"), "install", "--quiet", "--disable-pip-version-check",
			"locust=="+locustVersion)
	})
}

func k6FromGo(ctx context.Context, folder string) (string, error) {
	bin := filepath.Join(folder, "k6-"+k6Version)
	return installOnce(filepath.Join(bin, "k6"), func() error {
		return sh(ctx, []string{"GOBIN=" + bin, "GOFLAGS=", "CGO_ENABLED=0"}, "go", "install", "-trimpath",
			k6Module+"@"+k6Version)
	})
}

// installOnce runs an installation unless it was done. A failed one does not count: the program is moved to its place
// last.
func installOnce(program string, fetch func() error) (string, error) {
	if _, err := os.Stat(program); !errors.Is(err, fs.ErrNotExist) {
		return program, err
	}
	return program, fetch()
}

// sh runs a command; its error ends with the last line of output.
func sh(ctx context.Context, env []string, name string, arguments ...string) error {
	cmd := exec.CommandContext(ctx, name, arguments...)
	cmd.Env = append(os.Environ(), env...)
	output, err := cmd.CombinedOutput()
	if err == nil {
		return nil
	}
	lines := strings.Split(strings.TrimSpace(string(output)), "\n")
	return fmt.Errorf("%s %s: %w: %s", filepath.Base(name), arguments[0], err, lines[len(lines)-1])
}
