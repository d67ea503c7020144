package layer

import (
	"context"
	"fmt"
	"time"

	"plimsoll/ground/host/machine"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/profile"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
)

// Defaults of C05.
const (
	c05Turn    = 20 * time.Second
	c05Rounds  = 4
	c05Between = 12 * time.Second // to start the server, copy the base, warm up and stop, roughly
	c05Filling = 2 * time.Minute
	// c05Scale of the base: a smaller one fits into the defaults' shared_buffers. c05Full is that of --full.
	c05Scale = 0.01
	c05Full  = site.WholeScale
)

// settingsSide is a server with the settings of a profile.
type settingsSide struct {
	name    string
	profile profile.Name
	beyond  []profile.Setting
}

// Sides of C05. The report's settings include its memory catalog for temp tables; the third side shows how much of
// their gain comes from commits that are not flushed, the fourth what our settings do without our patches.
var (
	reportsCatalog = profile.Setting{Name: site.MemoryCatalog, Value: "on"}
	defaults       = settingsSide{name: "stock's defaults", profile: profile.Stock}
	reported       = settingsSide{name: "the report's settings", profile: profile.Report,
		beyond: []profile.Setting{reportsCatalog}}
	durableReport = settingsSide{name: "the report's settings, commits flushed", profile: profile.Report,
		beyond: []profile.Setting{reportsCatalog, {Name: "synchronous_commit", Value: "on"}}}
	unpatchedSide = settingsSide{name: "ours without patches", profile: profile.Tuned, beyond: patchesOff()}
	tunedSide     = settingsSide{name: "ours", profile: profile.Tuned}
	c05Sides      = []settingsSide{defaults, reported, durableReport, unpatchedSide, tunedSide}
)

func patchesOff() (all []profile.Setting) {
	for _, name := range site.TempSettings {
		all = append(all, profile.Setting{Name: name, Value: "off"})
	}
	return all
}

// reportedSettings is the experiment behind C05: documents posted on one server whose settings differ by side. It is
// started for each turn, on the same base.
func reportedSettings(b site.Bench, s *site.Site) trial.Trial {
	part := trial.Part{Rounds: b.Rounds(c05Rounds), Turn: b.Turn(c05Turn), Between: c05Between,
		Series: []trial.Series{{Name: documentRate, Unit: "1/s"}, {Name: site.MedianTime, Unit: "ms"},
			{Name: site.P99Time, Unit: "ms"}, trial.BusySeries}}
	scale := b.BaseScale(c05Scale, c05Full)
	var base *site.SeparateBase
	part.Open = func(ctx context.Context, r *trial.Record) (err error) {
		r.Say("filling a base at scale %g", scale)
		base, err = s.Own.Filled(ctx, scale)
		return err
	}
	for _, side := range c05Sides {
		part.Sides = append(part.Sides, trial.Side{Name: side.name,
			Open: func(context.Context, *trial.Record) (trial.Turn, error) {
				return func(ctx context.Context, n int) (trial.Figures, error) {
					return side.post(ctx, s.Own, base.Name, part.Turn, n)
				}, nil
			}})
	}
	against := func(side, reference settingsSide) trial.Ratio {
		return trial.Ratio{Of: trial.At(side.name, documentRate), To: trial.At(reference.name, documentRate)}
	}
	part.Measured = []trial.Phrase{trial.Say("%s documents/s with stock's defaults; the report's settings %s, with "+
		"commits flushed %s; ours without patches %s, ours %s, which is %s against the report's with commits flushed",
		trial.Spread{Of: trial.At(defaults.name, documentRate), Format: "%.1f"}, against(reported, defaults),
		against(durableReport, defaults), against(unpatchedSide, defaults), against(tunedSide, defaults),
		against(tunedSide, durableReport))}
	return trial.Trial{
		Text: fmt.Sprintf("documents are posted in the classic shape on a base at scale %g, with stock's defaults, "+
			"the report's settings, and ours with our patches and without", scale),
		Overhead: c05Filling, Parts: []trial.Part{part},
		Rules: trial.Rules{
			Requires: []trial.Criterion{
				{Of: trial.Known{As: "scale of the base", Value: scale}, Confirm: trial.AtLeast(c05Scale),
					Unless: "a smaller base fits into the memory that stock's defaults give it"},
				site.TurnsOf(part.Turn, c05Turn)},
			Direction: []trial.Criterion{trial.Larger(against(reported, defaults))},
			Situation: append([]trial.Condition{site.ScaleOf(scale), site.AtWork(site.Clients, "30,000 users")},
				site.WithRoom(trial.At(defaults.name, trial.Busy), trial.At(reported.name, trial.Busy))...)},
		Conditions: c05Conditions(),
	}
}

func c05Conditions() []claims.Condition {
	return []claims.Condition{
		{Name: "load", Text: withoutThinking("writes documents") + "; classic shape; each turn on a copy of the base"},
		{Name: "settings", Text: "the report's as published ('plimsoll up --profile report' writes them), with " +
			"memory and connections reduced to what this machine has; stock's defaults, plus the log settings that " +
			"the lab needs"},
		{Name: "oddities of the report's file", Text: "autovacuum_vacuum_cost_limit is set twice, and PostgreSQL " +
			"refuses the last value, 0.005: the limit is a whole number from 1 on, so this is probably a scale " +
			"factor in the wrong line; commit_delay has no effect while synchronous_commit is off; temp_buffers of " +
			"256MB for each of 9,000 connections is more than twice the machine's memory; a crash loses acknowledged " +
			"commits"},
		{Name: "not here", Text: "temp_tablespaces on three disks; 9,000 connections"},
	}
}

// post documents on the server, started with the settings of the side.
func (side settingsSide) post(ctx context.Context, own *site.OwnCluster, base string, turn time.Duration, n int) (
	f trial.Figures, err error) {
	settings, err := side.settings(ctx, own.Cluster)
	if err != nil {
		return nil, err
	}
	err = own.Running(ctx, cluster.StartOptions{Settings: settings}, func(c *cluster.Cluster) error {
		f, err = postOnCopy(ctx, c, base, turn, n)
		return err
	})
	return f, err
}

// settings of the side for this machine. The cluster itself has stock's.
func (side settingsSide) settings(ctx context.Context, c *cluster.Cluster) ([]profile.Setting, error) {
	facts, err := machine.Read(c.DataDir())
	if err != nil {
		return nil, fmt.Errorf("inspect the machine: %w", err)
	}
	server := c.Server()
	known, err := server.Settings(ctx)
	if err != nil {
		return nil, err
	}
	in := profile.Input{Machine: facts, Version: server.Major(), Knows: known.Has,
		Accepts: known.Accepts}
	settings := profile.Derive(side.profile, in)
	for _, beyond := range side.beyond {
		if known.Has(beyond.Name) { // stock knows no setting of ours
			settings = append(settings, beyond)
		}
	}
	return settings, nil
}
