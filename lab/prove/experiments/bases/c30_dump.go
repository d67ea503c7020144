package bases

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/profile"
	"plimsoll/ground/postgres/storage"
	"plimsoll/lab/crash/image"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
	"plimsoll/lab/stats"
	"plimsoll/platform/data/statement"
)

// Defaults of C30.
const (
	c30Rounds = 4
	// c30Scale of the base: a restore of seconds does not stand for one of hours. c30Full is that of --full.
	c30Scale     = 0.02
	c30Full      = site.WholeScale
	c30Turn      = time.Minute // roughly, and with --full
	c30FullTurn  = 6 * time.Minute
	c30Filling   = 2 * time.Minute
	c30Cuts      = 4
	c30CutTurn   = 20 * time.Second
	c30CutRows   = 20_000
	c30MostTime  = 50.0 // %, "dominated"
	c30Long      = 1800 // s, below which the share of indexes refutes nothing: the report's restore takes hours
	c30FsyncGain = 1.15 // "only 10 %", with room for noise
)

// Sides of C30. The third has the memory for index builds that PostgreSQL has by itself.
const (
	fsyncOn     = "fsync on"
	fsyncOff    = "fsync off"
	stockMemory = "fsync on, maintenance_work_mem 64MB"
	powerCut    = "power cut"
)

// Figures of C30.
const (
	restoreTime = "restore"
	restoreRate = "restored size" // of the dump, per second
	copyShare   = "share of COPY"
	indexShare  = "share of indexes"
	keyShare    = "share of primary keys"
	checkShare  = "share of foreign keys"
	baseLost    = "lost"
)

// stage of a restoration: entries of the dump's table of contents, by their kind.
type stage struct {
	series string
	kinds  []string // none: what no other stage has
}

// c30Stages in the order of a restoration.
var c30Stages = []stage{{"", nil}, {copyShare, []string{"TABLE DATA"}}, {keyShare, []string{"CONSTRAINT"}},
	{indexShare, []string{"INDEX"}}, {checkShare, []string{"FK CONSTRAINT"}}}

// restoredDump is the experiment behind C30.
func restoredDump(b site.Bench, s *site.Site) trial.Trial {
	d := &dump{own: s.Own, scale: b.BaseScale(c30Scale, c30Full)}
	part := trial.Part{Rounds: b.Rounds(c30Rounds), Turn: c30Turn, Open: d.open,
		Series: []trial.Series{{Name: restoreTime, Unit: "s"}, {Name: restoreRate, Unit: "MB/s"},
			{Name: copyShare, Unit: "%"}, {Name: keyShare, Unit: "%"}, {Name: indexShare, Unit: "%"},
			{Name: checkShare, Unit: "%"}}}
	if b.Full {
		part.Turn = c30FullTurn
	}
	cut := trial.Part{Name: powerCut, Title: powerCut, Rounds: c30Cuts, Turn: c30CutTurn,
		Series: []trial.Series{{Name: baseLost}}}
	for _, name := range []string{fsyncOn, fsyncOff, stockMemory} {
		part.Sides = append(part.Sides, trial.Side{Name: name,
			Open: func(context.Context, *trial.Record) (trial.Turn, error) {
				return func(ctx context.Context, _ int) (trial.Figures, error) { return d.restore(ctx, name) }, nil
			}})
		if name == stockMemory {
			continue
		}
		cut.Sides = append(cut.Sides, trial.Side{Name: name,
			Open: func(context.Context, *trial.Record) (trial.Turn, error) {
				return func(ctx context.Context, n int) (trial.Figures, error) {
					return cutPower(ctx, b, name, uint64(n+1))
				}, nil
			}})
	}
	on := func(series string) trial.Ref { return trial.At(fsyncOn, series) }
	gain := trial.Ratio{Of: on(restoreTime), To: trial.At(fsyncOff, restoreTime)}
	built := trial.Computed{As: "share of the time that builds indexes, those of primary keys included",
		Format: "%.0f %%", Formula: func(m *trial.Measurements) float64 {
			return stats.Median(m.Figures(on(indexShare))) + stats.Median(m.Figures(on(keyShare)))
		}}
	long := trial.Condition{Of: trial.Computed{As: "restore, s", Format: "%.0f",
		Formula: func(m *trial.Measurements) float64 { return stats.Median(m.Figures(on(restoreTime))) }},
		Report: "hours: indexes of a base that fits into memory are built there", Met: trial.AtLeast(c30Long)}
	lostWith := func(name string) trial.Computed {
		return trial.Computed{As: "bases lost in " + powerCut + "s with " + name, Format: "%.0f",
			Formula: func(m *trial.Measurements) (lost float64) {
				for _, one := range m.Figures(trial.At(name, baseLost).In(powerCut)) {
					lost += one
				}
				return lost
			}}
	}
	share := func(series string) trial.Spread { return trial.Spread{Of: on(series), Format: "%.0f"} }
	return trial.Trial{
		Text: fmt.Sprintf("a base at scale %g is dumped once and restored with fsync on and off; then the power is "+
			"cut after a load, %d times each", d.scale, c30Cuts),
		Overhead: c30Filling, Parts: []trial.Part{part, cut},
		Rules: trial.Rules{
			Requires: []trial.Criterion{
				{Of: trial.Known{As: "scale of the base", Value: d.scale}, Confirm: trial.AtLeast(c30Scale),
					Unless: "a restore of seconds does not stand for one of hours"},
				{Of: lostWith(fsyncOn), Confirm: trial.AtMost(0), Unless: "the simulated power cut loses flushed " +
					"data too"}},
			Direction: []trial.Criterion{
				{Of: built, Confirm: trial.Above(c30MostTime), Refute: trial.Below(c30MostTime)},
				{Of: gain, Confirm: trial.AtMost(c30FsyncGain), Refute: trial.Above(c30FsyncGain)},
				{Of: lostWith(fsyncOff), Confirm: trial.AtLeast(1), Refute: trial.Below(1), Anywhere: true}},
			Situation: []trial.Condition{long, site.ScaleOf(d.scale),
				trial.Absent("MS SQL Server on the same hardware", "twice as fast", "not here")}},
		Measured: []trial.Phrase{
			trial.Say("restored in %s s: COPY %s %%, indexes %s %%, primary keys %s %%, foreign keys %s %%",
				trial.Spread{Of: on(restoreTime), Format: "%.1f"}, share(copyShare), share(indexShare),
				share(keyShare), share(checkShare)),
			trial.Say("with fsync on it takes %s as long as with fsync off, with maintenance_work_mem 64MB %s as "+
				"long as "+
				"with the profile's", gain, trial.Ratio{Of: trial.At(stockMemory, restoreTime), To: on(restoreTime)}),
			trial.Say("of %d power cuts each %s bases are lost with fsync off and %s with fsync on", c30Cuts,
				lostWith(fsyncOff), lostWith(fsyncOn))},
		Conditions: []claims.Condition{
			{Name: "dump", Text: "pg_dump --format=directory, restored by pg_restore with one job: definitions, " +
				"data, primary keys and unique constraints, indexes, foreign keys, one after the other; a final " +
				"checkpoint is part of the time (report: a dump of 40 GB, a base of about 2 TB)"},
			{Name: powerCut, Text: fmt.Sprintf("simulated from the journal of lab/crash: %s rows are loaded, "+
				"acknowledged and checkpointed; then unflushed data survives wholly, in part or not at all. A "+
				"base is lost if the server does not start, or rows are missing or unreadable",
				human.Thousands(c30CutRows))},
		},
	}
}

