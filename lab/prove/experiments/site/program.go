package site

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"plimsoll/ground/postgres/cluster"
)

// Program runs one of the engine's client programs on a database.
func Program(ctx context.Context, c *cluster.Cluster, database string, out io.Writer, name string,
	arguments ...string) error {
	cmd, err := c.Command(ctx, name, arguments...)
	if err != nil {
		return err
	}
	var complaints strings.Builder
	cmd.Env = append(cmd.Env, "PGDATABASE="+database)
	cmd.Stdout, cmd.Stderr = out, &complaints
	if err := cmd.Run(); err != nil {
		lines := strings.Split(strings.TrimSpace(complaints.String()), "\n")
		return errors.Join(ctx.Err(), fmt.Errorf("%s %s: %w: %s", name, database, err, lines[len(lines)-1]))
	}
	return nil
}
