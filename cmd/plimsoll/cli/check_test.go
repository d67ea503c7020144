package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/lab/conformance"
)

func TestCheck(t *testing.T) {
	dsn := clustertest.Start(t).DSN("").Secret()
	var r conformance.Report
	o := plimsoll(t, "check", "--for", "1c", "--dsn", dsn, "--json")
	o.decode(t, &r)
	code := ExitOK
	if r.Failed+r.Blocked > 0 { // this machine may lack the locales, and the engine the extensions
		code = ExitThreshold
	}
	o.want(t, code)
	if r.Schema != conformance.Schema || r.For != conformance.OneC || r.OK < 20 || len(r.Steps) < 60 {
		t.Errorf("%+v", r)
	}
	o = plimsoll(t, "check", "--dsn", dsn)
	o.want(t, code)
	if !strings.Contains(o.stdout, "ok      session.strings ") || !strings.Contains(o.stdout, "is dropped.") {
		t.Errorf("stdout:\n%s", o.stdout)
	}
	plimsoll(t, "check", "--for", "2c", "--dsn", dsn).want(t, ExitUsage, "1c")
	plimsoll(t, "check", "--dsn", "postgres://127.0.0.1:1/nowhere?sslmode=disable").want(t, ExitEnvironment, "hint: ")
}

func TestUp_OnOtherDisks(t *testing.T) {
	state := freshState(t)
	disk := func(name string) string {
		dir := filepath.Join(state, name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	up := []string{"up", "prod", "--profile", "1c", "--memory", "512MB", "--socket-only", "--tablespace"}
	plimsoll(t, append(up, "v81c_data")...).want(t, ExitUsage, "no name and folder", "v81c_data=/srv/data")
	plimsoll(t, append(up, "v81c_data="+filepath.Join(state, "none"))...).want(t, ExitEnvironment, "does not exist",
		"mount its disk")
	o := plimsoll(t, append(up, "v81c_data="+disk("data"), "--wal-dir", disk("wal"))...)
	o.want(t, ExitOK)
	t.Cleanup(func() { plimsoll(t, "down", "--all") })
	if !strings.Contains(o.stdout, "tablespace v81c_data in "+disk("data")) ||
		!strings.Contains(o.stdout, "write-ahead log in "+disk("wal")) {
		t.Errorf("stdout:\n%s", o.stdout)
	}
	var r conformance.Report
	plimsoll(t, "check", "--cluster", "prod", "--json").decode(t, &r)
	for _, s := range r.Steps {
		if strings.HasSuffix(s.Name, "tablespace_data") && s.Outcome != conformance.OK {
			t.Errorf("%+v", s)
		}
	}
	var b struct{ ID string }
	o = plimsoll(t, "backup", "prod", "--json")
	o.want(t, ExitOK)
	o.decode(t, &b)
	plimsoll(t, "backup", "prod", "--wal-dir", disk("wal")).want(t, ExitUsage, "--wal-dir applies only to")
	plimsoll(t, "backup", "restore", b.ID, "--tablespace", "v81c_data="+disk("other")).want(t, ExitOK)
	var restored struct {
		Tablespaces []cluster.Tablespace
		WalDir      string `json:"wal_dir"`
	}
	plimsoll(t, "up", "prod-restored", "--json").decode(t, &restored)
	if all := restored.Tablespaces; len(all) != 1 || all[0].Dir != disk("other") || restored.WalDir != disk("wal") {
		t.Errorf("%+v", restored)
	}
	plimsoll(t, "down", "--all").want(t, ExitOK)
	plimsoll(t, "destroy", "prod-restored", "--yes").want(t, ExitOK)
	plimsoll(t, "destroy", "prod", "--yes").want(t, ExitOK)
	for _, name := range []string{"data", "wal", "other", "clusters"} {
		entries, err := os.ReadDir(disk(name))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if e.IsDir() {
				t.Errorf("%s/%s is left", name, e.Name())
			}
		}
	}
}
