package run

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"plimsoll/ground/host/neighbours"
	"plimsoll/ground/host/process"
	"plimsoll/lab/load/custom"
	"plimsoll/lab/load/scenario"
	"plimsoll/lab/run/result"
)

// DisturbedLimitDefault is the share of all processors, or of the time, that others may take from a run. Taking half of
// the processors made p95 five times as long; an idle desktop takes a tenth.
const DisturbedLimitDefault = 0.15

// warnedFrom is the part of the limit from which a disturbance is named although the result is valid.
const warnedFrom = 1.0 / 3

// sessionsMost is how many sessions of other applications may be active on average.
const sessionsMost = 0.5

// disturbance is what the meters measured.
func (r *record) disturbance() *result.Disturbance {
	if len(r.meters.processors) == 0 {
		return nil
	}
	from, to := r.made.Tally.From, r.made.Tally.To
	d := &result.Disturbance{Limit: r.DisturbedLimit, Unattributed: r.unattributed(),
		Steal: r.meters.share(stealCPU, from, to)}
	d.Others, d.Who = r.meters.neighbours.Share()
	d.OthersBefore, d.WhoBefore = r.othersBefore.Others, r.othersBefore.Who
	d.Throttled = r.meters.part(throttledTime, from, to)
	d.MemoryStall = r.meters.part(memoryTime, from, to)
	d.Clients = r.otherClients()
	if r.otherLoads != nil {
		d.Loads = slices.Sorted(maps.Keys(r.otherLoads.loads))
		d.LoadsUnknown = r.otherLoads.unknown()
		d.Sessions = r.otherLoads.sessions()
		slices.SortFunc(d.Sessions, func(a, b result.NeighbourSessions) int {
			return cmp.Or(cmp.Compare(b.AtWork, a.AtWork), cmp.Compare(a.Application, b.Application))
		})
	}
	return d
}

// aroundFor is how long processors are watched before the load.
const aroundFor = 2 * time.Second

// lookAround reads who uses the processors before the load, if the system's processes cannot be told from others later:
// before the load the system has nothing to do, so it is others.
func (s *setup) lookAround(ctx context.Context) {
	if !s.unattributed() || s.DisturbedLimit <= 0 || s.DisturbedLimit >= 1 {
		return
	}
	m := neighbours.Begin(func() []int { return ours(s.servers, s.postmaster()) })
	select {
	case <-time.After(aroundFor):
		s.othersBefore = m.End()
	case <-ctx.Done():
		m.End()
	}
}

// unattributed reports whether part of the system may run on this machine in processes that we do not know: a database
// in a container, or whatever is behind an application that is measured only by its requests.
func (r *record) unattributed() bool {
	if r.before != nil && r.before.Here && r.before.Postmaster == 0 {
		return true
	}
	if r.Scenario == nil {
		return false // of a run whose process died
	}
	own := custom.Addresses(r.Scenario.Own, r.Scenario.Actions())
	for _, url := range slices.Concat(r.URLs, own) {
		if process.Local(url) && (r.Scenario.Application != scenario.ERP || len(r.servers) == 0) {
			return true
		}
	}
	return false
}

// otherClients' share of the requests to the workers: users of the ERP name the operation that each request belongs to.
// Not known of custom requests, which name none.
func (r *record) otherClients() *float64 {
	if r.Scenario == nil || r.Scenario.Application != scenario.ERP || r.ownSessions() ||
		!r.profilesAfter.complete(r.profilesBefore) {
		return nil
	}
	var all, unnamed int64
	for _, o := range r.profilesAfter.since(r.profilesBefore) {
		all += o.Count()
		unnamed += o.Unnamed
	}
	if all == 0 {
		return nil
	}
	share := float64(unnamed) / float64(all)
	return &share
}

// judgeDisturbance compares what others took with the limit.
func (r *record) judgeDisturbance(v *verdict, d *result.Disturbance) {
	for _, text := range d.Beyond() {
		v.addReasonIf(result.ByDisturbance, true, "disturbed: %s", text)
	}
	if d == nil || d.Limit <= 0 || d.Limit >= 1 {
		return
	}
	v.addReasonIf(result.ByDisturbance, len(d.Loads) > 0, "disturbed: a second load on the same database, %s",
		strings.Join(d.Loads, ", "))
	for _, s := range d.Sessions {
		v.addReasonIf(result.ByDisturbance, s.AtWork > sessionsMost && !r.ownSessions(),
			"disturbed: %.1f sessions of %s were active on the same database", s.AtWork, s.Application)
	}
}

// ownSessions reports whether the database may have sessions of the measured system that we do not know: those of an
// application with custom requests, wherever its address was given.
func (r *record) ownSessions() bool {
	s := r.Scenario
	if s == nil {
		return false // of a run whose process died
	}
	named := s.Application != scenario.ERP && len(r.URLs) > 0 && custom.NeedsBase(s.Own, s.Actions())
	return named || len(custom.Addresses(s.Own, s.Actions())) > 0
}

// disturbedBelow the limit, but enough to be named.
func disturbedBelow(all *result.Result) (texts []string) {
	d := all.Disturbance
	for _, one := range d.Ways() {
		if one.Share > warnedFrom*d.Limit && one.Share <= d.Limit {
			texts = append(texts, "disturbed: "+one.Text)
		}
	}
	if d != nil && d.Limit > 0 && d.LoadsUnknown != "" {
		texts = append(texts, "whether others used the database is not known: "+d.LoadsUnknown)
	}
	if d != nil && d.Unattributed && d.Limit > 0 && d.Others != nil && *d.Others > d.Limit {
		texts = append(texts, fmt.Sprintf("perhaps disturbed: processes that are not known to belong to the system "+
			"used %.0f %% of the processors%s", 100**d.Others, d.WhoText()))
	}
	return texts
}
