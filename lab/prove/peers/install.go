package peers

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"plimsoll/ground/human"
)

// Versions that are compared, from the registries of their languages.
const (
	locustVersion  = "2.47.0"
	k6Module       = "go.k6.io/k6"
	k6Version      = "v1.8.1"
	gatlingVersion = "3.15.1"
	ohaVersion     = "1.16.0"
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

// gatlingFromMaven compiles the load with Gatling's libraries. The program is the jar of the load, beside which they
// are. Another load is another folder.
func gatlingFromMaven(ctx context.Context, folder string) (string, error) {
	load := sha256.New()
	for _, name := range gatlingFiles {
		text, err := loads.ReadFile("loads/gatling/" + name)
		if err != nil {
			return "", err
		}
		load.Write(text)
	}
	into := filepath.Join(folder, fmt.Sprintf("gatling-%s-%.4x", gatlingVersion, load.Sum(nil)))
	return installOnce(filepath.Join(into, "target", "load.jar"), func() error {
		files, err := fs.Sub(loads, "loads/gatling")
		if err != nil {
			return err
		}
		if err := errors.Join(os.RemoveAll(into), os.CopyFS(into, files)); err != nil {
			return err
		}
		return sh(ctx, nil, "mvn", "package", "--batch-mode", "--quiet", "--file",
			filepath.Join(into, "pom.xml"), "-Dgatling.version="+gatlingVersion)
	})
}

func ohaFromCargo(ctx context.Context, folder string) (string, error) {
	root := filepath.Join(folder, "oha-"+ohaVersion)
	return installOnce(filepath.Join(root, "bin", "oha"), func() error {
		return sh(ctx, nil, "cargo", "install", "--quiet", "--locked", "--root", root, "oha@"+ohaVersion)
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
	if err != nil {
		return WithLastLine(fmt.Errorf("%s %s: %w", filepath.Base(name), arguments[0], err), output)
	}
	return nil
}

// WithLastLine adds to an error what the program said last.
func WithLastLine(err error, output []byte) error {
	last := strings.TrimSpace(human.LastLines(string(output), 1))
	if err == nil || last == "" {
		return err
	}
	return fmt.Errorf("%w: %s", err, last)
}
