package diagnose

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/ground/postgres"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/test/patience"
)

func TestServerLog_ReadsEachFormat(t *testing.T) {
	for _, format := range []string{"stderr", "jsonlog", "csvlog"} { // as servers of 15 and 18 write them
		text, err := os.ReadFile(filepath.Join("testdata", format+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		l := &logFile{name: "x", format: format, on: logSettings{true, true, 0},
			size: func(context.Context) (int64, error) { return int64(len(text)), nil },
			read: func(context.Context, int64) ([]byte, error) { return text, nil }}
		s, err := l.written(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if *s.LockWaits != (LogLockWaits{1, 2.5}) || *s.TempFiles != (LogTempFiles{1, 1 << 20}) || s.Deadlocks != 1 ||
			*s.Checkpoints != (LogCheckpoints{1, 1, 123, 4.5, 0.25, 0.125}) {
			t.Errorf("%s: %+v, %+v, %+v, %d", format, s.LockWaits, s.TempFiles, s.Checkpoints, s.Deadlocks)
		}
		l.on = logSettings{temp: -1}
		s, err = l.written(t.Context())
		if err != nil || s.LockWaits != nil || s.TempFiles != nil || s.Checkpoints != nil {
			t.Errorf("%s: nothing of it is written, and %+v, %v", format, s, err)
		}
		l.from = int64(len(text)) + 1
		if _, err = l.written(t.Context()); err == nil {
			t.Error("the log is shorter than it was, and nobody says so")
		}
	}
}

// What ends work is counted by its SQLSTATE, as an error of a statement or as the end of a session.
func TestServerLog_CountsWhatEndsWork(t *testing.T) {
	s := &ServerLog{}
	for _, message := range messages([]byte("x ERROR:  canceling statement due to statement timeout\n"+
		"x ERROR:  canceling statement due to user request\n"+
		"x FATAL:  terminating connection due to idle-in-transaction timeout\n"+
		"x FATAL:  too many connections for role \"app\"\nx ERROR:  temporary file size exceeds \"temp_file_limit\" "+
		"(500kB)\n"), "stderr") {
		s.add(message)
	}
	for _, state := range []string{"57014", cancelledByClient, "25P03", tooManyConnections, "53400"} {
		if s.Errors[state] != 1 {
			t.Errorf("%s: %v", state, s.Errors)
		}
	}
}

// A real server's log, in which a checkpoint and temporary files are made to appear.
func TestRun_ReadsTheServersLog(t *testing.T) {
	dsn := clustertest.Database(t)
	conn := clustertest.Connect(t, dsn.Secret(), "test")
	server, err := postgres.Inspect(t.Context(), dsn.Secret())
	if err != nil || server.Postmaster == 0 {
		t.Skipf("the server's process is not visible: %v", err)
	}
	execute(t, conn, "SET log_temp_files = 0; SET work_mem = '64kB'")
	l, err := openLog(t.Context(), clustertest.Connect(t, dsn.Secret(), "test"), server.Postmaster)
	if err != nil {
		t.Fatal(err)
	}
	l.on.temp = 0 // the session's setting, which the reader's does not show
	execute(t, conn, "SELECT count(*) FROM (SELECT n FROM generate_series(1, 50000) n ORDER BY md5(n::text)) AS s")
	patience.Until(t, "the server has written it", func() bool {
		s, err := l.written(t.Context())
		return err == nil && s.TempFiles.N > 0 && s.TempFiles.Bytes > 0
	})
	d, err := Run(patience.Context(t), Options{DSN: dsn.Secret(), Duration: time.Second, Rate: RateDefault})
	if err != nil {
		t.Fatal(err)
	}
	reported := slices.ContainsFunc(d.Unavailable, func(s Source) bool {
		return strings.Contains(s.Name, "server's log")
	})
	if d.Log == nil && !reported {
		t.Error("neither read nor said why not")
	}
}
