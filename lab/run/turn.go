package run

import (
	"context"

	"plimsoll/ground/postgres/waits"
	"plimsoll/lab/run/result"
)

// Turn makes a run that is one of several. Start, unless nil, starts a generator for it on the database of its users;
// its workers get that database, too. Meanwhile the waits of a database are sampled: the same, without what may lie on
// the way to it. A run that is stopped is an error.
func Turn(ctx context.Context, o Options, start func(ctx context.Context, dsn string) (Generator, func(), error),
	sampled string) (*result.Result, waits.Profile, error) {
	if start != nil {
		g, dismiss, err := start(ctx, o.DSN)
		if err != nil {
			return nil, waits.Profile{}, err
		}
		defer dismiss()
		o.Generator = g
	}
	if o.DSN != "" {
		o.ServeEnv = append(o.ServeEnv[:len(o.ServeEnv):len(o.ServeEnv)], "PLIMSOLL_DSN="+o.DSN)
	}
	sessions, progress := waits.Watch(ctx, sampled), o.Progress
	o.Progress = func(p Progress) {
		sessions.During(p.Phase == Steady)
		progress(p)
	}
	r, err := Run(ctx, o)
	profile := sessions.End()
	if err == nil && r.Interrupted {
		err = context.Canceled
	}
	return r, profile, err
}
