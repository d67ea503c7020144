package cluster_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/postgres/cluster/profile"
	"plimsoll/ground/postgres/installation"
	"plimsoll/test/patience"
)

func TestOneC_HasExtensionsAndLibraries(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := clustertest.Copied(spec())
	s.Profile = profile.OneC
	c := b.upWith("a", s)
	if !c.Server().HasLibrary("mchar") {
		t.Skipf("NOT TESTED: %s has no mchar", c.Server())
	}
	_, err := c.EnsureDatabase(patience.Context(t), "infobase")
	check(t, err)
	conn := clustertest.Connect(t, c.SocketDSN("infobase").Secret(), "")
	for sql, want := range map[string]string{
		`SELECT string_agg(extname, ' ' ORDER BY extname) FROM pg_extension WHERE extname IN ('mchar', 'fulleq',
			'fasttrun')`: "fasttrun fulleq mchar",
		"SHOW shared_preload_libraries":                  "online_analyze, plantuner",
		"SHOW online_analyze.table_type":                 "temporary",
		"SHOW plantuner.fix_empty_table":                 "on",
		"SHOW wal_level":                                 "replica",
		"SHOW synchronous_commit":                        "off", // the test's own
		"SELECT ('Ab'::mvarchar = 'aB')::text":           "true",
		"SHOW max_files_per_process":                     "8000",
		"SELECT current_setting('temp_tablespaces')":     "",
		"SELECT current_setting('lc_messages')":          "C",
		"SELECT current_setting('maintenance_work_mem')": "64MB",
	} {
		var got string
		if err := conn.QueryRow(patience.Context(t), sql).Scan(&got); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", sql, got, err, want)
		}
	}
	if known, err := c.Server().Settings(t.Context()); err == nil && known.Has("output_plugin_libraries") {
		_, err := conn.Exec(patience.Context(t), "SELECT pg_drop_replication_slot(slot_name) FROM "+
			"pg_create_logical_replication_slot('x', 'dbcopies_decoding')")
		if err == nil || strings.Contains(err.Error(), "may not be used as an output plugin") {
			t.Errorf("wal_level is replica, and the plugin is allowed: %v", err)
		}
	}
	conn.Close(t.Context())
	check(t, b.Down(patience.Context(t), "a", cluster.Fast))
	c = b.upWith("a", cluster.Spec{}) // with everything there already
	missing, err := cluster.MissingLocales(patience.Context(t), clustertest.Connect(t, c.SocketDSN("").Secret(), ""))
	check(t, err)
	for _, name := range missing {
		b.mustHear("lacks the locale " + name)
		b.mustHear("localedef -i " + name[:5])
	}
}

func TestOneC_OnAServerWithoutItsExtensions(t *testing.T) {
	t.Parallel()
	if _, err := installation.Find(t.Context(), installation.System); errors.Is(err, fs.ErrNotExist) {
		t.Skip("NOT TESTED: no PostgreSQL of the distribution")
	}
	b := setup(t)
	s := spec()
	s.Engine, s.Profile = installation.System, profile.OneC
	b.upWith("a", s)
	b.mustHear("this server lacks mchar, fulleq, fasttrun: a 1C server cannot make an infobase on it")
}
