package cli

import (
	"strings"
	"testing"

	"plimsoll/lab/load/onec"
)

func TestLoad_Of1CIsPrintedAndRefusesWhatItLacks(t *testing.T) {
	freshState(t)
	printed := plimsoll(t, "scenario", "--load", "1c")
	printed.want(t, ExitOK)
	for _, op := range onec.Operations() {
		if !strings.Contains(printed.stdout, `[operations."`+op.ID+`"]`) {
			t.Errorf("lacks %s:\n%s", op.ID, printed.stdout)
		}
	}
	plimsoll(t, "fill", "--load", "1c", "--streams", "2").want(t, ExitUsage, "--streams", "applies only to the ERP's")
	plimsoll(t, "audit", "--load", "1c", "--sample", "1%").want(t, ExitUsage, "--sample", "applies only to the ERP's")
	plimsoll(t, "run", "--load", "1c", "--workers", "2").want(t, ExitUsage, "--workers", "applies only to ERP")
	plimsoll(t, "run", "--load", "1c+lean").want(t, ExitUsage, "must be one of erp, 1c, 1c+plain")
	plimsoll(t, "line", "--load", "1c", "--configurations", "a+plain,b+lean").want(t, ExitUsage,
		`"lean" is no outfit of a 1C load`)
	plimsoll(t, "run", "--pgbench", "tpcb-like", "--write-log", "day").want(t, ExitUsage,
		"--write-log is the log of the ERP or of a 1C load", "log_min_duration_statement = 0")
	plimsoll(t, "run", "--dsn", "postgres://x/y", "--write-log", "day").want(t, ExitUsage,
		"--write-log needs a local cluster")
}

func TestReplay_RefusesWhatHasNoEffect(t *testing.T) {
	freshState(t)
	log := t.TempDir()
	plimsoll(t, "compare", "a", "b", "--speed", "4").want(t, ExitUsage, "--speed is about a replay", "add --replay LOG")
	plimsoll(t, "compare", "a", "b", "--replay", log, "--users", "9").want(t, ExitUsage, "the log is the load")
	plimsoll(t, "compare", "a", "b", "--replay", log, "--speed", "max").want(t, ExitUsage, "no score to compare")
	plimsoll(t, "compare", "a", "b", "--replay", log).want(t, ExitUsage, "no log there")
	plimsoll(t, "replay", log, "--dsn", "postgres://x/y", "--yes", "--mask-base").want(t, ExitUsage, "add --mask FILE")
	plimsoll(t, "replay", log, "--dsn", "postgres://x/y", "--yes", "--mask", log+"/none").want(t, ExitUsage,
		"read rules", "columns = [")
}
