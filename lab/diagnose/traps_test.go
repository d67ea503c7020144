package diagnose

import (
	"testing"
	"time"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/postgres/counters"
	"plimsoll/test/patience"
)

// A user who may create objects in a database must not be able to make a superuser run them by diagnosing it.
func TestRun_RunsNothingThatAUserOfTheDatabasePlanted(t *testing.T) {
	dsn := clustertest.Database(t).Secret()
	sprung := clustertest.Traps(t, dsn)
	for name, at := range map[string]string{"Directly": dsn, "ThroughAPooler": clustertest.Pooler(t, dsn)} {
		t.Run(name, func(t *testing.T) {
			d, err := Run(patience.Context(t), Options{DSN: at, Duration: time.Second, Rate: RateDefault})
			if err != nil {
				t.Fatal(err)
			}
			if d.Cost.Samples == 0 {
				t.Error("nothing was sampled")
			}
			for _, s := range d.Unavailable {
				if s.Name == counters.Databases || s.Name == counters.WAL {
					t.Errorf("%+v is unavailable, want it read", s)
				}
			}
			if told := sprung(); len(told) > 0 {
				t.Errorf("it ran %d times what a user had planted, such as %q", len(told), told[0])
			}
		})
	}
}

// What a diagnosis sets for itself must not stay for the application that has the pooler's process next.
func TestRun_LeavesAPoolersProcessesAsTheyWere(t *testing.T) {
	dsn := clustertest.Pooler(t, clustertest.Database(t).Secret())
	if _, err := Run(patience.Context(t), Options{DSN: dsn, Duration: time.Second, Rate: RateDefault}); err != nil {
		t.Error(err)
	}
	for name, value := range map[string]string{"default_transaction_read_only": "off", "statement_timeout": "0"} {
		for _, found := range clustertest.Pooled(t, dsn, name) {
			if found != value {
				t.Errorf("the next client finds %s = %s", name, found)
			}
		}
	}
}
