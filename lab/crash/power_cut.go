package crash

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"plimsoll/lab/crash/image"
	"plimsoll/lab/postgres/cluster"
	"plimsoll/lab/postgres/storage"
)

// powerCuts loads the server, cuts its journal at many moments, and loads it anew.
func (l *lab) powerCuts(ctx context.Context) error {
	for again := false; !l.finished(); again = true {
		if again {
			if err := l.rewind(ctx); err != nil {
				return err
			}
		}
		if err := l.cutOneLoad(ctx, min(l.PerLoad, l.Seeds-len(l.report.Cuts))); err != nil {
			return err
		}
	}
	return nil
}

func asItWas(string) error { return nil }

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
		LongestFlushMS: milliseconds(loaded.flush), LongestGapMS: milliseconds(loaded.log.longestGap())}); err != nil {
		return err
	}
	for range cuts {
		if ctx.Err() != nil || l.finished() {
			return ctx.Err()
		}
		l.step("power cut")
		if err := l.cut(ctx, loaded, journal, end); err != nil {
			return err
		}
	}
	return nil
}

// cut the power at a moment of the load.
func (l *lab) cut(ctx context.Context, loaded *loaded, journal *storage.Journal, end uint64) error {
	seed := l.Seed + uint64(len(l.report.Cuts))
	at := loaded.moment(seed, end)
	cut := image.Cut{At: at, Seed: seed, Model: l.Model}
	err := l.survivor().Rewind(ctx, func(data string) error {
		return image.Build(l.survivor().KeptData(), data, journal.Records, cut)
	})
	if err != nil {
		return err
	}
	one := Cut{Seed: seed, Record: at}
	if l.standby == nil {
		one.explain(loaded.log, loaded.flush, journal.Records[at-1].At)
	}
	if err := l.recover(ctx, &one, loaded.acknowledgedBefore(at), journal.Records[at-1].At); err != nil {
		return err
	}
	return l.keepCut(one)
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
