package run

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/lab/run/result"
	"plimsoll/platform/worker/server"
)

// profiles are the figures that each worker reports about itself, by its URL.
type profiles map[string]server.WorkerProfile

// readProfiles reads the figures of the workers; those that do not answer are left out. The error is ErrFiguresRefused
// from one of them, or nil.
func readProfiles(ctx context.Context, asker server.Asker, urls []string) (all profiles, err error) {
	all = profiles{}
	for _, url := range urls {
		t, asked := asker.Ask(ctx, url)
		if asked == nil {
			all[url] = t
		}
		if errors.Is(asked, server.ErrFiguresRefused) {
			err = fmt.Errorf("%s: %w", url, asked)
		}
	}
	return all, err
}

// shape of the workers; if they differ, all shapes.
func (p profiles) shape() string {
	shapes := map[string]bool{}
	for _, worker := range p {
		if worker.Shape != "" {
			shapes[worker.Shape] = true
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(shapes)), "; ")
}

// since is what the workers did between two answers; one that did not answer twice, or restarted meanwhile, is left
// out.
func (p profiles) since(before profiles) map[string]server.Operation {
	sum := map[string]server.Operation{}
	for url, now := range p {
		then, ok := before[url]
		if !ok || restarted(then, now) {
			continue
		}
		for name, o := range now.Operations {
			sum[name] = sum[name].Plus(o, 1).Plus(then.Operations[name], -1)
		}
	}
	return sum
}

// complete reports whether all workers, and no others, answered both times and none restarted: then since has all that
// was done.
func (p profiles) complete(before profiles) bool {
	for url := range before {
		if _, ok := p[url]; !ok {
			return false
		}
	}
	return len(p) == len(before) && len(p.restartedSince(before)) == 0
}

// restarted reports whether a worker restarted since it answered before: it lost its sessions and its counts.
func restarted(then, now server.WorkerProfile) bool { return !now.Started.Equal(then.Started) }

// restartedSince lists the workers that restarted between two answers.
func (p profiles) restartedSince(before profiles) (urls []string) {
	for url, now := range p {
		if then, ok := before[url]; ok && restarted(then, now) {
			urls = append(urls, url)
		}
	}
	slices.Sort(urls)
	return urls
}

// elsewhere lists the workers that use another database; one that does not say is left out.
func (p profiles) elsewhere(id string) (urls []string) {
	for url, worker := range p {
		if id != "" && worker.Database != "" && worker.Database != id {
			urls = append(urls, url)
		}
	}
	slices.Sort(urls)
	return urls
}

func (r *record) cost() (c result.Cost) {
	var all int64
	did := r.profilesAfter.since(r.profilesBefore)
	for _, name := range slices.Sorted(maps.Keys(did)) {
		if q := requestCost(name, did[name]); q.Count > 0 {
			c.Requests = append(c.Requests, q)
			all += q.Count
		}
	}
	whole := all > 0 && r.profilesAfter.complete(r.profilesBefore)
	if whole && r.after != nil && r.before.WAL != nil && r.after.WAL != nil {
		bytes := float64(*r.after.WAL-*r.before.WAL) / float64(all)
		c.WALBytes = &bytes
	}
	c.DatabaseMS, c.WorkersMS = r.cpuOfEach(databaseCPU), r.cpuOfEach(workersCPU)
	return c
}

func requestCost(name string, o server.Operation) result.Request {
	q := result.Request{ID: name, Refused: o.Refused, Failed: o.Overloaded + o.Failed,
		Count: o.Count()}
	if q.Count == 0 {
		return q
	}
	mean := func(n int64) float64 { return float64(n) / float64(q.Count) }
	d := o.Database
	q.Statements, q.RoundTrips, q.Rows, q.Retries = mean(d.Statements), mean(d.RoundTrips), mean(d.Rows),
		mean(d.Retries)
	q.TempTables, q.Truncates = mean(d.TempTables.Used()), mean(d.TempTables.Truncates)
	if traced := o.WALBytes; traced.Requests > 0 {
		bytes := float64(traced.Sum) / float64(traced.Requests)
		q.WALBytes, q.Traced = &bytes, traced.Requests
	}
	if d.TempTables.Returned > 0 {
		share := d.TempTables.EmptyShare()
		q.EmptyShare = &share
	}
	return q
}

// cpuOfEach is the processor time per answered operation of the steady state, in milliseconds.
func (r *record) cpuOfEach(which int) *float64 {
	share := r.cpu(which)
	if share == nil || r.made.Tally.Answered == 0 {
		return nil
	}
	ms := *share * float64(r.meters.cores) * human.MS(r.made.Tally.Steady()) / float64(r.made.Tally.Answered)
	return &ms
}
