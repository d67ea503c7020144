package cli

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/ground/problem"
	"plimsoll/lab/system"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/temptable"
	"plimsoll/platform/worker/shape"
)

// shapeOptions are the shape of workers, and tweaks of it, as flags give them.
type shapeOptions struct {
	shaped system.Shape
	jitter *time.Duration // nil: as the shape has it
}

// Bounds of the tweaks.
const (
	tempPoolMax = 100_000
	chainMax    = 10_000
)

func shapeFlags(c *cobra.Command, o *shapeOptions) {
	fs := c.Flags()
	config.Choice(fs, (*string)(&o.shaped.Name), system.FlagShape, string(shape.Default), words(shape.Names),
		"how the ERP uses the database: classic: row by row, as such systems are written; tuned: classic with four "+
			"tweaks; lean: few statements; the books are the same")
	config.Count(fs, &o.shaped.TempPool, system.FlagTempPool, 0, 0, tempPoolMax,
		"temp tables pooled per connection; 0: the shape's default")
	config.Span(fs, &o.shaped.Lifetime, system.FlagLifetime, 0, 0,
		"minimum lifetime of a connection; 0: the shape's default")
	config.OptionalSpan(fs, &o.jitter, system.FlagJitter, 0,
		"random time added to the lifetime; 0: none (default: the shape's)")
	config.Choice(fs, (*string)(&o.shaped.Clearing), system.FlagClearing, "",
		words(temptable.Clearings), "how to empty temp tables: always: TRUNCATE; ask: TRUNCATE after a query for "+
			"rows; known: TRUNCATE if rows were written; delete: as known, but DELETE of few rows, so that the server "+
			"keeps its plans (default: the shape's)")
	config.Count(fs, &o.shaped.Chain, system.FlagChain, 0, 0, chainMax,
		"maximum statements in one round trip; 0: the shape's default")
	fs.StringVar(&o.shaped.Durability, system.FlagDurability, "", "`MODE` of commits: sync: the commit waits for the "+
		"flush; group: sync with commit_delay; async: nothing waits, and a crash loses acknowledged operations; "+
		"durable-ack: only the answer waits for the flush. A class of operations may have its own mode, such "+
		"as durable-ack,background=sync; server: as the database is configured (default: durable-ack, and server for "+
		"classic)")
	config.Share(fs, append([]string{system.FlagShape}, system.TweakFlags...)...)
}

// tweaked is a shape with other values of these flags.
func tweaked(s system.Shape, by map[string]string) (system.Shape, error) {
	var changed shapeOptions
	c := &cobra.Command{}
	shapeFlags(c, &changed)
	if err := c.ParseFlags(s.Arguments()); err != nil {
		return s, err
	}
	for _, name := range slices.Sorted(maps.Keys(by)) {
		if !slices.Contains(system.TweakFlags, name) {
			return s, problem.New(problem.Usage, fmt.Errorf("no tweak %q", name), strings.Join(system.TweakFlags, ", "))
		}
		if err := c.ParseFlags([]string{"--" + name + "=" + by[name]}); err != nil {
			return s, problem.New(problem.Usage, fmt.Errorf("tweak %s: %w", name, errors.Unwrap(err)), "")
		}
	}
	return changed.shape(), nil
}

func words[T ~string](values []T) (all []string) {
	for _, w := range values {
		all = append(all, string(w))
	}
	return all
}

// shape that was asked for.
func (o shapeOptions) shape() system.Shape {
	s := o.shaped
	if o.jitter != nil {
		s.Jitter = *o.jitter
		if s.Jitter == 0 {
			s.Jitter = database.Never
		}
	}
	return s
}
