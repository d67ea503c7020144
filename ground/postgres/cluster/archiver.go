package cluster

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// Archiving is how the archive of the log follows the server.
type Archiving struct {
	Dir       string `json:"dir"`
	ServerLog string `json:"server_log"` // says why a try failed
	// Failing: the last try failed. The server tries again, and keeps the log until a try succeeds.
	Failing      bool       `json:"failing"`
	FailedCount  int64      `json:"failed_count"` // since the statistics were reset
	LastFailed   string     `json:"last_failed_wal,omitempty"`
	LastFailedAt *time.Time `json:"last_failed_at,omitempty"`
	LastArchived string     `json:"last_archived_wal,omitempty"`
	// Waiting segments are full and not archived yet; the oldest for BehindS seconds.
	Waiting      int64    `json:"waiting_segments"`
	WaitingBytes int64    `json:"waiting_bytes"`
	BehindS      *float64 `json:"behind_s,omitempty"`
}

const archivingSQL = `SELECT coalesce(last_failed_time > coalesce(last_archived_time, '-infinity'), false),
	failed_count, coalesce(last_failed_wal, ''), last_failed_time, coalesce(last_archived_wal, ''), waiting,
	waiting * (SELECT setting::bigint FROM pg_settings WHERE name = 'wal_segment_size'),
	extract(epoch FROM greatest(clock_timestamp() - oldest, '0'))::float8
	FROM pg_stat_archiver, (SELECT count(*) AS waiting, min(modification) AS oldest FROM pg_ls_archive_statusdir()
		WHERE name LIKE '%.ready') w`

// readArchiving reads the archiver's state from a running server that archives its log.
func (c *Cluster) readArchiving(ctx context.Context, conn *pgx.Conn, st *Status) {
	if c.Log != ArchiveLog || c.ReplicaOf != "" {
		return
	}
	a := Archiving{Dir: c.store.ArchiveDir(c.Archive), ServerLog: c.LogFile()}
	if err := conn.QueryRow(ctx, archivingSQL).Scan(&a.Failing, &a.FailedCount, &a.LastFailed, &a.LastFailedAt,
		&a.LastArchived, &a.Waiting, &a.WaitingBytes, &a.BehindS); err == nil {
		st.Archiving = &a
	}
}
