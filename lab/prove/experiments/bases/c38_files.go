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

	"plimsoll/ground/host/process"
	"plimsoll/ground/human"
	"plimsoll/ground/postgres"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
)

// Sizes of C38: the report's base, and a server with as many of them as the report's.
const (
	c38Rounds      = 4
	c38Tables      = 6000 // of a base, with 20,000 indexes
	c38Few         = 60
	c38Bases       = 60
	c38Files       = 2_000_000
	c38EachFile    = 6.3 // files of a table: itself, three or four indexes, and where long values go
	c38Written     = 50  // tables that get a row before a checkpoint
	c38Batch       = 50  // tables in a transaction: each holds locks
	c38Turn        = 25 * time.Second
	c38FullTurn    = 6 * time.Minute
	c38Making      = 4 * time.Minute
	c38FullMaking  = 90 * time.Minute
	c38TimesSlower = 2.0 // what counts as mattering
)

// Sides of C38.
const (
	fewFiles      = "few files"
	manyFilesSide = "many files"
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
	filesThere      = "files"
)

// ofFiles are the operations that look at the files of all bases: what is in them is the same.
var ofFiles = []string{startAfterStop, startAfterCrash, checkpointTime, sizeTime}

// tablesOf a base of the report's, or of as many tables as --documents says.
func tablesOf(b site.Bench) int {
	if b.Documents != 0 {
		return b.Documents
	}
	return c38Tables
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

// manyFiles is the experiment behind C38: two servers with the same rows, which are next to none, in few and in many
// files.
func manyFiles(b site.Bench, s *site.Site) trial.Trial {
	part := trial.Part{Rounds: b.Rounds(c38Rounds), Turn: c38Turn, Series: []trial.Series{
		{Name: startAfterStop, Unit: "s"}, {Name: startAfterCrash, Unit: "s"}, {Name: checkpointTime, Unit: "s"},
		{Name: vacuumTime, Unit: "s"}, {Name: dumpTime, Unit: "s"}, {Name: catalogTime, Unit: "s"},
		{Name: sizeTime, Unit: "s"}, {Name: filesThere}}}
	making := c38Making
	if b.Full {
		part.Turn, making = c38FullTurn, c38FullMaking
	}
	part.Sides = []trial.Side{
		{Name: fewFiles, Open: func(ctx context.Context, r *trial.Record) (trial.Turn, error) {
			few, err := site.NewOwnCluster(ctx, b, "prove-few", cluster.Spec{Memory: "25%"}, r.AtEnd)
			if err != nil {
				return nil, err
			}
			return filesTurn(few), makeBases(ctx, few, c38Few, 1, r)
		}},
		{Name: manyFilesSide, Open: func(ctx context.Context, r *trial.Record) (trial.Turn, error) {
			return filesTurn(s.Own), makeBases(ctx, s.Own, tablesOf(b), baseCount(b), r)
		}},
	}
	against := func(series string) trial.Ratio {
		return trial.Ratio{Of: trial.At(manyFilesSide, series), To: trial.At(fewFiles, series)}
	}
	most := trial.Largest{As: "time with many files against few, of the operation on files that slows down most"}
	for _, series := range ofFiles {
		most.Of = append(most.Of, against(series))
	}
	text, values := "many files against few: ", []any{}
	for i, series := range part.Series[:len(part.Series)-1] {
		if i > 0 {
			text += ", "
		}
		text, values = text+series.Name+" %s s, %s", append(values,
			trial.Median{Of: trial.At(manyFilesSide, series.Name), Format: "%.3g"}, against(series.Name))
	}
	part.Measured = []trial.Phrase{trial.Say("%s files against %s",
		trial.Median{Of: trial.At(manyFilesSide, filesThere), Format: "%.0f"},
		trial.Median{Of: trial.At(fewFiles, filesThere), Format: "%.0f"}), trial.Say(text, values...)}
	return trial.Trial{
		Text: fmt.Sprintf("start, checkpoint, vacuum, dump and scans of a server with %d bases of %s tables, and of "+
			"one with a base of %d", baseCount(b), human.Thousands(tablesOf(b)), c38Few),
		Overhead: making, Parts: []trial.Part{part},
		Rules: trial.Rules{
			Direction: []trial.Criterion{trial.Bar(most, c38TimesSlower)},
			Situation: []trial.Condition{{Of: trial.Known{As: "files of the server, about", Value: filesOf(b)},
				Report: human.Thousands(c38Files), Met: trial.AtLeast(c38Files)},
				trial.Absent("load", "bases at work", "none"),
				trial.Absent("file systems", "compared", "one")}},
		Conditions: []claims.Condition{
			{Name: "bases", Text: fmt.Sprintf("empty tables with 3 or 4 indexes; the first base is created, the "+
				"others are copies of its files (report: %d bases of %s tables and 20,000 indexes)", c38Bases,
				human.Thousands(c38Tables))},
			{Name: "turns", Text: fmt.Sprintf("the server is started, %d tables get a row before the checkpoint, it "+
				"is killed, started again and stopped; the kernel keeps its caches", c38Written)},
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

// filesTurn measures a server that is down, and leaves it down.
func filesTurn(o *site.OwnCluster) trial.Turn {
	return func(ctx context.Context, _ int) (trial.Figures, error) {
		f := trial.Figures{}
		began := time.Now()
		p, err := o.Start(ctx, cluster.StartOptions{})
		if err != nil {
			return nil, err
		}
		f[startAfterStop] = time.Since(began).Seconds()
		err = measureBase(ctx, p.Cluster(), f)
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
