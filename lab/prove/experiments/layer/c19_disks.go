package layer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"plimsoll/ground/host/dirs"
	"plimsoll/ground/host/process"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/problem"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/loopdisk"
	"plimsoll/lab/prove/trial"
)

// Defaults of C19.
const (
	c19Turn    = 20 * time.Second
	c19Rounds  = 6
	c19Between = 20 * time.Second // to start the server, copy the base, warm up and stop, roughly
	c19Making  = 5 * time.Minute  // disks, three clusters and bases
	c19Scale   = 0.01
	c19Full    = site.WholeScale
	c19Margin  = 1.05 // what counts as no change
	c19Disks   = 3    // one each for temp tables, indexes and log
	// c19Writes a second is what a disk of our own allows, as one with platters does.
	c19Writes = 150
	c19Bytes  = 40 << 30 // that it has room for; its file takes what is written
)

// diskSide is a server whose files lie on one disk or on several.
type diskSide struct {
	name, cluster      string
	temp, indexes, log bool // on a disk of their own
}

// Sides of C19.
var (
	oneDisk   = diskSide{name: "one disk", cluster: "prove-one-disk"}
	tempApart = diskSide{name: "temp tables apart", cluster: "prove-temp-apart", temp: true}
	allApart  = diskSide{name: "all apart", cluster: "prove-all-apart", temp: true, indexes: true, log: true}
	c19Sides  = []diskSide{oneDisk, tempApart, allApart}
)

// refuseNoDisks: without other disks and without the rights to make some there is nothing to compare.
func refuseNoDisks(b site.Bench) error {
	if len(b.Disks) > 0 {
		return nil
	}
	if why := loopdisk.Impossible(dirs.State(), true); why != "" {
		return problem.New(problem.Environment, fmt.Errorf("C19 cannot be had here, because %s", why),
			"name folders on disks other than that of the data: --disks DIR,DIR; the servers' user must be allowed to "+
				"write to each")
	}
	return nil
}

// apartDisks are where clusters keep their data, and folders on further disks.
type apartDisks struct {
	clusters *cluster.Store
	further  []string
	made     []*loopdisk.Disk // with a limit while documents are posted
}

// post documents on a copy of a base. Copying and warming up take no part in the turn: disks of our own have their
// limit only then.
func (d *apartDisks) post(ctx context.Context, c *cluster.Cluster, base string, turn time.Duration,
	n int) (f trial.Figures, err error) {
	w, err := openOnCopy(ctx, c, base)
	if err != nil {
		return nil, err
	}
	defer w.close()
	if err := site.Admin(ctx, c, "", "CHECKPOINT"); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.limit(0)) }()
	if err := d.limit(c19Writes); err != nil {
		return nil, err
	}
	return w.turn(turn, documentRate)(ctx, n)
}

func (d *apartDisks) limit(perS int) (err error) {
	for _, disk := range d.made {
		err = errors.Join(err, disk.Limit(perS))
	}
	return err
}

// open those that --disks names, or make some.
func (d *apartDisks) open(ctx context.Context, b site.Bench, r *trial.Record) error {
	d.clusters, d.further = b.Clusters, b.Disks
	if len(b.Disks) > 0 {
		return nil
	}
	d.further, d.made = nil, nil
	for n := range 1 + c19Disks {
		disk, err := loopdisk.Make(ctx, dirs.State(), loopdisk.Options{Bytes: c19Bytes})
		if err != nil {
			return err
		}
		r.AtEnd(disk.Remove)
		d.made = append(d.made, disk)
		if n == 0 {
			d.clusters = cluster.Open(filepath.Join(disk.Dir, "state"))
			continue
		}
		folder, err := disk.Folder()
		if err != nil {
			return err
		}
		d.further = append(d.further, folder)
	}
	return nil
}

