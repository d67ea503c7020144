package system_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"plimsoll/erp/fill"
	"plimsoll/ground/postgres"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/lab/system"
)

func store(t *testing.T) *cluster.Store {
	t.Helper()
	return cluster.Open(clustertest.State(t))
}

type progressLog struct{ all []string }

func (s *progressLog) say(format string, args ...any) {
	s.all = append(s.all, fmt.Sprintf(format, args...))
}

// spec of the clusters that tests make.
func spec() cluster.Spec { return clustertest.Copied(clustertest.Spec()) }

func local(s *cluster.Store, t *progressLog) system.Local {
	return system.Local{
		Clusters: s,
		Fill:     fill.Options{Items: 20, Warehouses: 2, Counterparties: 10, Users: 3, Organisations: 1, Documents: 30},
		Say:      t.say,
	}
}

func TestRig(t *testing.T) {
	ctx, clusters := context.Background(), store(t)

	t.Run("MakesWhatIsMissingAndStopsIt", func(t *testing.T) {
		var said progressLog
		r, err := local(clusters, &said).Rig(ctx, "test", spec())
		if err != nil {
			t.Fatal(err)
		}
		if len(said.all) != 3 || strings.Contains(fmt.Sprint(said.all), "no copy") || !r.Started() {
			t.Errorf("said %q, started %v", said.all, r.Started())
		}
		base, err := system.Look(ctx, r.DSN().Secret())
		if scale := base.String(); err != nil || !strings.Contains(scale, " documents, ") ||
			!strings.Contains(scale, "20 items") || !strings.Contains(scale, "3 users") {
			t.Errorf("scale %s, %v", base, err)
		}
		if _, there, err := postgres.Filled.Find(ctx, r.DSN().Secret()); err != nil || !there {
			t.Errorf("the copy to go back to: %v, %v", there, err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if s := r.Cluster().Status(ctx); s.State != cluster.Stopped {
			t.Errorf("%s after Close", s.State)
		}
	})

	t.Run("LeavesAloneWhatSomebodyElseKeepsUp", func(t *testing.T) {
		c, err := clusters.Find("test")
		if err != nil {
			t.Fatal(err)
		}
		server, err := c.Start(ctx, cluster.StartOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = server.Stop(ctx, cluster.Immediate) }()
		var said progressLog
		r, err := local(clusters, &said).Rig(ctx, "test", spec())
		if err != nil {
			t.Fatal(err)
		}
		if len(said.all) != 0 || r.Started() {
			t.Errorf("said %q, started %v", said.all, r.Started())
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if s := c.Status(ctx); s.State != cluster.Running {
			t.Errorf("%s after Close", s.State)
		}
	})

	t.Run("RefusesASecondLoadUntilTheFirstHasEnded", func(t *testing.T) {
		first, err := local(clusters, &progressLog{}).Rig(ctx, "test", spec())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := local(clusters, &progressLog{}).Rig(ctx, "test", spec()); err == nil ||
			!strings.Contains(err.Error(), fmt.Sprintf("pid %d", os.Getpid())) {
			t.Errorf("second load: %v", err)
		}
		if s := first.Cluster().Status(ctx); s.State != cluster.Running {
			t.Errorf("%s after the second was refused", s.State)
		}
		if err := first.Close(); err != nil {
			t.Error(err)
		}
		second, err := local(clusters, &progressLog{}).Rig(ctx, "test", spec())
		if err != nil {
			t.Fatal(err)
		}
		if err := second.Close(); err != nil {
			t.Error(err)
		}
	})

	t.Run("StopsItsServerWhenItFailsHalfWay", func(t *testing.T) {
		l := local(clusters, &progressLog{})
		ctx, cancel := context.WithCancel(ctx)
		l.Fill.Progress = func(fill.Progress) { cancel() }
		if r, err := l.Rig(ctx, "half", spec()); err == nil {
			t.Fatalf("up: %+v", r)
		}
		c, err := clusters.Find("half")
		if err != nil {
			t.Fatal(err)
		}
		if s := c.Status(context.Background()); s.State != cluster.Stopped {
			t.Errorf("the cluster is %s, want it stopped", s.State)
		}
	})
}

func TestEnsureDatabase_BySeveralAtOnceMakesOne(t *testing.T) {
	ctx, c := context.Background(), clustertest.Start(t)
	errs := make(chan error)
	const several = 4
	for range several {
		go func() {
			_, err := system.EnsureDatabase(ctx, c)
			errs <- err
		}()
	}
	for range several {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if has, err := c.HasDatabase(ctx, system.Database); err != nil || !has {
		t.Errorf("there %v, error %v: want the database", has, err)
	}
	conn := clustertest.Connect(t, c.DSN(system.Database).Secret(), "")
	var available, added bool
	err := conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'plimsoll'),
		EXISTS (SELECT FROM pg_extension WHERE extname = 'plimsoll')`).Scan(&available, &added)
	if err != nil || available != added {
		t.Errorf("extension available %v, added %v, %v", available, added, err)
	}
}

func TestBasesAreLikeWhenTheirRowsAre(t *testing.T) {
	one := system.Base{Documents: 2100, Catalogs: []system.Catalog{{Name: "items", Rows: 1000}}, Size: "61 MB"}
	for _, c := range []struct {
		name  string
		other system.Base
		like  bool
	}{
		{"TheSameOfAnotherSize", system.Base{Documents: 2100, Catalogs: one.Catalogs, Size: "70 MB"}, true},
		{"AFewDocumentsMore", system.Base{Documents: 2110, Catalogs: one.Catalogs}, true},
		{"WorkedOn", system.Base{Documents: 2300, Catalogs: one.Catalogs}, false},
		{"OtherItems", system.Base{Documents: 2100, Catalogs: []system.Catalog{{Name: "items", Rows: 500}}}, false},
		{"NoCatalogs", system.Base{Documents: 2100}, false},
		{"Empty", system.Base{}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if one.Like(c.other) != c.like || c.other.Like(one) != c.like {
				t.Errorf("%s and %s: want %v", one, c.other, c.like)
			}
		})
	}
}

func TestMain(m *testing.M) { clustertest.Main(m) }
