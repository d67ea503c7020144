package cluster

import "context"

// SummarizesWAL says whether the running server writes summaries of its log, as incremental backups need them. Servers
// before 17 do not know the setting.
func (c *Cluster) SummarizesWAL(ctx context.Context) (on bool, err error) {
	conn, err := c.connect(ctx)
	if err != nil {
		return false, c.wrap(err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	err = conn.QueryRow(ctx, `SELECT coalesce(current_setting('summarize_wal', true) = 'on', false)`).Scan(&on)
	return on, err
}
