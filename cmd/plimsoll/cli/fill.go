package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/erp/fill"
	"plimsoll/ground/human"
	"plimsoll/ground/problem"
	"plimsoll/lab/system"
	"plimsoll/platform/data/database"
)

type fillOptions struct {
	target
	items, warehouses, counterparties, users, organisations, documents, seed int
	streams                                                                  int
	scale                                                                    float64
	size                                                                     string
	ifEmpty, small, resume, discard, estimate, check, compareCopy, keepCopy  bool
	create                                                                   bool
	load                                                                     string
	flags                                                                    *pflag.FlagSet
}

func (a *app) addFill(root *cobra.Command) {
	var o fillOptions
	c := a.command(root, groupServer, &cobra.Command{
		Use:   "fill [flags]",
		Short: "Fill an empty database with the ERP's catalogs and history",
		Long: `Fill an empty database with the ERP's catalogs and a history of posted documents. The books
balance, so an audit finds nothing wrong. The same numbers and seed give the same base,
however many streams fill it.

--scale multiplies the base of claim C02: 1 is 28 million contracts, 2.5 million
counterparties and 9.8 million documents of 17 types. --size chooses the scale that takes
that much disk. Time and disk are printed first; fill refuses if the disk is too small.

--load 1c fills a base as a 1C server lays it out, for 'plimsoll run --load 1c', in a database of
its own: --documents, --items, --counterparties, --warehouses and --seed, or --scale of the usual
6,000 documents. Its texts are of the extension mchar; 1c+plain makes them varchar, which any
server has.

The base is filled in many transactions, each recorded in the database. After a stop or a
kill, the same command or --resume continues; no other command uses the base until it is
finished. A database that holds data is refused. An empty database of --dsn is filled only
with --create; one that holds tables of another application is refused.`,
		Example: `  plimsoll up && plimsoll fill
  plimsoll fill --small                    enough to try the API
  plimsoll fill --scale 0.01               a hundredth of the base of claim C02
  plimsoll fill --size 20GB --streams 8
  plimsoll fill --scale 1 --estimate       print time and disk, and stop
  plimsoll fill --check                    has anything changed since?
  plimsoll fill --load 1c --documents 1000000
  plimsoll fill --if-empty                 in scripts: do nothing if it is filled
  PLIMSOLL_DSN=postgres://… plimsoll fill --create    into an empty database of yours`,
	}, func(ctx context.Context, _ []string) error { return a.fill(ctx, &o) })
	fs := c.Flags()
	fillFlags(fs, &o)
	o.flags = fs
	createFlag(fs, &o.create)
	loadFlag(fs, &o.load, "which base: the ERP's, or that of a 1C server; of 1c+plain, 1c+extensions and 1c+memory "+
		"the first has plain texts")
	completeLoads(c)
	config.FlagOnly(fs, "load")
	fs.BoolVar(&o.small, "small", false, "a small base to try things: 200 documents, 100 items, within seconds")
	fs.BoolVar(&o.ifEmpty, "if-empty", false, "succeed without filling if the database holds data")
	fs.BoolVar(&o.resume, "resume", false, "continue an earlier fill that did not finish, with its own sizes and seed")
	fs.BoolVar(&o.discard, "discard", false, "delete an earlier fill that did not finish, and start over")
	fs.BoolVar(&o.estimate, "estimate", false, "print time and disk, and stop")
	fs.BoolVar(&o.check, "check", false, "compare every row of a filled base with what was written, and audit it")
	fs.BoolVar(&o.compareCopy, "compare-copy", false, "measure a raw COPY of a filled base against its "+
		"fill; takes the same disk space twice more, in the database and in TMPDIR")
	fs.BoolVar(&o.keepCopy, "keep-copy", true, "keep a copy of the filled base for 'plimsoll reset' and 'plimsoll "+
		"line'; it takes the same disk space again, and is left out if that is not free")
	a.targetFlags(c, &o.target)
	config.FlagOnly(fs, "keep-copy", "create", "if-empty", "small", "resume", "discard", "estimate", "check",
		"compare-copy")
	for _, one := range []string{"scale", "size"} {
		for _, other := range []string{"documents", "items", "counterparties", "warehouses", "organisations", "users",
			"small"} {
			c.MarkFlagsMutuallyExclusive(one, other)
		}
	}
	c.MarkFlagsMutuallyExclusive("scale", "size")
	c.MarkFlagsMutuallyExclusive("resume", "discard", "check", "compare-copy", "estimate")
}

