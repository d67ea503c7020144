package bases

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/host/dirs"
	"plimsoll/ground/host/process"
	"plimsoll/ground/human"
	"plimsoll/ground/postgres"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/problem"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/loopdisk"
	"plimsoll/lab/prove/trial"
)

// Sizes of C38: the report's base, and a server with as many of them as the report's.
const (
	c38Rounds      = 4
	c38Tables      = 6000 // of a base, with 20,000 indexes
	c38SmallTables = 2000
	c38Few         = 60
	c38Bases       = 60
	c38Files       = 2_000_000
	c38EachFile    = 6.3 // files of a table: itself, three or four indexes, and where long values go
	c38Written     = 50  // tables that get a row before a checkpoint
	c38Batch       = 50  // tables in a transaction: each holds locks
	c38Turn        = 18 * time.Second
	c38FullTurn    = 6 * time.Minute
	c38Making      = 3 * time.Minute // two disks with two clusters each
	c38FullMaking  = 3 * time.Hour
	c38Posting     = 8 * time.Second // beside which everything else is done
	c38Warming     = 2 * time.Second
	c38Scale       = 0.002 // of the base in which documents are posted
	// c38FileBytes is about what a file takes: an empty index has two pages.
	c38FileBytes   = 12_000
	c38Room        = 6 << 30 // for the rest
	c38TimesSlower = 2.0     // what counts as mattering
)

// Sides of C38: few and many files, each on two file systems.
const (
	fewFiles      = "few files"
	manyFilesSide = "many files"
	fewThere      = "few files, another file system"
	manyThere     = "many files, another file system"
)

// Figures of C38, in seconds but for the last.
const (
	startAfterStop  = "start after a stop"
	startAfterCrash = "start after a crash"
	checkpointTime  = "checkpoint"
	vacuumTime      = "vacuum of a base"
	dumpTime        = "dump of a base's definitions"
	catalogTime     = "scan of a base's catalogs"
	sizeTime        = "size of all bases"
	postedTime      = "a posted document"
	filesThere      = "files"
)

// ofFiles are the operations that look at the files of all bases: what is in them is the same.
var ofFiles = []string{startAfterStop, startAfterCrash, checkpointTime, sizeTime, postedTime}

// tablesOf a base of the report's, or of as many tables as --documents says.
func tablesOf(b site.Bench) int {
	switch {
	case b.Documents != 0:
		return b.Documents
	case b.Full:
		return c38Tables
	}
	return c38SmallTables
}

// baseCount is how many of them there are.
func baseCount(b site.Bench) int {
	if b.Full {
		return c38Bases
	}
	return 1
}

// filesOf is about how many files that makes.
func filesOf(b site.Bench) float64 { return c38EachFile * float64(tablesOf(b)*baseCount(b)) }

// refuseNoLoop devices: file systems are compared on disks of the experiment's own.
func refuseNoLoop(site.Bench) error {
	if why := loopdisk.Impossible(dirs.State(), false); why != "" {
		return problem.New(problem.Environment, fmt.Errorf("C38 cannot be had here, because %s", why),
			"run it as root on a kernel with loop devices")
	}
	return nil
}

