package run

import (
	"context"
	"maps"
	"slices"
	"strings"

	"plimsoll/lab/result"
	"plimsoll/platform/server"
)

// told is what each worker said of itself, by its URL.
type told map[string]server.Told

// ask the workers; those that do not answer are left out.
func ask(ctx context.Context, urls []string) told {
	all := told{}
	for _, url := range urls {
		if t, err := server.Ask(ctx, url); err == nil {
			all[url] = t
		}
	}
	return all
}

// shape of the workers; of several, all.
func (t told) shape() string {
	shapes := map[string]bool{}
	for _, worker := range t {
		if worker.Shape != "" {
			shapes[worker.Shape] = true
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(shapes)), "; ")
}

// since is what the workers did between two answers; one that did not answer twice, or began anew meanwhile, is left out.
func (t told) since(before told) map[string]server.Operation {
	sum := map[string]server.Operation{}
	for url, now := range t {
		then, ok := before[url]
		if !ok || anew(then, now) {
			continue
		}
		for name, o := range now.Operations {
			sum[name] = sum[name].Plus(o, 1).Plus(then.Operations[name], -1)
		}
	}
	return sum
}

// anew says whether a worker is another than the one that answered before: it lost its sessions and its counts.
func anew(then, now server.Told) bool { return !now.Started.Equal(then.Started) }

// begunAnew are those who answered twice, but from another life.
func (t told) begunAnew(before told) (urls []string) {
	for url, now := range t {
		if then, ok := before[url]; ok && anew(then, now) {
			urls = append(urls, url)
		}
	}
	slices.Sort(urls)
	return urls
}

// elsewhere are those who work on another database than this one; who does not say is left out.
func (t told) elsewhere(id string) (urls []string) {
	for url, worker := range t {
		if id != "" && worker.Database != "" && worker.Database != id {
			urls = append(urls, url)
		}
	}
	slices.Sort(urls)
	return urls
}

func (r *running) cost() (c result.Cost) {
	var all int64
	did := r.toldAfter.since(r.toldBefore)
	for _, name := range slices.Sorted(maps.Keys(did)) {
		if q := request(name, did[name]); q.Count > 0 {
			c.Requests = append(c.Requests, q)
			all += q.Count
		}
	}
	if all > 0 && r.after != nil && r.before.WAL != nil && r.after.WAL != nil {
		bytes := float64(*r.after.WAL-*r.before.WAL) / float64(all)
		c.WALBytes = &bytes
	}
	c.DatabaseMS, c.WorkersMS = r.cpuOfEach(databaseCPU), r.cpuOfEach(workersCPU)
	return c
}

func request(name string, o server.Operation) result.Request {
	q := result.Request{ID: name, Refused: o.Refused, Failed: o.Overloaded + o.Failed, Count: o.Done + o.Refused + o.Overloaded + o.Failed}
	if q.Count == 0 {
		return q
	}
	mean := func(n int64) float64 { return float64(n) / float64(q.Count) }
	d := o.Database
	q.Statements, q.RoundTrips, q.Rows, q.Retries = mean(d.Statements), mean(d.RoundTrips), mean(d.Rows), mean(d.Retries)
	q.TempTables, q.Truncates = mean(d.TempTables.Used()), mean(d.TempTables.Truncates)
	if d.TempTables.Returned > 0 {
		share := d.TempTables.EmptyShare()
		q.EmptyShare = &share
	}
	return q
}

// cpuOfEach answered operation of the steady state, in milliseconds.
func (r *running) cpuOfEach(which int) *float64 {
	share := r.cpu(which)
	if share == nil || r.tally.Answered == 0 {
		return nil
	}
	ms := *share * float64(r.meter.cores) * milliseconds(r.tally.Steady()) / float64(r.tally.Answered)
	return &ms
}
