// Package applications starts applications of others, as their registries have them, each on a database of its own:
// what tests record in a browser and load.
package applications

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/test/patience"
)

// Application under test.
type Application struct {
	Base string // its address
	DSN  string // of its database
}

// folder of this package.
func folder() string {
	_, file, _, _ := runtime.Caller(0)
	if !filepath.IsAbs(file) { // built without the paths of this clone: tests run in the package's folder
		file, _ = filepath.Abs("applications.go")
	}
	return filepath.Dir(file)
}

// installed is where the setup has put an application. Without its registry the test is skipped, on CI it fails.
func installed(t *testing.T, name string) string {
	t.Helper()
	var said bytes.Buffer
	setup := exec.CommandContext(t.Context(), filepath.Join(folder(), "setup"), name)
	setup.Stderr = &said
	where, err := setup.Output()
	if err == nil {
		return strings.TrimSpace(string(where))
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s on CI: %v\n%s", name, err, said.String())
	}
	t.Skipf("SKIPPED: no %s to load: %s", name, said.String())
	return ""
}

// Django is an office: its admin under /admin/, and a shop under /shop/ with an interface of JSON and tokens under
// /api/. Its users are alice, bob and carol; DjangoPassword is how they log in. It answers 32 requests at once, so that
// one operation that waits does not hold up the others.
func Django(t *testing.T) *Application {
	t.Helper()
	python := filepath.Join(installed(t, "django"), "bin", "python")
	dsn := clustertest.Database(t).Secret()
	environment := append(postgres(t, dsn), "DJANGO_SETTINGS_MODULE=office.settings", "PYTHONDONTWRITEBYTECODE=1",
		"PYTHONPATH="+filepath.Join(folder(), "django"))
	run(t, environment, python, "-m", "office.fill")
	port := freePort(t)
	return &Application{DSN: dsn, Base: serve(t, environment, port, "/shop/", python, "-m", "gunicorn", "--bind",
		"127.0.0.1:"+port, "--threads", "32", "--access-logfile", "/dev/null", "--log-level", "warning",
		"django.core.wsgi:get_wsgi_application()")}
}

// DjangoPassword of a user of Django.
func DjangoPassword(user string) string { return user + "'s secret & more" }

// postgres is the environment by which clients find a database.
func postgres(t *testing.T, dsn string) []string {
	t.Helper()
	c, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	return append(os.Environ(), "PGHOST="+c.Host, fmt.Sprintf("PGPORT=%d", c.Port), "PGDATABASE="+c.Database,
		"PGUSER="+c.User, "PGPASSWORD="+c.Password)
}

func run(t *testing.T, environment []string, name string, args ...string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), name, args...)
	c.Env, c.Dir = environment, t.TempDir()
	if said, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, said)
	}
}

// freePort was free a moment ago.
func freePort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// serve starts a server, which ends with the test, and waits until it answers.
func serve(t *testing.T, environment []string, port, path, name string, args ...string) string {
	t.Helper()
	var said bytes.Buffer
	server := exec.Command(name, args...)
	server.Env, server.Dir, server.Stdout, server.Stderr = environment, t.TempDir(), &said, &said
	server.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = server.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		_ = syscall.Kill(-server.Process.Pid, syscall.SIGKILL) // its workers too
		<-ended
	})
	base := "http://127.0.0.1:" + port
	patience.Until(t, name+" answers", func() bool {
		select {
		case <-ended:
			t.Fatalf("%s ended:\n%s", name, said.String())
		default:
		}
		answer, err := http.Get(base + path)
		if err != nil {
			return false
		}
		answer.Body.Close()
		return answer.StatusCode < 500
	})
	return base
}