// manyFiles is the experiment behind C38: servers with the same rows, which are next to none, in few and in many files,
// on two file systems, while documents are posted.
func manyFiles(b site.Bench, _ *site.Site) trial.Trial {
	part := trial.Part{Rounds: b.Rounds(c38Rounds), Turn: c38Turn, Series: []trial.Series{
		{Name: startAfterStop, Unit: "s"}, {Name: startAfterCrash, Unit: "s"}, {Name: checkpointTime, Unit: "s"},
		{Name: vacuumTime, Unit: "s"}, {Name: dumpTime, Unit: "s"}, {Name: catalogTime, Unit: "s"},
		{Name: sizeTime, Unit: "s"}, {Name: postedTime, Unit: "s"}, {Name: filesThere}}}
	making := c38Making
	if b.Full {
		part.Turn, making = c38FullTurn, c38FullMaking
	}
	stores := map[string]*cluster.Store{}
	part.Open = func(ctx context.Context, r *trial.Record) error {
		other := loopdisk.Another()
		for name, system := range map[string]string{"": "ext4", another: other} {
			if system == "" {
				continue
			}
			disk, err := loopdisk.Make(ctx, dirs.State(), loopdisk.Options{System: system,
				Bytes: int64(c38FileBytes*filesOf(b)) + c38Room, Files: 2*int(filesOf(b)) + 100_000})
			if err != nil {
				return err
			}
			r.AtEnd(disk.Remove)
			stores[name] = cluster.Open(filepath.Join(disk.Dir, "state"))
		}
		if other == "" {
			other = "cannot be had here, because no mkfs of xfs, btrfs or ext2 is installed"
		}
		r.Condition("file systems", "ext4 on a loop device, and another: "+other)
		return nil
	}
	side := func(name, cluster, system string, tables, bases int) trial.Side {
		return trial.Side{Name: name, Unjudged: system == another,
			Open: func(ctx context.Context, r *trial.Record) (trial.Turn, error) {
				if stores[system] == nil {
					return func(context.Context, int) (trial.Figures, error) { return nil, nil }, nil
				}
				on := b
				on.Clusters = stores[system]
				return fileServer(ctx, on, cluster, tables, bases, r)
			}}
	}
	part.Sides = []trial.Side{
		side(fewFiles, "prove-few", "", c38Few, 1), side(manyFilesSide, "prove-many", "", tablesOf(b), baseCount(b)),
		side(fewThere, "prove-few", another, c38Few, 1),
		side(manyThere, "prove-many", another, tablesOf(b), baseCount(b)),
	}
	against := func(series string) trial.Ratio {
		return trial.Ratio{Of: trial.At(manyFilesSide, series), To: trial.At(fewFiles, series)}
	}
	there := func(series string) trial.Ratio {
		return trial.Ratio{Of: trial.At(manyThere, series), To: trial.At(fewThere, series)}
	}
	most := trial.Largest{As: "time with many files against few, of the operation on files that slows down most"}
	for _, series := range ofFiles {
		most.Of = append(most.Of, against(series))
	}
	text, values := "many files against few on ext4, and there on another file system: ", []any{}
	for i, series := range part.Series[:len(part.Series)-1] {
		if i > 0 {
			text += ", "
		}
		text, values = text+series.Name+" %s s, %s, there %s", append(values,
			trial.Median{Of: trial.At(manyFilesSide, series.Name), Format: "%.3g"}, against(series.Name),
			there(series.Name))
	}
	part.Measured = []trial.Phrase{trial.Say("%s files against %s",
		trial.Median{Of: trial.At(manyFilesSide, filesThere), Format: "%.0f"},
		trial.Median{Of: trial.At(fewFiles, filesThere), Format: "%.0f"}), trial.Say(text, values...)}
	return trial.Trial{
		Text: fmt.Sprintf("start, posting, checkpoint, vacuum, dump and scans of a server with %d bases of %s tables, "+
			"and of one with a base of %d, on two file systems", baseCount(b), human.Thousands(tablesOf(b)), c38Few),
		Overhead: making, Parts: []trial.Part{part},
		Rules: trial.Rules{
			Direction: []trial.Criterion{trial.Bar(most, c38TimesSlower)},
			Situation: []trial.Condition{{Of: trial.Known{As: "files of the server, about", Value: filesOf(b)},
				Report: human.Thousands(c38Files), Met: trial.AtLeast(c38Files)},
				site.AtWork(site.Clients, "bases at work"),
				{Of: trial.Computed{As: "file systems", Format: "%.0f", Formula: fileSystems}, Report: "two, compared",
					Met: trial.AtLeast(2)}}},
		Conditions: []claims.Condition{
			{Name: "bases", Text: fmt.Sprintf("empty tables with 3 or 4 indexes; the first base is created, the "+
				"others are copies of its files (report: %d bases of %s tables and 20,000 indexes)", c38Bases,
				human.Thousands(c38Tables))},
			{Name: "turns", Text: fmt.Sprintf("the server is started; while %d users post documents for %s on a "+
				"worker of our ERP, in a base of scale %g beside the others, %d tables get a row before the "+
				"checkpoint, and the rest is done; it is killed, started again and stopped; the kernel keeps its "+
				"caches", site.Clients,
				c38Posting, c38Scale, c38Written)},
			{Name: "operations", Text: "the verdict is on those that touch the files of all bases; vacuum, dump and " +
				"catalog scans touch one base and depend on the size of its catalogs"},
		},
	}
}

// makeBases makes the tables of one base, and the others as its copies.
func makeBases(ctx context.Context, o *site.OwnCluster, tables, bases int, r *trial.Record) error {
	r.Say("making tables, %s in each base; bases: %d", human.Thousands(tables), bases)
	return o.Running(ctx, cluster.StartOptions{}, func(c *cluster.Cluster) error {
		if err := site.Admin(ctx, c, "", "DROP DATABASE IF EXISTS many_1 WITH (FORCE)",
			"CREATE DATABASE many_1"); err != nil {
			return err
		}
		err := site.Admin(ctx, c, "many_1", fmt.Sprintf(`DO $$
BEGIN
  FOR i IN 1 .. %d LOOP
    EXECUTE format('CREATE TABLE many_%%s (id int PRIMARY KEY, a int UNIQUE, b int UNIQUE, c text)', i);
    IF i %% 3 = 0 THEN EXECUTE format('CREATE INDEX ON many_%%s (a, b)', i); END IF;
    IF i %% %d = 0 THEN COMMIT; END IF;
  END LOOP;
END $$`, tables, c38Batch))
		if err != nil {
			return err
		}
		return postgres.With(ctx, c.DSN("").Secret(), func(conn *pgx.Conn) error {
			for n := 2; n <= bases; n++ {
				if err := postgres.CopyDatabase(ctx, conn, "many_1", fmt.Sprintf("many_%d", n)); err != nil {
					return err
				}
				r.Within(0, fmt.Sprintf("base %d of %d", n, bases))
			}
			return nil
		})
	})
}

