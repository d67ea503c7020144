package crash

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"

	"golang.org/x/sync/errgroup"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/storage"
	"plimsoll/lab/crash/image"
)

// powerCuts loads the server, cuts its journal at many moments, and loads it again.
func (l *lab) powerCuts(ctx context.Context) error {
	if err := l.makePlaces(ctx); err != nil {
		return err
	}
	return l.turns(ctx, func(ctx context.Context, turn int) error {
		if turn > 0 {
			if err := l.rewind(ctx); err != nil {
				return err
			}
		}
		return l.cutOneLoad(ctx, min(l.PerLoad, l.Seeds-len(l.report.Cuts)))
	})
}

func unchanged(string) error { return nil }

func (l *lab) cutOneLoad(ctx context.Context, cuts int) error {
	dir, err := l.survivor().JournalDir()
	if err != nil {
		return err
	}
	l.step("load")
	loaded, err := l.loadWithJournal(ctx, dir)
	if err != nil {
		return err
	}
	journal, err := storage.ReadJournal(dir)
	if err != nil {
		return err
	}
	defer journal.Close()
	end := min(loaded.end, uint64(len(journal.Records)))
	if end <= loaded.begin {
		return fmt.Errorf("the journal ends at record %d, before the load began", len(journal.Records))
	}
	l.report.Segments = max(l.report.Segments, segments(journal.Records[loaded.begin:end]))
	loaded.flush = max(l.FlushLatency, longestFlush(journal.Records[:end], loaded.begin))
	if err := l.loadDone(loadLine{Operations: loaded.operations(), Records: end, Failed: loaded.failed,
		LongestFlushMS: human.MS(loaded.flush), LongestGapMS: human.MS(loaded.log.longestGap())}); err != nil {
		return err
	}
	return l.cutMany(ctx, &journalled{loaded, journal.Records, end}, cuts)
}

// journalled is a load with its journal, which ends at a record.
type journalled struct {
	*loaded
	records []storage.Record
	end     uint64
}

// cutMany examines cuts of a load in parallel, one in each place. What they show is kept in the order of seeds, so
// that a later run goes on behind the last.
func (l *lab) cutMany(ctx context.Context, load *journalled, cuts int) error {
	first, done, kept := len(l.report.Cuts), make([]*Cut, cuts), 0
	free := make(chan *cluster.Cluster, len(l.places))
	for _, place := range l.places {
		free <- place
	}
	group, working := errgroup.WithContext(ctx)
	var mu sync.Mutex
	for n := range cuts {
		place := <-free
		if working.Err() != nil || l.overtime() {
			break
		}
		mu.Lock()
		l.step("power cut")
		mu.Unlock()
		group.Go(func() error {
			defer func() { free <- place }()
			one, err := l.cut(working, place, load, l.Seed+uint64(first+n))
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			for done[n] = one; kept < cuts && done[kept] != nil; kept++ {
				if err := l.keepCut(*done[kept]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return errors.Join(group.Wait(), ctx.Err())
}

// cut the power at a moment of the load, and let the server recover in a place.
func (l *lab) cut(ctx context.Context, place *cluster.Cluster, load *journalled, seed uint64) (*Cut, error) {
	at := load.moment(seed, load.end)
	cut := image.Cut{At: at, Seed: seed, Model: l.Model}
	kept := l.survivor().KeptData()
	var undead []string
	err := place.RewindTo(ctx, kept, func(data string) (err error) {
		undead, err = image.Build(kept, data, load.records, cut)
		return err
	})
	if err != nil {
		return nil, err
	}
	one, record := &Cut{Seed: seed, Record: at, undead: undead}, load.records[at-1]
	if l.standby == nil {
		one.explain(load.log, load.flush, record.At)
	}
	return one, l.recover(ctx, place, one, load.acknowledgedBefore(at), record.At)
}

// moment of a cut, by its seed: every second one falls on an early read, if there was any, and the others anywhere.
func (l *loaded) moment(seed, end uint64) uint64 {
	random := rand.New(rand.NewPCG(seed, 0))
	from := min(l.stake(), end-1)
	anywhere := from + 1 + random.Uint64N(end-from)
	if early := l.earlyReads(end); seed%2 == 0 && len(early) > 0 {
		return early[random.IntN(len(early))]
	}
	return anywhere
}

// makePlaces where cuts of a load are examined in parallel: the survivor of the load, and copies of it.
func (l *lab) makePlaces(ctx context.Context) error {
	l.places = []*cluster.Cluster{l.survivor()}
	if l.standby != nil { // one alone follows the primary
		return nil
	}
	for len(l.places) < min(l.Recoveries, l.PerLoad, l.Seeds) {
		spec := l.Spec
		spec.DataOf = l.cluster
		place, err := l.Clusters.Create(ctx, fmt.Sprintf("crash-%d-%d", os.Getpid(), rand.IntN(1e6)), spec)
		if err != nil {
			return err
		}
		l.places = append(l.places, place)
	}
	return nil
}

// segments of the log that were written.
func segments(records []storage.Record) int {
	written := map[uint64]bool{}
	wal := logFiles(records)
	for _, r := range records {
		if r.Kind == storage.Write && wal[r.Ino] {
			written[r.Ino] = true
		}
	}
	return len(written)
}

// loadWithJournal ends with a kill: the journal is cut before it.
func (l *lab) loadWithJournal(ctx context.Context, dir string) (loaded *loaded, err error) {
	journal := cluster.StartOptions{Journal: dir, FlushLatency: l.FlushLatency, Broken: l.Broken}
	own, its := journal, cluster.StartOptions{}
	if l.standby != nil { // the power of both is cut, and the standby's disk is what is left
		own, its = cluster.StartOptions{FlushLatency: l.FlushLatency}, journal
	}
	p, err := l.cluster.Start(ctx, own)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.Kill(context.WithoutCancel(ctx)), l.killStandby(ctx)) }()
	if err := l.startStandby(ctx, its); err != nil {
		return nil, err
	}
	state, err := storage.OpenState(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, state.Err(), state.Close()) }()
	return l.watched(ctx, state.Last)
}
