package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/ground/postgres/cluster"
)

// lagFlags say how far behind a standby may be when it is read.
type lagFlags struct{ limit cluster.LagLimit }

func (l *lagFlags) add(fs *pflag.FlagSet) {
	l.limit.Age = time.Second
	fs.Var((*lagValue)(&l.limit), "max-lag", "on a standby: maximum `LAG` behind its primary: a time, such as 1s, or "+
		"an amount of log, such as 16MB")
	config.Span(fs, &l.limit.Wait, "wait", time.Minute, 0, "on a standby: how long to wait until it is within "+
		"--max-lag")
	config.FlagOnly(fs, "max-lag", "wait")
}

// await waits until a standby is close enough to its primary; other clusters need no wait.
func (a *app) await(ctx context.Context, c *cluster.Cluster, l lagFlags) error {
	if c.Follows() == "" {
		return nil
	}
	a.meter.Phase("waiting for standby "+c.Name(), 0, "")
	return c.AwaitLag(ctx, l.limit)
}

// awaitTarget is await for the local cluster that a command means, if it means one.
func (a *app) awaitTarget(ctx context.Context, t target, l lagFlags) error {
	if t.foreign() {
		return nil
	}
	c, err := a.clusters().Running(ctx, t.cluster)
	if err != nil {
		return err
	}
	return a.await(ctx, c, l)
}

// lagValue is a flag that takes a time or megabytes of log.
type lagValue cluster.LagLimit

func (v *lagValue) String() string { return cluster.LagLimit(*v).String() }
func (v *lagValue) Type() string   { return "lag" }
func (v *lagValue) Set(s string) error {
	if mb, err := strconv.ParseUint(strings.TrimSuffix(s, "MB"), 10, 20); err == nil {
		v.Bytes, v.Age = int64(mb)<<20, 0
		return nil
	}
	age, err := time.ParseDuration(s)
	switch {
	case err != nil:
		return config.Reason(fmt.Sprintf("%q is neither a time, such as 1s, nor megabytes of log, such as 16MB", s))
	case age <= 0:
		return config.Reason("a time must be more than 0; 0MB: nothing may be missing")
	}
	v.Bytes, v.Age = 0, age
	return nil
}