// another marks the sides on the second file system.
const another = "another file system"

// fileSystems that were measured with many files.
func fileSystems(m *trial.Measurements) (n float64) {
	for _, side := range []string{manyFilesSide, manyThere} {
		if len(m.Figures(trial.At(side, startAfterCrash))) > 0 {
			n++
		}
	}
	return n
}

// fileServer is a server with so many tables in each of so many bases, and one in which documents are posted.
func fileServer(ctx context.Context, b site.Bench, name string, tables, bases int, r *trial.Record) (trial.Turn,
	error) {
	own, err := site.NewOwnCluster(ctx, b, name, cluster.Spec{Memory: "25%"}, r.AtEnd)
	if err != nil {
		return nil, err
	}
	r.Condition("engine", own.Server().String())
	if err := makeBases(ctx, own, tables, bases, r); err != nil {
		return nil, err
	}
	posted, err := own.Filled(ctx, c38Scale)
	if err != nil {
		return nil, err
	}
	return filesTurn(own, b, posted.Name), nil
}

// filesTurn measures a server that is down, and leaves it down.
func filesTurn(o *site.OwnCluster, b site.Bench, posted string) trial.Turn {
	return func(ctx context.Context, n int) (trial.Figures, error) {
		f := trial.Figures{}
		began := time.Now()
		p, err := o.Start(ctx, cluster.StartOptions{})
		if err != nil {
			return nil, err
		}
		f[startAfterStop] = time.Since(began).Seconds()
		err = whilePosting(ctx, b, p.Cluster(), posted, n, f)
		after := context.WithoutCancel(ctx)
		if err := errors.Join(err, p.Kill(after), ctx.Err()); err != nil {
			return nil, err
		}
		began = time.Now()
		err = o.Running(ctx, cluster.StartOptions{}, func(*cluster.Cluster) error {
			f[startAfterCrash] = time.Since(began).Seconds()
			return nil
		})
		f[filesThere] = filesIn(o.DataDir())
		return f, errors.Join(err, ctx.Err())
	}
}

// whilePosting measures a base while users post documents in another.
func whilePosting(ctx context.Context, b site.Bench, c *cluster.Cluster, posted string, n int,
	f trial.Figures) (err error) {
	w, err := b.Worker(ctx, c.DSN(posted).Secret(), "--shape", "classic")
	if err != nil {
		return err
	}
	defer w.Stop()
	accounts := site.NewAccounts()
	defer accounts.Close()
	users, err := accounts.LogIn(ctx, w.URL, site.Clients)
	if err != nil {
		return errors.Join(err, site.CheckAlive(w))
	}
	// Each turn has seeds of its own: the base keeps the documents of the turns before.
	if _, err := users.Play(ctx, c38Warming, uint64(2*n)); err != nil {
		return err
	}
	var times []time.Duration
	err = site.AllAtOnce(2, func(who int) (err error) {
		if who == 0 {
			return measureBase(ctx, c, f)
		}
		times, err = users.Play(ctx, c38Posting, uint64(2*n+1))
		return err
	})
	f[postedTime] = site.Mean(times) / 1000
	return err
}

// measureBase does what an administrator does to one base, and to all.
func measureBase(ctx context.Context, c *cluster.Cluster, f trial.Figures) error {
	if err := postgres.With(ctx, c.DSN("many_1").Secret(), func(conn *pgx.Conn) error {
		return measureStatements(ctx, conn, f)
	}); err != nil {
		return err
	}
	began := time.Now()
	err := site.Program(ctx, c, "many_1", io.Discard, "pg_dump", "--schema-only")
	f[dumpTime] = time.Since(began).Seconds()
	return err
}

func measureStatements(ctx context.Context, conn *pgx.Conn, f trial.Figures) error {
	if err := postgres.ExecuteOn(ctx, conn, fmt.Sprintf(`DO $$ BEGIN FOR i IN 1 .. %d LOOP
		EXECUTE format('INSERT INTO many_%%s SELECT coalesce(max(id), 0) + 1, coalesce(max(a), 0) + 1,
			coalesce(max(b), 0) + 1, ''row'' FROM many_%%s', i, i); END LOOP; END $$`, c38Written)); err != nil {
		return err
	}
	for _, one := range []struct{ series, sql string }{
		{checkpointTime, "CHECKPOINT"},
		{catalogTime, "SELECT count(*) FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid"},
		{sizeTime, "SELECT sum(pg_database_size(oid)) FROM pg_database"},
		{vacuumTime, "VACUUM"},
	} {
		began := time.Now()
		if err := postgres.ExecuteOn(ctx, conn, one.sql); err != nil {
			return err
		}
		f[one.series] = time.Since(began).Seconds()
	}
	return nil
}

// filesIn counts the files below a folder.
func filesIn(dir string) (n float64) {
	_ = process.WithOwnerPermissions(dir, func() {
		_ = filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				n++
			}
			return nil // what disappears meanwhile does not count
		})
	})
	return n
}
