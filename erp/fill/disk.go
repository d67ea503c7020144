package fill

import (
	"context"
	"syscall"

	"github.com/jackc/pgx/v5"

	"plimsoll/platform/data/database"
)

// Free returns the free bytes on the server's disk. They are not known when the server is on another machine or its
// data directory may not be read.
func Free(ctx context.Context, db *database.Database) (bytes int64, known bool) {
	err := db.Borrow(ctx, func(conn *pgx.Conn) error {
		var dir, here string
		if err := conn.QueryRow(ctx, "SELECT current_setting('data_directory'), coalesce(host(inet_client_addr()) "+
			"= host(inet_server_addr()), true)::text").Scan(&dir, &here); err != nil {
			return err
		}
		var fs syscall.Statfs_t
		if here != "true" || syscall.Statfs(dir, &fs) != nil {
			return nil
		}
		bytes, known = int64(fs.Bavail)*int64(fs.Bsize), true
		return nil
	})
	return bytes, known && err == nil
}
