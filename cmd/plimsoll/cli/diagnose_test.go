package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/lab/diagnose"
)

func TestDiagnose(t *testing.T) {
	dsn := clustertest.Database(t).Secret()
	t.Run("PrintsAReport", func(t *testing.T) {
		o := plimsoll(t, "diagnose", "--dsn", dsn, "--duration", "1s")
		o.want(t, ExitOK)
		if !strings.Contains(o.stdout, "not the problem: ") && !strings.Contains(o.stdout, "no session was active") ||
			strings.Count(o.stdout, "\n") > 25 {
			t.Errorf("stdout:\n%s", o.stdout)
		}
		o = plimsoll(t, "diagnose", "--dsn", dsn, "--duration", "1s", "--details")
		if o.want(t, ExitOK); !strings.Contains(o.stdout, "WHERE THE TIME GOES") {
			t.Errorf("stdout:\n%s", o.stdout)
		}
	})
	t.Run("PrintsJSON", func(t *testing.T) {
		page := filepath.Join(t.TempDir(), "diagnosis.html")
		o := plimsoll(t, "diagnose", "--dsn", dsn, "--duration", "1s", "--json", "--html", page)
		o.want(t, ExitOK)
		if text, err := os.ReadFile(page); err != nil || !strings.Contains(string(text), "Where the time goes") {
			t.Errorf("%v, %d bytes", err, len(text))
		}
		var d diagnose.Diagnosis
		if err := json.Unmarshal([]byte(o.stdout), &d); err != nil || d.Schema != diagnose.Schema {
			t.Errorf("%v, schema %q", err, d.Schema)
		}
	})
	t.Run("Against", func(t *testing.T) {
		kept := filepath.Join(t.TempDir(), "kept.json")
		o := plimsoll(t, "diagnose", "--dsn", dsn, "--duration", "1s", "--json")
		o.want(t, ExitOK)
		if err := os.WriteFile(kept, []byte(o.stdout), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, other := range []string{kept, dsn} {
			o := plimsoll(t, "diagnose", "--dsn", dsn, "--duration", "1s", "--against", other)
			o.want(t, ExitOK)
			if !strings.Contains(o.stdout, "AGAINST ") || other == dsn && strings.Contains(o.stdout, dsn) {
				t.Errorf("%s: stdout:\n%s", other, o.stdout)
			}
		}
		plimsoll(t, "diagnose", "--dsn", dsn, "--duration", "1s", "--against", kept+".no").want(t, ExitUsage)
		plimsoll(t, "diagnose", "--dsn", dsn, "--duration", "1s", "--against",
			"postgres://127.0.0.1:1/nowhere?sslmode=disable").want(t, ExitEnvironment)
	})
	t.Run("NeedsAServer", func(t *testing.T) {
		o := plimsoll(t, "diagnose", "--dsn", "postgres://127.0.0.1:1/nowhere?sslmode=disable", "--duration", "1s")
		o.want(t, ExitEnvironment)
		if !strings.Contains(o.stderr, "hint: ") || o.stdout != "" {
			t.Errorf("stderr %q, stdout %q", o.stderr, o.stdout)
		}
	})
	t.Run("WatchesForASecondAtLeast", func(t *testing.T) {
		plimsoll(t, "diagnose", "--dsn", dsn, "--duration", "1ms").want(t, ExitUsage)
		plimsoll(t, "diagnose", "--dsn", dsn, "--rate", "101").want(t, ExitUsage)
	})
}
