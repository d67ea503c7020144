package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/erp/fill"
	"plimsoll/erp/fill/filltest"
	"plimsoll/lab/run/result"
	"plimsoll/lab/run/worker"
	"plimsoll/test/certificate"
)

// BenchmarkProtectedUsers makes real runs on a worker that encrypts and asks for passwords: each user has a connection
// with TLS and a session that a password opened.
//
//	go test ./cmd/plimsoll/cli -run '^$' -bench 'ProtectedUsers/300$' -benchtime 1x
//	go test ./cmd/plimsoll/cli -run '^$' -bench ProtectedUsers/30000 -benchtime 1x -timeout 2h
//
// It fails where an operation fails, the books are wrong, or acknowledged and found writes differ, and logs the score,
// the reasons of a run that is not valid, and what generator, worker and database hold with and without users.
func BenchmarkProtectedUsers(b *testing.B) {
	state, err := os.MkdirTemp("", "plimsoll-cli-")
	if err == nil {
		err = os.Chmod(state, 0o755)
	}
	if err != nil {
		b.Fatal(err)
	}
	defer os.RemoveAll(state)
	b.Setenv("PLIMSOLL_STATE", state)
	b.Setenv("PLIMSOLL_CONFIG", os.DevNull)
	b.Setenv("PLIMSOLL_DSN", filltest.Copy(b, "small", fill.Options{Items: 200, Counterparties: 100, Documents: 300}))
	authority := certificate.New(b)
	cert, key := authority.Issue(b, "worker")
	password := filepath.Join(state, "password")
	if err := os.WriteFile(password, []byte("correct horse battery\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	command := func(args ...string) (stdout string) {
		var out, errs bytes.Buffer
		if code := Exec(b.Context(), args, strings.NewReader(""), &out, &errs); code != ExitOK &&
			code != ExitThreshold {
			b.Fatalf("%v: exit code %d: %s", args, code, &errs)
		}
		return out.String()
	}
	command("passwd", "--all", "--password-file", password)
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	const many = "1000000"
	w, err := worker.Start(b.Context(), []string{self, "serve", "--listen", "127.0.0.1:0", "--jobs", "0", "--json",
		"--passwords", "--tls-cert", cert, "--tls-key", key, "--user-sessions", many}, nil, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer w.Stop()
	for _, users := range []int{300, 5000, 30_000} {
		b.Run(fmt.Sprint(users), func(b *testing.B) {
			began := time.Now()
			var r result.Result
			if err := json.Unmarshal([]byte(command("run", "--url", w.URL, "--url-ca", authority.File,
				"--password-file",
				password, "--users", fmt.Sprint(users), "--think", "10m", "--ramp", "30s", "--duration", "1m",
				"--disturbed-limit", "1", "--json")), &r); err != nil {
				b.Fatal(err)
			}
			if r.Users != users || r.Errors+r.Overload > 0 || !r.Audit.Clean || r.Ops == 0 {
				b.Errorf("%d users, %d operations, %d errors, %d overload, books clean: %v; %q", r.Users, r.Ops,
					r.Errors, r.Overload, r.Audit.Clean, r.InvalidReasons)
			}
			b.ReportMetric(0, "ns/op")                              // the length of the run has no meaning
			b.ReportMetric(time.Since(began).Seconds(), "s-in-all") // of it 90 s ramp and steady state
			if bytes := r.Generator.UsersBytes; bytes != nil {
				b.ReportMetric(*bytes, "B/user") // an estimate
			}
			for _, f := range r.Footprints {
				b.Logf("%s (%s): %.1f MB before log-in, %.1f MB with %d sessions, %.1f MB under load", f.Of, f.Measure,
					f.BeforeLogIn/1e6, f.AfterLogIn/1e6, f.Users, *f.UnderLoad/1e6)
			}
			if r.Reconciliation == nil || !r.Reconciliation.Done ||
				slices.ContainsFunc(r.Reconciliation.Rows, result.Reconciled.Differs) {
				b.Errorf("acknowledged and found differ: %+v", r.Reconciliation)
			}
			b.Logf("valid %v %q, processors: %s", r.Valid, r.InvalidReasons, shares(r.Conditions.CPU))
			if r.Apdex != nil {
				b.ReportMetric(*r.Apdex, "Apdex")
			}
			b.ReportMetric(r.OpsPerS, "operations/s")
			b.ReportMetric(r.Generator.LagMSP99, "lag-p99-ms")
			b.ReportMetric(float64(r.Ops), "operations")
		})
	}
}

// shares of all processors in words.
func shares(c result.CPU) string {
	text := ""
	for _, one := range []struct {
		name  string
		share *float64
	}{{"generator", c.Generator}, {"worker", c.Workers}, {"database", c.Database}, {"machine", c.Machine}} {
		if one.share != nil {
			text += fmt.Sprintf("%s %.0f %% ", one.name, 100**one.share)
		}
	}
	return strings.TrimSpace(text)
}
