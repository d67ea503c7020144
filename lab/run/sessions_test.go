package run

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/test/patience"
)

// TestSessionsOfTheApplicationAreNoDisturbance: whatever names the application that is measured by its requests, its
// sessions on the database are what is measured.
func TestSessionsOfTheApplicationAreNoDisturbance(t *testing.T) {
	dsn := clustertest.Database(t).Secret()
	busy(t, dsn, "shop")
	shop := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer shop.Close()
	const look = "[operations.look]\ntarget = \"30s\"\nurl = \""
	for name, c := range map[string]struct {
		text string
		urls []string
	}{
		"ByItsBase":    {"[http]\nbase = \"" + shop.URL + "\"\n" + look + "/\"\n", nil},
		"ByURL":        {look + "/\"\n", []string{shop.URL}},
		"ByTheRequest": {look + shop.URL + "/\"\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			o := ownRun(t, "application = \"none\"\nusers = 20\n[think]\nmean = \"100ms\"\n"+c.text)
			o.DSN, o.URLs, o.Duration, o.DisturbedLimit = dsn, c.urls, 2*time.Second, 0.999
			r := mustRun(t, t.Context(), o)
			if r.Disturbance == nil || len(r.Disturbance.Sessions) != 1 ||
				r.Disturbance.Sessions[0].Application != "shop" {
				t.Fatalf("it was not seen: %+v", r.Disturbance)
			}
			if reasons := strings.Join(r.InvalidReasons, "; "); strings.Contains(reasons, "shop") {
				t.Error(reasons)
			}
		})
	}
	t.Run("NotOfSQL", func(t *testing.T) {
		o := ownRun(t, "application = \"none\"\nusers = 20\n[think]\nmean = \"100ms\"\n"+
			"[operations.look]\ntarget = \"30s\"\nsql = \"SELECT 1\"\n")
		o.DSN, o.Duration, o.DisturbedLimit = dsn, 2*time.Second, 0.999
		if r := mustRun(t, t.Context(), o); !strings.Contains(strings.Join(r.InvalidReasons, "; "),
			"1.0 sessions of shop were active") {
			t.Errorf("want the session of shop, got %q", r.InvalidReasons)
		}
	})
}

// busy keeps a session of an application active until the test ends.
func busy(t *testing.T, dsn, application string) {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	query.Set("application_name", application)
	u.RawQuery = query.Encode()
	conn, err := pgx.Connect(t.Context(), u.String())
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = conn.Exec(ctx, "SELECT pg_sleep(3600)")
	}()
	t.Cleanup(func() {
		stop()
		<-ended
		_ = conn.Close(context.WithoutCancel(ctx))
	})
	patience.Until(t, application+" is active", func() bool {
		return clustertest.Exec(t, dsn, "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND "+
			"application_name = '"+application+"'") == 1
	})
}
