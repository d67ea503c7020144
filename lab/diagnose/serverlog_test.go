package diagnose

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/lab/postgres"
	"plimsoll/lab/postgres/cluster/clustertest"
	"plimsoll/test/patience"
)

// Lines as servers of 15 and 18 write them, in each format.
var logged = map[string]string{
	"stderr": `2026-01-31 10:00:00 UTC [7] u@d/app LOG:  process 7 still waiting for ShareLock on transaction 9 after 1000.5 ms
2026-01-31 10:00:00 UTC [7] u@d/app DETAIL:  Process holding the lock: 8. Wait queue: 7.
2026-01-31 10:00:02 UTC [7] u@d/app LOG:  process 7 acquired ShareLock on transaction 9 after 2500.0 ms
2026-01-31 10:00:02 UTC [7] u@d/app LOG:  temporary file: path "base/pgsql_tmp/pgsql_tmp7.0", size 1048576
2026-01-31 10:00:03 UTC [5] LOG:  checkpoint starting: wal
2026-01-31 10:00:09 UTC [5] LOG:  checkpoint complete: wrote 123 buffers (0.8%), wrote 3 SLRU buffers; 0 WAL file(s) added, 0 removed, 1 recycled; write=4.5 s, sync=0.25 s, total=5.0 s; sync files=9, longest=0.125 s, average=0.01 s; distance=16 kB, estimate=16 kB; lsn=0/1, redo lsn=0/1
2026-01-31 10:00:09 UTC [7] u@d/app ERROR:  deadlock detected
2026-01-31 10:00:09 UTC [7] u@d/app STATEMENT:  select 'LOG:  deadlock'
`,
	"jsonlog": `{"timestamp":"x","message":"process 7 still waiting for ShareLock on transaction 9 after 1000.5 ms"}
{"message":"process 7 acquired ShareLock on transaction 9 after 2500.0 ms"}
{"message":"temporary file: path \"base/x\", size 1048576"}
{"message":"checkpoint starting: wal"}
{"message":"checkpoint complete: wrote 123 buffers (0.8%); 0 WAL file(s) added, 0 removed, 1 recycled; write=4.5 s, sync=0.25 s, total=5.0 s; sync files=9, longest=0.125 s, average=0.01 s"}
{"message":"deadlock detected"}
{"message":"cut in the midd`,
	"csvlog": `t,u,d,7,h,s,1,c,t,v,x,LOG,00000,"process 7 still waiting for ShareLock on transaction 9 after 1000.5 ms",,,
t,u,d,7,h,s,1,c,t,v,x,LOG,00000,"process 7 acquired ShareLock on transaction 9 after 2500.0 ms",,,
t,u,d,7,h,s,1,c,t,v,x,LOG,00000,"temporary file: path ""base/x"", size 1048576",,,"select
two lines"
t,,,5,,s,1,,t,v,x,LOG,00000,"checkpoint starting: wal",,,
t,,,5,,s,1,,t,v,x,LOG,00000,"checkpoint complete: wrote 123 buffers (0.8%); 0 WAL file(s) added, 0 removed, 1 recycled; write=4.5 s, sync=0.25 s, total=5.0 s; sync files=9, longest=0.125 s, average=0.01 s",,,
t,u,d,7,h,s,1,c,t,v,x,ERROR,40P01,"deadlock detected",,,
`,
}

func TestServerLog_ReadsEachFormat(t *testing.T) {
	for format, text := range logged {
		l := &logFile{name: "x", format: format, on: logSettings{true, true, 0},
			size: func(context.Context) (int64, error) { return int64(len(text)), nil },
			read: func(context.Context, int64) ([]byte, error) { return []byte(text), nil }}
		s, err := l.written(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if *s.LockWaits != (LogLockWaits{1, 2.5}) || *s.TempFiles != (LogTempFiles{1, 1 << 20}) || s.Deadlocks != 1 ||
			*s.Checkpoints != (LogCheckpoints{1, 1, 123, 4.5, 0.25, 0.125}) {
			t.Errorf("%s: %+v, %+v, %+v, %d", format, s.LockWaits, s.TempFiles, s.Checkpoints, s.Deadlocks)
		}
		l.on = logSettings{temp: -1}
		if s, err = l.written(t.Context()); err != nil || s.LockWaits != nil || s.TempFiles != nil || s.Checkpoints != nil {
			t.Errorf("%s: nothing of it is written, and %+v, %v", format, s, err)
		}
		l.from = int64(len(text)) + 1
		if _, err = l.written(t.Context()); err == nil {
			t.Error("the log is shorter than it was, and nobody says so")
		}
	}
}

// A real server's log, in which a checkpoint and temporary files are made to appear.
func TestRun_ReadsTheServersLog(t *testing.T) {
	dsn := clustertest.Database(t)
	conn := open(t, dsn.Secret(), "test")
	server, err := postgres.Look(t.Context(), dsn.Secret())
	if err != nil || server.Postmaster == 0 {
		t.Skipf("the server's process is not visible: %v", err)
	}
	execute(t, conn, "SET log_temp_files = 0; SET work_mem = '64kB'")
	l, err := openLog(t.Context(), open(t, dsn.Secret(), "test"), server.Postmaster)
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
	said := slices.ContainsFunc(d.Unavailable, func(s Source) bool { return strings.Contains(s.Name, "server's log") })
	if d.Log == nil && !said {
		t.Error("neither read nor said why not")
	}
}