func (o *fillOptions) options() (fill.Options, error) {
	options := fill.Options{
		Items: o.items, Warehouses: o.warehouses, Counterparties: o.counterparties, Scale: o.scale, Streams: o.streams,
		Users: o.users, Organisations: o.organisations, Documents: o.documents, Seed: uint64(o.seed), Resume: o.resume,
		Discard: o.discard,
	}
	if o.documents == 0 {
		options.Documents = -1 // none, if 0 is the default
	}
	if options.Streams == 0 {
		options.Streams = runtime.NumCPU()
	}
	if o.flags.Changed("scale") && o.scale == 0 {
		options.Scale = -1 // refused, if 0 means none
	}
	if o.size != "" {
		bytes, err := human.ParseBytes(o.size)
		if err != nil {
			return options, problem.New(problem.Usage, fmt.Errorf("--size: %w", err),
				"for example 20GB, 1.5TB or 300MB")
		}
		options.Scale = fill.ScaleOf(bytes)
	}
	return options, nil
}

func (a *app) fill(ctx context.Context, o *fillOptions) error {
	if outfit, is := system.OutfitOf(o.load); is {
		return a.fillOneC(ctx, o, outfit)
	}
	if err := refuseIdle(o.flags, o.idle()...); err != nil {
		return err
	}
	if o.small {
		if err := setSmallSizes(o.flags); err != nil {
			return err
		}
	}
	options, err := o.options()
	if err != nil {
		return err
	}
	sizes, err := fill.SizesOf(options)
	if err != nil {
		return err
	}
	if o.estimate {
		return a.showEstimate(sizes, options)
	}
	dsn, err := a.database(ctx, o.target)
	if err != nil {
		return err
	}
	db, err := database.Open(ctx, dsn, database.Options{})
	if err != nil {
		return err
	}
	defer db.Close()
	options.Progress = a.fillProgress()
	options.Create = o.mayCreate(o.create)
	switch {
	case o.check:
		return a.checkFill(ctx, db, options)
	case o.compareCopy:
		return a.compareCopy(ctx, db, options)
	}
	if !o.resume {
		if err := a.roomFor(ctx, db, sizes, options); err != nil {
			return err
		}
	}
	defer debug.SetGCPercent(debug.SetGCPercent(collectAt)) // little lives long here, much is allocated
	done, err := fill.Run(ctx, db, options)
	a.meter.End()
	switch {
	case errors.Is(err, fill.ErrNotEmpty) && o.ifEmpty:
		return a.filled(nil, false)
	case errors.Is(err, fill.ErrNotEmpty):
		return problem.New(problem.Usage, err,
			"--if-empty skips a filled database; plimsoll reset restores it as it was filled; for other sizes: "+
				"plimsoll down, destroy, up, fill")
	case err != nil && ctx.Err() != nil:
		return problem.New(problem.Interrupted, fmt.Errorf("fill was stopped; finished parts are kept: %w", ctx.Err()),
			"the same command continues, --discard starts over")
	case err != nil:
		return err
	}
	db.Close() // a database with other sessions cannot be copied
	kept, err := a.keepCopy(ctx, dsn, o)
	if err != nil {
		return err
	}
	return a.filled(&done, kept)
}

