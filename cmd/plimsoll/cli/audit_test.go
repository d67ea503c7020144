package cli

import (
	"testing"

	"plimsoll/ground/postgres/cluster/clustertest"
)

// A database without the ERP is no base with hundreds of violations.
func TestAudit_OfADatabaseWithoutTheERP(t *testing.T) {
	freshState(t)
	dsn := clustertest.Database(t).Secret()
	for _, command := range [][]string{{"audit"}, {"repair", "--dry-run"}, {"repair"}} {
		o := plimsoll(t, append(command, "--dsn", dsn)...)
		o.want(t, ExitUsage, "the database has none of the ERP's tables")
	}
}
