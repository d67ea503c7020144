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
}