// keepCopy of a base that was filled, unless the user does not want one.
func (a *app) keepCopy(ctx context.Context, dsn string, o *fillOptions) (kept bool, err error) {
	if !o.keepCopy {
		return false, nil
	}
	a.meter.Phase("fill, keep a copy", 0, "")
	defer a.meter.End()
	return system.Keep(ctx, dsn, a.meter.Say)
}

// roomFor checks the disk before anything is written; for a large base it prints what it takes.
func (a *app) roomFor(ctx context.Context, db *database.Database, sizes fill.Sizes, options fill.Options) error {
	e := fill.EstimateOf(sizes, options.Streams)
	if options.Scale != 0 {
		a.meter.Say("%s", estimated(sizes, options, e))
	}
	free, known := fill.Free(ctx, db)
	switch {
	case known && free < e.Needed:
		return problem.New(problem.Environment,
			fmt.Errorf("the disk is too small: about %s are needed, %s are free", human.Bytes(e.Needed),
				human.Bytes(free)),
			fmt.Sprintf("use --size %s, which fits, or put the cluster on a larger disk", largestSize(free)))
	case !known && options.Scale != 0:
		a.meter.Say("cannot see the server's disk from here: make sure that about %s are free", human.Bytes(e.Needed))
	}
	return nil
}

// largestSize is the largest size that a disk holds, including what filling needs.
func largestSize(free int64) string { return fmt.Sprintf("%dMB", max(1, free*7/10>>20)) }

func estimated(s fill.Sizes, o fill.Options, e fill.Estimate) string {
	size := ""
	if o.Scale > 0 {
		size = fmt.Sprintf("scale %.4g: ", o.Scale)
	}
	return size + fmt.Sprintf("%d documents, %d contracts, %d counterparties, %d items, %d organisations; "+
		"about %s on disk (%s while it is filled), %s with %d streams",
		e.Documents, s.Contracts, s.Counterparties, s.Items, s.Organisations, human.Bytes(e.Bytes),
		human.Bytes(e.Needed), e.Time, o.Streams)
}

func (a *app) showEstimate(s fill.Sizes, o fill.Options) error {
	e := fill.EstimateOf(s, o.Streams)
	if a.json {
		return a.emit(struct {
			fill.Sizes
			Scale    float64       `json:"scale,omitempty"`
			Streams  int           `json:"streams"`
			Estimate fill.Estimate `json:"estimate"`
		}{s, o.Scale, o.Streams, e})
	}
	_, err := fmt.Fprintln(a.stdout, estimated(s, o, e))
	return err
}

// fillProgress shows the stages of a fill one after the other.
func (a *app) fillProgress() func(fill.Progress) {
	show := a.fillStages()
	return func(p fill.Progress) { show(p.Stage, float64(p.Done), float64(p.Total)) }
}

func (a *app) fillStages() func(stage string, done, total float64) {
	last := ""
	return func(stage string, done, total float64) {
		if stage != last {
			last = stage
			a.meter.Phase("fill, "+stage, total, "done")
		}
		a.meter.Update(done, "")
	}
}

func (a *app) filled(done *fill.Summary, kept bool) error {
	if a.json {
		return a.emit(struct {
			Filled bool `json:"filled"` // false: it already was
			*fill.Summary
			Kept bool `json:"copy_kept"`
		}{done != nil, done, kept})
	}
	if done == nil {
		_, err := fmt.Fprintln(a.stdout, "the database is filled already")
		return err
	}
	_, err := fmt.Fprintf(a.stdout, "filled: %d documents, %d items, %d counterparties, %d contracts, %d "+
		"warehouses, %d users; %d rows in %s (%d streams)\n",
		done.Documents, done.Items, done.Counterparties, done.Contracts, done.Warehouses, done.Users, done.Rows,
		done.Elapsed.Round(100*time.Millisecond), done.Streams)
	return err
}

// collectAt is how many per cent more than the live memory the heap grows before a collection, while a base is made.
const collectAt = 400

// tempDir is where rows are dumped.
func tempDir() string { return os.TempDir() }
