package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/ground/problem"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/temptable"
	"plimsoll/platform/worker/shape"
)

// shapeOptions are the shape of workers, and tweaks of it.
type shapeOptions struct {
	name, clearing  string
	durability      string
	tempPool, chain int
	lifetime        time.Duration
	jitter          *time.Duration // nil: as in the shape has it
}

// Bounds of the tweaks.
const (
	tempPoolMax = 100_000
	chainMax    = 10_000
	jitterMin   = time.Second
)

// Flags of a shape, as flags and as keys.
const (
	flagShape    = "shape"
	flagTempPool = "temp-pool"
	flagLifetime = "lifetime"
	flagJitter   = "lifetime-jitter"
	flagClearing = "clearing"
	flagChain    = "chain"

	flagDurability = "durability"
)

func shapeFlags(c *cobra.Command, o *shapeOptions) {
	fs := c.Flags()
	config.Choice(fs, &o.name, flagShape, string(shape.Default), words(shape.Names), "how the ERP uses the database: "+
		"classic: row by row, as such systems are written; tuned: classic with four tweaks; lean: few statements; "+
		"the books are the same")
	config.Count(fs, &o.tempPool, flagTempPool, 0, 0, tempPoolMax,
		"temp tables pooled per connection; 0: the shape's default")
	config.Span(fs, &o.lifetime, flagLifetime, 0, 0, "minimum lifetime of a connection; 0: the shape's default")
	config.OptionalSpan(fs, &o.jitter, flagJitter, 0,
		"random time added to the lifetime; 0: none (default: the shape's)")
	config.Choice(fs, &o.clearing, flagClearing, "",
		words(temptable.Clearings), "how to empty temp tables: always: TRUNCATE; ask: TRUNCATE after a query for "+
			"rows; known: TRUNCATE if rows were written; delete: as known, but DELETE of few rows, so that the server "+
			"keeps its plans (default: the shape's)")
	config.Count(fs, &o.chain, flagChain, 0, 0, chainMax,
		"maximum statements in one round trip; 0: the shape's default")
	fs.StringVar(&o.durability, flagDurability, "", "`MODE` of commits: sync: the commit waits for the flush; "+
		"group: sync with commit_delay; async: nothing waits, and a crash loses acknowledged operations; durable-ack: "+
		"only the answer waits for the flush. A class of operations may have its own mode, such "+
		"as durable-ack,background=sync; server: as the database is configured (default: durable-ack, and server for "+
		"classic)")
	config.Share(fs, flagShape, flagTempPool, flagLifetime, flagJitter, flagClearing, flagChain, flagDurability)
}

// tweakFlags are the flags of a shape, without its name.
var tweakFlags = []string{flagTempPool, flagLifetime, flagJitter, flagClearing, flagChain, flagDurability}

// tweaked is the shape with other values of these flags.
func (o shapeOptions) tweaked(by map[string]string) (changed shapeOptions, err error) {
	c := &cobra.Command{}
	shapeFlags(c, &changed)
	if err := c.ParseFlags(o.arguments()); err != nil {
		return o, err
	}
	for _, name := range sorted(by) {
		if !slices.Contains(tweakFlags, name) {
			return o, problem.New(problem.Usage, fmt.Errorf("no tweak %q", name), strings.Join(tweakFlags, ", "))
		}
		if err := c.Flags().Lookup(name).Value.Set(by[name]); err != nil {
			return o, problem.New(problem.Usage, fmt.Errorf("tweak %s: %w", name, err), "")
		}
	}
	_, err = changed.shape()
	return changed, err
}

func words[T ~string](values []T) (all []string) {
	for _, w := range values {
		all = append(all, string(w))
	}
	return all
}

// shape that was asked for.
func (o shapeOptions) shape() (shape.Shape, error) {
	tweaks := shape.Tweaks{TempPool: o.tempPool, Lifetime: o.lifetime, Clearing: temptable.Clearing(o.clearing),
		Chain: o.chain, Durability: o.durability}
	switch {
	case o.jitter == nil:
	case *o.jitter == 0:
		tweaks.Jitter = database.Never
	case *o.jitter < jitterMin:
		return shape.Shape{}, problem.New(problem.Usage,
			fmt.Errorf("--%s %s: 0 or at least %s", flagJitter, *o.jitter, jitterMin), "")
	default:
		tweaks.Jitter = *o.jitter
	}
	s, err := shape.New(shape.Name(o.name), tweaks)
	return s, problem.New(problem.Usage, err, "")
}

// arguments give a worker the same shape, whatever its environment and configuration file say.
func (o shapeOptions) arguments() []string {
	all := []string{
		"--" + flagShape + "=" + o.name, "--" + flagClearing + "=" + o.clearing,
		"--" + flagLifetime + "=" + o.lifetime.String(),
		"--" + flagDurability + "=" + o.durability,
		fmt.Sprintf("--%s=%d", flagTempPool, o.tempPool), fmt.Sprintf("--%s=%d", flagChain, o.chain),
	}
	if o.jitter != nil {
		all = append(all, "--"+flagJitter+"="+o.jitter.String())
	}
	return all
}