// dump of a base, and the server on which it is restored.
type dump struct {
	own   *site.OwnCluster
	scale float64
	dir   string
	bytes float64
	lists []string // files for pg_restore, by stage
}

// open fills a base and dumps it.
func (d *dump) open(ctx context.Context, r *trial.Record) error {
	r.Say("filling a base at scale %g", d.scale)
	base, err := d.own.Filled(ctx, d.scale)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp(d.own.Dir(), "dump-")
	if err != nil {
		return err
	}
	r.AtEnd(func() error { return os.RemoveAll(folder) })
	d.dir = filepath.Join(folder, "dump")
	return d.own.Running(ctx, cluster.StartOptions{}, func(c *cluster.Cluster) error {
		began := time.Now()
		if err := site.Program(ctx, c, base.Name, os.Stderr, "pg_dump", "--format=directory", "--no-owner",
			"--file="+d.dir); err != nil {
			return err
		}
		took := time.Since(began)
		d.bytes = bytesIn(d.dir)
		r.Condition("base", fmt.Sprintf("scale %g, dumped in %.1f s to %.0f MB", d.scale, took.Seconds(), d.bytes/1e6))
		var contents bytes.Buffer
		if err := site.Program(ctx, c, "", &contents, "pg_restore", "--list", d.dir); err != nil {
			return err
		}
		if err := d.split(folder, contents.String()); err != nil {
			return err
		}
		return site.Admin(ctx, c, "", "DROP DATABASE "+base.Name+" WITH (FORCE)") // its pages would fill the caches
	})
}

// entry of a dump's table of contents: "215; 1259 16390 TABLE DATA public documents owner".
var entry = regexp.MustCompile(`^[0-9]+; [0-9]+ [0-9]+ ((?:FK )?[A-Z]+(?: [A-Z]+)*)`)

// split the table of contents by stages.
func (d *dump) split(folder, contents string) error {
	texts := make([]strings.Builder, len(c30Stages))
	for line := range strings.Lines(contents) {
		found := entry.FindStringSubmatch(line)
		if found == nil {
			continue
		}
		texts[stageOf(found[1])].WriteString(line)
	}
	d.lists = nil
	for i, text := range texts {
		file := filepath.Join(folder, fmt.Sprintf("list-%d", i))
		if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
			return err
		}
		d.lists = append(d.lists, file)
	}
	return nil
}

// stageOf an entry's kind. What sets sequences goes with the data's tables, before them.
func stageOf(kind string) int {
	for i, s := range c30Stages {
		for _, k := range s.kinds {
			if kind == k {
				return i
			}
		}
	}
	return 0
}