// separateDisks is the experiment behind C19: documents posted on servers that differ by where their files lie.
func separateDisks(b site.Bench, _ *site.Site) trial.Trial {
	scale, disks := b.BaseScale(c19Scale, c19Full), &apartDisks{}
	part := trial.Part{Rounds: b.Rounds(c19Rounds), Turn: b.Turn(c19Turn), Between: c19Between,
		Series: []trial.Series{{Name: documentRate, Unit: "1/s"}, {Name: site.MedianTime, Unit: "ms"},
			{Name: site.P99Time, Unit: "ms"}},
		Open: func(ctx context.Context, r *trial.Record) error { return disks.open(ctx, b, r) }}
	for _, side := range c19Sides {
		part.Sides = append(part.Sides, trial.Side{Name: side.name,
			Open: func(ctx context.Context, r *trial.Record) (trial.Turn, error) {
				own, base, err := side.build(ctx, b, disks, scale, r)
				if err != nil {
					return nil, err
				}
				return func(ctx context.Context, n int) (f trial.Figures, err error) {
					err = own.Running(ctx, cluster.StartOptions{}, func(c *cluster.Cluster) error {
						f, err = disks.post(ctx, c, base.Name, part.Turn, n)
						return err
					})
					return f, err
				}, nil
			}})
	}
	against := func(side diskSide, series string) trial.Ratio {
		return trial.Ratio{Of: trial.At(side.name, series), To: trial.At(oneDisk.name, series)}
	}
	part.Measured = []trial.Phrase{trial.Say("%s documents/s on one disk; with temp tables on another %s, p99 %s; "+
		"with temp tables, indexes and log each on another %s, p99 %s",
		trial.Spread{Of: trial.At(oneDisk.name, documentRate), Format: "%.1f"}, against(tempApart, documentRate),
		against(tempApart, site.P99Time), against(allApart, documentRate), against(allApart, site.P99Time))}
	further, whose := c19Disks, fmt.Sprintf("made by the experiment as files on loop devices, each with a limit of %d "+
		"writes a second while documents are posted, as of one with platters, that of the data too", c19Writes)
	if len(b.Disks) > 0 {
		further, whose = furtherDisks(b.Disks), "given by --disks"
	}
	return trial.Trial{
		Text: fmt.Sprintf("documents are posted in the classic shape on bases at scale %g, with all files on one "+
			"disk, with temp tables on another, and with temp tables, indexes and log each on another", scale),
		Overhead: c19Making, Parts: []trial.Part{part},
		Rules: trial.Rules{
			Requires: []trial.Criterion{
				{Of: trial.Known{As: "disks besides that of the data", Value: float64(further)},
					Confirm: trial.AtLeast(1), Unless: "all folders are on the disk of the data"},
				site.TurnsOf(part.Turn, c19Turn)},
			Direction: []trial.Criterion{{Of: against(tempApart, documentRate),
				Confirm: trial.Within(1/c19Margin, c19Margin), Refute: trial.Outside(1/c19Margin, c19Margin)},
				trial.Larger(against(allApart, documentRate))},
			Situation: []trial.Condition{site.ScaleOf(scale), site.AtWork(site.Clients, "30,000 users"),
				{Of: trial.Known{As: "disks besides that of the data", Value: float64(further)},
					Report: "indexes, log, logs, three of temp tables", Met: trial.AtLeast(c19Disks)}}},
		Conditions: []claims.Condition{
			{Name: "load", Text: withoutThinking("writes documents") + "; classic shape; each turn on a copy of the " +
				"base"},
			{Name: "disks", Text: fmt.Sprintf("%d besides that of the data, %s; temp tables use the first, indexes "+
				"the second, the log the third, or again the first", further, whose)},
			{Name: "both halves", Text: "report D moved the temp tables alone and saw no change; report A has data, " +
				"indexes, log and temp tables apart for the sake of speed"},
		},
	}
}

