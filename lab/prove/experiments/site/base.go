package site

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/erp/fill"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/platform/data/database"
)

// SeparateBase is a database of the experiment's own, filled at a fraction of the report's scale.
type SeparateBase struct {
	Cluster *cluster.Cluster
	Name    string
	Scale   float64
	Streams int
	Took    time.Duration
}

func FillSeparate(ctx context.Context, c *cluster.Cluster, scale float64, streams int) (*SeparateBase, error) {
	f := &SeparateBase{Cluster: c, Scale: scale, Streams: streams,
		Name: strings.ReplaceAll(fmt.Sprintf("base_%g", scale), ".", "_")}
	if err := f.Admin(ctx, "DROP DATABASE IF EXISTS "+f.quoted()+" WITH (FORCE)",
		"CREATE DATABASE "+f.quoted()); err != nil {
		return nil, err
	}
	err := f.Open(ctx, func(db *database.Database) error {
		done, err := fill.Run(ctx, db, fill.Options{Scale: scale, Streams: streams, Create: true})
		f.Took = done.Elapsed
		return err
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("fill at scale %g: %w", scale, err), f.Drop(context.WithoutCancel(ctx)))
	}
	return f, nil
}

func (f *SeparateBase) quoted() string { return pgx.Identifier{f.Name}.Sanitize() }

func (f *SeparateBase) Admin(ctx context.Context, statements ...string) error {
	return Admin(ctx, f.Cluster, "", statements...)
}

func (f *SeparateBase) Drop(ctx context.Context) error {
	return f.Admin(ctx, "DROP DATABASE IF EXISTS "+f.quoted()+" WITH (FORCE)")
}

func (f *SeparateBase) Open(ctx context.Context, do func(*database.Database) error) error {
	db, err := database.Open(ctx, f.Cluster.DSN(f.Name).Secret(),
		database.Options{Connections: f.Streams + 1, Application: "plimsoll prove", StatementTimeout: -1})
	if err != nil {
		return err
	}
	defer db.Close()
	return do(db)
}
