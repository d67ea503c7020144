package self

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"plimsoll/ground/problem"
	"plimsoll/lab/run"
	"plimsoll/lab/run/result"
	"plimsoll/lab/run/store"
)

// journal is what becomes of a run that is killed when its journal is whole, cut off, overwritten or lost, and of
// the next one, which is kept next to it.
func journal(ctx context.Context, s *stage) (outcome, error) {
	if err := os.RemoveAll(filepath.Join(s.dir, "journal")); err != nil { // of an earlier round
		return outcome{}, err
	}
	g, err := s.generate(ctx, "journal", time.Hour)
	if err != nil {
		return outcome{}, err
	}
	defer g.end()
	if err := g.begun(ctx); err != nil {
		return outcome{}, err
	}
	end := watch(g.server.URL)
	runs := store.Open(filepath.Join(g.state, "runs"))
	id, err := g.journalled(ctx)
	disturbed := end().disturbed()
	if err != nil {
		return outcome{}, err
	}
	g.kill()
	if err := g.server.settle(ctx); err != nil {
		return outcome{}, err
	}
	served := g.server.served()
	figures, err := s.recoveries(runs, id, served)
	if err != nil {
		return outcome{}, err
	}
	m, err := s.measure(ctx, plant{"steady", look, 2 * time.Second, func(o *run.Options) { o.Store = runs }})
	if err != nil {
		return outcome{}, err
	}
	kept, broken, err := runs.List()
	if err != nil {
		return outcome{}, err
	}
	listed := fmt.Sprintf("%d, %d that cannot be read", len(kept), len(broken))
	out := m.outcome(append(figures,
		equal("operations of the next run", m.served(), m.Ops),
		states("next run valid", "yes", valid(m.Result), m.Valid).excused(),
		states("runs listed", "1, 0 that cannot be read", listed, len(kept) == 1 && len(broken) == 0),
	))
	out.disturbed = append(disturbed, out.disturbed...)
	return out, nil
}

// pagesLeast is how many seconds a journal must have before its run is killed.
const pagesLeast = 3

// journalled waits until the journal has some seconds, and says whose it is.
func (g *generator) journalled(ctx context.Context) (id string, err error) {
	for {
		paths, err := filepath.Glob(filepath.Join(g.state, "runs", "*", "pages.json.gz"))
		if err != nil {
			return "", err
		}
		if len(paths) == 1 && pages(paths[0]) >= pagesLeast {
			return filepath.Base(filepath.Dir(paths[0])), nil
		}
		select {
		case <-g.ended:
			return "", g.failure()
		default:
		}
		if err := wait(ctx, 20*time.Millisecond); err != nil {
			return "", err
		}
	}
}

// pages of seconds in a journal, after its opening.
func pages(path string) int {
	f, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return 0
	}
	lines := json.NewDecoder(z)
	for n := 0; ; n++ {
		var line json.RawMessage
		if lines.Decode(&line) != nil {
			return max(0, n-1)
		}
	}
}

// recoveries of the run from its journal, in stores of their own, and without it.
func (s *stage) recoveries(runs *store.Store, id string, served int64) ([]Figure, error) {
	text, err := os.ReadFile(runs.JournalPath(id))
	if err != nil {
		return nil, err
	}
	whole, err := s.recovered(id, "whole", text)
	if err != nil {
		return nil, fmt.Errorf("recover the run: %w", err)
	}
	s.falsifyResult(whole)
	cut, err := s.recovered(id, "cut", text[:len(text)-10])
	if err != nil {
		return nil, fmt.Errorf("recover the run from a journal that is cut off: %w", err)
	}
	overwritten := slices.Repeat([]byte{0xaa}, len(text))
	_, unreadable := s.recovered(id, "overwritten", overwritten)
	if err := os.Remove(runs.JournalPath(id)); err != nil {
		return nil, err
	}
	left, err := runs.Unfinished()
	if err != nil {
		return nil, err
	}
	const died = "the process of the run died after"
	some := func(name string, most int64, r *result.Result) Figure {
		f := states(name, fmt.Sprintf("1 to %d", most), fmt.Sprint(r.Ops), r.Ops > 0 && r.Ops <= most)
		f.excusable = r.Ops <= most // nobody may have been answered yet
		return f
	}
	return []Figure{
		some("operations, journal whole", served, whole),
		states("valid", "no", valid(whole), !whole.Valid),
		checkMentions("reason", died, whole.InvalidReasons),
		some("operations, journal cut", whole.Ops, cut),
		checkMentions("reason, journal cut", died, cut.InvalidReasons),
		checkMentions("journal overwritten", "what it wrote cannot be read", []string{problem.HintOf(unreadable)}),
		states("runs to recover, journal lost", "0", fmt.Sprint(len(left)), len(left) == 0),
	}, nil
}

// recovered is a run from a journal, in a store of its own.
func (s *stage) recovered(id, name string, journal []byte) (*result.Result, error) {
	runs := store.Open(filepath.Join(s.dir, "journal-"+name))
	if err := os.RemoveAll(runs.Dir(id)); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(runs.Dir(id), 0o700); err != nil {
		return nil, err
	}
	if err := os.WriteFile(runs.JournalPath(id), journal, 0o600); err != nil {
		return nil, err
	}
	return run.Recover(runs, id)
}