const restoredBase = "restored"

// restore the dump, stage by stage.
func (d *dump) restore(ctx context.Context, side string) (f trial.Figures, err error) {
	f = trial.Figures{}
	err = d.own.Running(ctx, cluster.StartOptions{Settings: fsync(side)}, func(c *cluster.Cluster) error {
		if err := site.Admin(ctx, c, "", "DROP DATABASE IF EXISTS "+restoredBase+" WITH (FORCE)",
			"CREATE DATABASE "+restoredBase, "CHECKPOINT"); err != nil {
			return err
		}
		whole := time.Now()
		for i, s := range c30Stages {
			began := time.Now()
			if err := site.Program(ctx, c, restoredBase, os.Stderr, "pg_restore", "--dbname="+restoredBase,
				"--no-owner",
				"--exit-on-error", "--use-list="+d.lists[i], d.dir); err != nil {
				return err
			}
			if s.series != "" {
				f[s.series] = time.Since(began).Seconds()
			}
		}
		if err := site.Admin(ctx, c, "", "CHECKPOINT"); err != nil {
			return err
		}
		f[restoreTime] = time.Since(whole).Seconds()
		return site.Admin(ctx, c, "", "DROP DATABASE "+restoredBase)
	})
	for _, s := range c30Stages {
		if s.series != "" {
			f[s.series] *= 100 / f[restoreTime]
		}
	}
	f[restoreRate] = d.bytes / 1e6 / f[restoreTime]
	return f, err
}

func fsync(side string) []profile.Setting {
	switch side {
	case fsyncOff:
		return []profile.Setting{{Name: "fsync", Value: "off"}}
	case stockMemory:
		return []profile.Setting{{Name: "fsync", Value: "on"}, {Name: "maintenance_work_mem", Value: "64MB"}}
	}
	return []profile.Setting{{Name: "fsync", Value: "on"}}
}

// cutPower loads rows on a small cluster, waits until they are acknowledged and checkpointed, cuts the power, and says
// whether they are lost.
func cutPower(ctx context.Context, b site.Bench, side string, seed uint64) (f trial.Figures, err error) {
	var closers []func() error
	defer func() {
		for _, end := range closers {
			err = errors.Join(err, end())
		}
	}()
	o, err := site.NewOwnCluster(ctx, b, "prove-cut", cluster.Spec{Settings: []profile.Setting{
		{Name: "shared_buffers", Value: "16MB"}, {Name: "max_wal_size", Value: "256MB"}}},
		func(end func() error) { closers = append(closers, end) })
	if err != nil {
		return nil, err
	}
	if err := o.KeepData(ctx); err != nil {
		return nil, err
	}
	dir, err := o.JournalDir()
	if err != nil {
		return nil, err
	}
	p, err := o.Start(ctx, cluster.StartOptions{Settings: fsync(side), Journal: dir})
	if err != nil {
		return nil, err
	}
	err = site.Admin(ctx, p.Cluster(), "", "CREATE TABLE loaded (id int PRIMARY KEY, t text)", fmt.Sprintf(
		"INSERT INTO loaded SELECT n, repeat('r', 100) FROM generate_series(1, %d) n", c30CutRows),
		"CREATE INDEX ON loaded (t, id)", "CHECKPOINT")
	if err := errors.Join(err, p.Kill(context.WithoutCancel(ctx))); err != nil {
		return nil, err
	}
	journal, err := storage.ReadJournal(dir)
	if err != nil {
		return nil, err
	}
	defer journal.Close()
	cut := image.Cut{At: uint64(len(journal.Records)), Seed: seed, Model: image.Strict}
	err = o.Rewind(ctx, func(data string) error {
		_, err := image.Build(o.KeptData(), data, journal.Records, cut)
		return err
	})
	if err != nil {
		return nil, err
	}
	whole, err := wholeAfter(ctx, o)
	f = trial.Figures{baseLost: 1}
	if whole {
		f[baseLost] = 0
	}
	return f, err
}

// wholeAfter a cut: the server starts and has every row, by the table and by its index.
func wholeAfter(ctx context.Context, o *site.OwnCluster) (whole bool, err error) {
	p, err := o.Start(ctx, cluster.StartOptions{})
	if err != nil {
		return false, ctx.Err() // it does not start: lost
	}
	err = site.Admin(ctx, p.Cluster(), "", statement.SQL(`DO $$ BEGIN
		IF (SELECT count(*) FROM loaded WHERE t = repeat('r', 100)) <> {rows} THEN RAISE 'rows are missing'; END IF;
		SET LOCAL enable_seqscan = off;
		IF (SELECT count(*) FROM loaded WHERE id > 0) <> {rows} THEN RAISE 'index entries are missing'; END IF;
	END $$`, statement.Names{"rows": strconv.Itoa(c30CutRows)}))
	return err == nil, errors.Join(ctx.Err(), p.Kill(context.WithoutCancel(ctx)))
}

func bytesIn(dir string) (sum float64) {
	_ = filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			sum += float64(info.Size())
		}
		return err
	})
	return sum
}
