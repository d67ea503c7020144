package system_test

import (
	"testing"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/lab/load/scenario"
	"plimsoll/lab/system"
)

func TestResetIsChosenByWhatThereIs(t *testing.T) {
	plain, changed := scenario.Default(), scenario.Default()
	changed.Own.Reset = "TRUNCATE x"
	for _, c := range []struct {
		name    string
		asked   system.Reset
		s       *scenario.Scenario
		dsn     string
		foreign bool
		want    system.Reset
		fails   bool
	}{
		{"Copy", system.ResetAuto, plain, clustertest.Database(t).Secret(), false, system.ResetCopy, false},
		{"TheScenariosOwn", system.ResetAuto, changed, "dbname=x", false, system.ResetSQL, false},
		{"NoneUnderForeignWorkers", system.ResetAuto, plain, "dbname=x", true, system.ResetNone, false},
		{"NoneWithoutADatabase", system.ResetAuto, plain, "", false, system.ResetNone, false},
		{"CopyUnderForeignWorkers", system.ResetCopy, plain, "dbname=x", true, "", true},
		{"SQLWithoutSQL", system.ResetSQL, plain, "dbname=x", false, "", true},
		{"NoneIsNone", system.ResetNone, changed, "dbname=x", false, system.ResetNone, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.asked.Choose(t.Context(), c.s, c.dsn, c.foreign)
			if (err != nil) != c.fails || !c.fails && got != c.want {
				t.Errorf("%s, %v", got, err)
			}
		})
	}
}