// build a cluster with a filled base, and put its files where the side has them.
func (side diskSide) build(ctx context.Context, b site.Bench, disks *apartDisks, scale float64,
	r *trial.Record) (own *site.OwnCluster, base *site.SeparateBase, err error) {
	b.Clusters = disks.clusters
	var folders [3]string // for temp tables, indexes and log; they go last, when no server uses them any more
	for n, apart := range []bool{side.temp, side.indexes, side.log} {
		if !apart {
			continue
		}
		if folders[n], err = folderOn(disks.further[n%len(disks.further)], r.AtEnd); err != nil {
			return nil, nil, err
		}
	}
	temp, indexes, log := folders[0], folders[1], folders[2]
	r.Say("%s: creating a cluster and filling a base at scale %g", side.name, scale)
	if own, err = site.NewOwnCluster(ctx, b, side.cluster, cluster.Spec{Memory: "25%"}, r.AtEnd); err != nil {
		return nil, nil, err
	}
	r.Condition("engine", own.Server().String())
	if base, err = own.Filled(ctx, scale); err != nil {
		return nil, nil, err
	}
	err = own.Running(ctx, cluster.StartOptions{}, func(c *cluster.Cluster) error {
		return errors.Join(putTemp(ctx, c, temp), putIndexes(ctx, c, base.Name, indexes))
	})
	if err == nil && log != "" {
		err = putLog(ctx, own.DataDir(), log)
	}
	return own, base, err
}

// folderOn a disk, for the server; it goes at the end.
func folderOn(disk string, atEnd func(func() error)) (dir string, err error) {
	account, err := process.ServerAccount()
	if err != nil {
		return "", err
	}
	if disk, err = filepath.Abs(disk); err != nil {
		return "", err
	}
	account.WithPermissions(func() { dir, err = os.MkdirTemp(disk, "plimsoll-prove-") })
	if err != nil {
		return "", problem.New(problem.Environment, err, "--disks: the user that servers run as must be allowed to "+
			"write there")
	}
	atEnd(func() (err error) {
		account.WithPermissions(func() { err = os.RemoveAll(dir) })
		return err
	})
	return dir, nil
}

// makeTablespace in a folder.
func makeTablespace(ctx context.Context, c *cluster.Cluster, name, dir string) error {
	return site.Admin(ctx, c, "", fmt.Sprintf("CREATE TABLESPACE %s LOCATION '%s'", name,
		strings.ReplaceAll(dir, "'", "''")))
}

func putTemp(ctx context.Context, c *cluster.Cluster, dir string) error {
	if dir == "" {
		return nil
	}
	if err := makeTablespace(ctx, c, "temp_apart", dir); err != nil {
		return err
	}
	return site.Admin(ctx, c, "", "ALTER SYSTEM SET temp_tablespaces = temp_apart")
}

func putIndexes(ctx context.Context, c *cluster.Cluster, database, dir string) error {
	if dir == "" {
		return nil
	}
	if err := makeTablespace(ctx, c, "indexes_apart", dir); err != nil {
		return err
	}
	return site.Admin(ctx, c, database, "ALTER INDEX ALL IN TABLESPACE pg_default SET TABLESPACE indexes_apart")
}

// putLog moves the log of a stopped server, with the rights of its user.
func putLog(ctx context.Context, data, dir string) error {
	owner, err := process.OwnerOf(data)
	if err != nil {
		return err
	}
	const move = `cp -a "$1" "$2" && rm -r "$1" && ln -s "$2" "$1"`
	cmd := exec.CommandContext(ctx, "sh", "-c", move, "sh", filepath.Join(data, "pg_wal"), filepath.Join(dir, "log"))
	owner.Run(cmd)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("move the log: %w: %s", err, strings.TrimSpace(string(out)))
	}
	return nil
}

// furtherDisks counts the devices of folders, without that of the data. Memory is no disk.
func furtherDisks(folders []string) int {
	seen := map[uint64]bool{deviceOf(dirs.State()): true}
	for _, folder := range folders {
		if !inMemory(folder) {
			seen[deviceOf(folder)] = true
		}
	}
	return len(seen) - 1
}

// Kinds of file systems that are in memory (statfs(2)).
const tmpfs, ramfs = 0x01021994, 0x858458f6

func inMemory(folder string) bool {
	var fs syscall.Statfs_t
	err := syscall.Statfs(folder, &fs)
	return err == nil && (int64(fs.Type) == tmpfs || int64(fs.Type) == ramfs)
}

// deviceOf a folder, or of the one in which it would be made.
func deviceOf(path string) uint64 {
	var stat syscall.Stat_t
	for syscall.Stat(path, &stat) != nil {
		if path = filepath.Dir(path); path == "." || path == "/" {
			break
		}
	}
	return stat.Dev
}
