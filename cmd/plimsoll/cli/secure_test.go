package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/erp/fill"
	"plimsoll/erp/fill/filltest"
	"plimsoll/lab/run/result"
	"plimsoll/lab/run/worker"
	"plimsoll/test/certificate"
	"plimsoll/test/files"
)

// A load on a worker that asks for passwords and encrypts, from this process and from agents; and what is said when
// something of it is wrong or limited. No secret is in anything that is printed or kept.
func TestRunAgainstAProtectedWorker(t *testing.T) {
	state := freshState(t)
	t.Setenv("PLIMSOLL_DSN", filltest.Copy(t, "small",
		fill.Options{Items: 200, Counterparties: 100, Organisations: 1, Documents: 300}))
	a := certificate.New(t)
	cert, key := a.Issue(t, "worker")
	file := func(name, text string) string {
		path := files.Write(t, t.TempDir(), name, text+"\n")
		return path
	}
	const secretText, token = "correct horse battery", "token of the figures"
	right, wrong := file("password", secretText), file("wrong", "incorrect horse")

	plimsollWith(t, t.Context(), secretText+"\n", nil, "passwd", "--all").want(t, ExitOK)
	plimsoll(t, "passwd", "--all", "--password-file", right).want(t, ExitOK)
	plimsoll(t, "passwd", "u99999", "--password-file", right).want(t, ExitUsage, `no user "u99999"`)
	plimsollWith(t, t.Context(), "short\n", nil, "passwd", "u00001").want(t, ExitUsage, "fewer than 12")

	serve := func(more ...string) string {
		t.Helper()
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		command := []string{self, "serve", "--listen", "127.0.0.1:0", "--jobs", "0", "--json", "--passwords",
			"--tls-cert", cert, "--tls-key", key, "--metrics-token-file", file("token", token)}
		w, err := worker.Start(t.Context(), append(command, more...), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(w.Stop)
		if !strings.HasPrefix(w.URL, "https://") {
			t.Fatalf("it listens on %s", w.URL)
		}
		return w.URL
	}
	url := serve("--events", filepath.Join(state, "events.jsonl"))
	load := func(url string, more ...string) outcome {
		t.Helper()
		return plimsoll(t, append([]string{"run", "--url", url, "--users", "20", "--think", "200ms", "--ramp", "1s",
			"--duration", "2s", "--json"}, more...)...)
	}
	for name, more := range map[string][]string{"ThisProcess": nil, "Agents": {"--agents", "local:2", "--agents-listen",
		"127.0.0.1:0"}} {
		t.Run(name, func(t *testing.T) {
			o := load(url, append(more, "--url-ca", a.File, "--password-file", right)...)
			o.wantRun(t)
			var r result.Result
			if o.decode(t, &r); r.Ops == 0 || r.Errors > 0 || !r.Audit.Clean {
				t.Errorf("%d operations, %d errors", r.Ops, r.Errors)
			}
		})
	}
	t.Run("WithoutThePassword", func(t *testing.T) {
		load(url, "--url-ca", a.File).want(t, ExitEnvironment, "password", "--password-file")
	})
	t.Run("WithAWrongOne", func(t *testing.T) {
		load(url, "--url-ca", a.File, "--password-file", wrong).want(t, ExitEnvironment, "--password-file")
	})
	t.Run("WithoutTheAuthority", func(t *testing.T) {
		load(url, "--password-file", right).want(t, ExitEnvironment, "certificate", "--url-ca")
	})
	t.Run("Limited", func(t *testing.T) {
		load(serve("--address-sessions", "5"), "--url-ca", a.File, "--password-file", right).want(t, ExitEnvironment,
			"too many sessions", "--address-sessions")
	})
	t.Run("TakenAway", func(t *testing.T) {
		plimsoll(t, "passwd", "--remove", "--all").want(t, ExitOK)
		load(serve(), "--url-ca", a.File, "--password-file", right).want(t, ExitEnvironment, "password",
			"hint", "--password-file")
	})
	nothingSecret(t, state, secretText, token, "incorrect horse")
}

// nothingSecret is in the files of the state directory: results, logs, journals.
func nothingSecret(t *testing.T, state string, secrets ...string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(state, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		files++
		text, err := os.ReadFile(path)
		for _, one := range secrets {
			if strings.Contains(string(text), one) {
				t.Errorf("%s has %q", path, one)
			}
		}
		return err
	})
	if err != nil || files < 5 {
		t.Errorf("%d files, %v", files, err)
	}
}
