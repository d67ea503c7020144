package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/test/files"
)

type configAnswer struct {
	File     string
	Settings []struct {
		Key, From, Where, Env, Flag string
		Value                       any
	}
}

func (c configAnswer) setting(t *testing.T, key string) (value any, from, where string) {
	t.Helper()
	for _, s := range c.Settings {
		if s.Key == key {
			return s.Value, s.From, s.Where
		}
	}
	t.Fatalf("no setting %s in %+v", key, c.Settings)
	return
}

func writeConfig(t *testing.T, dir, text string) string {
	t.Helper()
	path := files.Write(t, dir, "plimsoll.toml", text)
	t.Setenv("PLIMSOLL_CONFIG", path)
	return path
}

func TestConfig_ShowsEachValueWithItsOrigin(t *testing.T) {
	path := writeConfig(t, freshState(t), "cluster = \"vanilla\"\n[run]\nusers = 300\nthink = \"20m\"\nseed = 7\n")
	t.Setenv("PLIMSOLL_RUN_SEED", "8")
	var got configAnswer
	plimsoll(t, "config", "--json", "run", "--duration", "5s").decode(t, &got)
	for _, want := range []struct {
		key         string
		value       any
		from, where string
	}{
		{"cluster", "vanilla", "file", path + ":1"},
		{"run.users", 300.0, "file", path + ":3"},
		{"run.think", "20m", "file", path + ":4"},
		{"run.seed", 8.0, "environment", "PLIMSOLL_RUN_SEED"},
		{"run.duration", "5s", "flag", "--duration"},
		{"run.ramp", "10s", "default", ""},
		{"run.target", 0.0, "default", ""},
		{"quiet", false, "default", ""},
	} {
		value, from, where := got.setting(t, want.key)
		if value != want.value || from != want.from || where != want.where {
			t.Errorf("%s is %v from %s %s, want %+v", want.key, value, from, where, want)
		}
	}
	if got.File != path {
		t.Errorf("file %q, want %q", got.File, path)
	}
	for _, s := range got.Settings {
		if strings.HasPrefix(s.Key, "up.") {
			t.Errorf("%s is no setting of run", s.Key)
		}
	}
}

func TestConfig_TableNamesFileLineAndVariable(t *testing.T) {
	path := writeConfig(t, freshState(t), "[run]\nusers = 300\n")
	t.Setenv("PLIMSOLL_UP_PORT", "5544")
	o := plimsoll(t, "config")
	o.want(t, ExitOK)
	for _, line := range []string{"run.users 300 " + path + ":2", "up.port 5544 PLIMSOLL_UP_PORT",
		"run.workers 1 default", `cluster "" default`} {
		if !strings.Contains(strings.Join(strings.Fields(o.stdout), " "), line) {
			t.Errorf("no line %q in\n%s", line, o.stdout)
		}
	}
}

func TestConfig_MistakesStopEveryCommandThatReadsSettings(t *testing.T) {
	path := writeConfig(t, freshState(t), "[run]\nusres = 300\n")
	for _, args := range [][]string{{"status"}, {"config"}, {"prove"}, {"run"}} {
		plimsoll(t, args...).want(t, ExitUsage, path+`:2: unknown key "run.usres"`, "hint: did you mean run.users?")
	}
	plimsoll(t, "help").want(t, ExitOK)
	writeConfig(t, filepath.Dir(path), "")
	t.Setenv("PLIMSOLL_COMPARE_SIDE", "A") // a comparison that runs plimsoll sets it
	plimsoll(t, "status").want(t, ExitOK)
	t.Setenv("PLIMSOLL_RUN_USRES", "5")
	plimsoll(t, "status").want(t, ExitUsage, "unknown environment variable PLIMSOLL_RUN_USRES",
		"hint: did you mean PLIMSOLL_RUN_USERS?")
}

func TestConfig_ConsentToDestroyIsNoSetting(t *testing.T) {
	freshState(t)
	var got configAnswer
	plimsoll(t, "config", "--json").decode(t, &got)
	for _, s := range got.Settings {
		switch s.Key {
		case "destroy.yes", "down.all", "prove.all", "config":
			t.Errorf("%s can be set in a file", s.Key)
		}
		if s.Env == "" || s.Flag == "" {
			t.Errorf("want a variable and a flag, got %+v", s)
		}
	}
}

func TestClusterOnTheCommandLine_GoesBeforeADSNFromTheEnvironment(t *testing.T) {
	freshState(t)
	t.Setenv("PLIMSOLL_DSN", "postgres://ann@127.0.0.1:1/erp")
	plimsoll(t, "audit", "--cluster", "nosuch").want(t, ExitUsage, `no cluster "nosuch"`)
	plimsoll(t, "audit").want(t, ExitEnvironment, "127.0.0.1")
}
