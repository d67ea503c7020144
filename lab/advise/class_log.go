package advise

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"plimsoll/ground/host/machine"
	"plimsoll/ground/human"
)

type checkpoints struct {
	Timed, Requested, Since, Full, LogBytes, LogSince float64
}

// logSize: early checkpoints write pages twice, full log buffers make sessions write for others.
var logSize = class{
	name: "log", healthy: "checkpoints come on schedule, and the WAL buffers suffice",
	find: func(ctx context.Context, s *server) (all []Advice, err error) {
		sql := `SELECT c.checkpoints_timed::float8 AS timed, c.checkpoints_req::float8 AS requested,
			extract(epoch FROM clock_timestamp() - coalesce(c.stats_reset, pg_postmaster_start_time()))::float8 AS
				since,
			w.wal_buffers_full::float8 AS "full", w.wal_bytes::float8 AS log_bytes,
			extract(epoch FROM clock_timestamp() - coalesce(w.stats_reset, pg_postmaster_start_time()))::float8 AS
				log_since
			FROM pg_stat_bgwriter c, pg_stat_wal w`
		if s.number >= 170000 {
			sql = strings.NewReplacer("checkpoints_timed", "num_timed", "checkpoints_req", "num_requested",
				"pg_stat_bgwriter", "pg_stat_checkpointer").Replace(sql)
		}
		c, err := one[checkpoints](ctx, s, sql)
		if err != nil || c == nil {
			return nil, err
		}
		now, timeout := s.bytes("max_wal_size"), s.figure("checkpoint_timeout")
		// Other things request checkpoints too: backups, dropped databases. Those that the log requests come at half
		// its size.
		const half = 2
		logged := c.LogBytes * c.Since / max(1, c.LogSince) // each view is reset by itself
		if c.Requested >= requestsLeast.Value && c.Requested > c.Timed && logged/c.Requested > now/half/half &&
			c.Since/(c.Requested+c.Timed) < timeout/half {
			to := min(8*now, max(2*now, 2*timeout*logged/max(1, c.Since)))
			level, room := Note, "the free space on its disk is not known"
			if s.host != nil { // a full disk stops the server
				const part = 2
				free := s.logFree()
				to = min(to, now+free/part)
				level, room = Problem, human.Bytes(free)+" are free on its disk"
			}
			a := Advice{ID: "setting:max_wal_size", Level: level, Title: "Checkpoints come too early",
				Mechanism: "After each checkpoint the first change of a page writes the whole page into the log: the " +
					"more checkpoints, the more log, and the more pages are written.",
				Evidence: []string{fmt.Sprintf("%.0f checkpoints were requested and %.0f came on schedule, one in "+
					"%.0f s; checkpoint_timeout is %.0f s, max_wal_size %s", c.Requested, c.Timed,
					c.Since/(c.Requested+c.Timed), timeout, human.Bytes(now))},
				Memory: fmt.Sprintf("none; %s more of disk (%s), and recovery after a crash may take longer",
					human.Bytes(to-now), room),
				Changes: []Change{s.set("max_wal_size", settingSize(to))}}
			if to >= 1.25*now {
				all = append(all, a)
			} else {
				s.miss("log: max_wal_size", a.Title+", and there is too little space for more WAL: "+room)
			}
		}
		const page = 8192
		const mostBuffers = 128 << 20
		if full := c.Full * page / max(1, c.LogBytes); c.Full > 1000 && full >= fullLogBuffers.Value &&
			s.bytes("wal_buffers") < mostBuffers {
			level := Note
			if full >= 10*fullLogBuffers.Value {
				level = Problem
			}
			to := min(mostBuffers, 4*s.bytes("wal_buffers"))
			all = append(all, Advice{ID: "setting:wal_buffers", Level: level, Title: "The WAL buffers are full",
				Mechanism: "A session that finds no free WAL buffer must write the WAL of others before it goes on.",
				Evidence: []string{fmt.Sprintf("%.0f times, %s of the log's pages; wal_buffers is %s", c.Full,
					human.Share(full), human.Bytes(s.bytes("wal_buffers")))},
				Memory:  fmt.Sprintf("%s more, once for the whole server", human.Bytes(to-s.bytes("wal_buffers"))),
				Changes: []Change{s.set("wal_buffers", settingSize(to))}})
		}
		return all, nil
	},
}

// logFree is the free space on the disk of the log, which may differ from that of the data.
func (s *server) logFree() float64 {
	if facts, err := machine.Read(filepath.Join(s.value("data_directory"), "pg_wal")); err == nil {
		return float64(facts.DiskFreeBytes)
	}
	return float64(s.host.DiskFreeBytes)
}

// commits that wait for the disk: only a diagnosis shows them.
var commits = class{
	name: "commits", healthy: "no diagnosis says that commits wait for the log", causes: []string{"log-flush"},
	find: func(_ context.Context, s *server) ([]Advice, error) {
		if s.options.Causes == nil {
			s.miss("commits", "only a diagnosis shows whether commits wait")
		}
		for _, c := range s.options.Causes {
			if c.Name != "log-flush" || s.value("synchronous_commit") == "off" {
				continue
			}
			advice := Advice{ID: "commit", Level: Note, Title: "Commits wait for the log to reach the disk",
				Mechanism: "Each commit waits for a flush, and holds the locks of its transaction until then.",
				Evidence: []string{"synchronous_commit is " + s.value("synchronous_commit"),
					"fsync = off is no alternative: it gains the same but can lose all data"},
				Do: []string{"let the application acknowledge once the log is on disk, and release the locks " +
					"earlier: durable acknowledgement of the application server (plimsoll help commits)",
					"synchronous_commit = off where losing the last transactions before a crash is acceptable"},
				Prove:  s.compare([]string{"--set-b synchronous_commit=off"}, false, false),
				Revert: "ALTER SYSTEM RESET synchronous_commit; SELECT pg_reload_conf()"}
			if s.value("synchronous_standby_names") != "" { // off would also stop waiting for the standby
				advice.Do = advice.Do[:1]
				advice.Prove = "pg_test_fsync -s 2    on the disk of pg_wal, before and after"
				advice.Revert = "nothing to undo"
			}
			return []Advice{advice}, nil
		}
		return nil, nil
	},
}
