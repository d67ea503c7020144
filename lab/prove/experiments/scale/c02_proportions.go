package scale

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"plimsoll/erp/books"
	"plimsoll/erp/fill"
	"plimsoll/ground/human"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
	"plimsoll/lab/stats"
)

// baseSide is a base at a fraction of the report's scale.
type baseSide struct{ scale float64 }

func (b baseSide) name() string { return fmt.Sprintf("scale %.4g", b.scale) }

func (b baseSide) at(series string) trial.Ref { return trial.At(b.name(), series) }

// What a base takes besides its fill: counting, checking and auditing take c02Checks times as long as the fill
// (estimated for an idle machine), creating and dropping the database c02Making.
const (
	c02Checks = 3
	c02Making = 10 * time.Second
)

// takes is the time to fill the base, count it, check it and audit it.
func (b baseSide) takes() time.Duration {
	sizes, err := fill.SizesOf(fill.Options{Scale: b.scale})
	if err != nil {
		return 0 // Run will report it
	}
	return (1+c02Checks)*fill.EstimateOf(sizes, site.Streams).Time + c02Making
}

// side fills the base and counts it; the judged one is also checked row by row and audited.
// The other one is dropped at once: the disk need not hold both.
func (b baseSide) side(s *site.Site, judged bool) trial.Side {
	return trial.Side{Name: b.name(), Open: func(_ context.Context, r *trial.Record) (trial.Turn, error) {
		return func(ctx context.Context, _ int) (trial.Figures, error) {
			r.Say("filling a base at scale %.3g", b.scale)
			base, err := fillBase(ctx, s.Cluster, b.scale, site.Streams)
			if err != nil {
				return nil, err
			}
			f := base.figures()
			if !judged {
				return f, base.Drop(context.WithoutCancel(ctx))
			}
			r.AtEnd(func() error { return base.Drop(context.WithoutCancel(ctx)) })
			return f, base.judge(ctx, r, f)
		}, nil
	}}
}

func (f *filledBase) figures() trial.Figures {
	figures := trial.Figures{baseSize: float64(f.bytes), fillTime: f.Took.Seconds()}
	for _, p := range f.all() {
		figures[p.what] = float64(p.found)
	}
	return figures
}

// judge adds the results of the row check and the audit.
func (f *filledBase) judge(ctx context.Context, r *trial.Record, figures trial.Figures) error {
	r.Within(0.5, "check")
	checked, err := f.check(ctx)
	if err != nil {
		return err
	}
	r.Within(0.8, "audit")
	books, err := f.audit(ctx, c02Audited)
	if err != nil {
		return err
	}
	if !checked.Clean() {
		r.Fail(checkRows, "rows differ from what was written")
	}
	if !books.Clean() {
		r.Fail(checkBooks, "the books are wrong")
	}
	figures[checkedRows], figures[checkedUnits] = float64(checked.Rows), float64(checked.Units)
	figures[differentUnits], figures[violations] = float64(len(checked.Differences)), float64(books.Violations)
	return nil
}

// proportion compares a count in a base with the report's.
type proportion struct {
	what            string
	found, reported int64
}

// share of the count expected at a scale of the report.
func (p proportion) share(scale float64) float64 {
	return float64(p.found) / (float64(p.reported) * scale)
}

// roundings is the difference from the report, in units of rounding: a share of the count, but at least one row.
func (p proportion) roundings(scale float64) float64 {
	want := float64(p.reported) * scale
	return math.Abs(float64(p.found)-want) / max(1, want*c02Rounding)
}

// holds if the difference is within rounding.
func (p proportion) holds(scale float64) bool { return p.roundings(scale) <= 1 }

// reportedCounts are the report's counts, by the names of the figures.
func reportedCounts() map[string]int64 {
	reported := map[string]int64{movementCount: c02ClaimedMovements,
		entryCount: c02ClaimedEntries, entriesByLine: c02ClaimedEntries, allDocuments: int64(fill.ReportedTotal())}
	for _, counts := range []map[string]int{fill.Reported(), fill.ReportedCatalogs()} {
		for name, n := range counts {
			reported[name] = int64(n)
		}
	}
	return reported
}

// documentTypes of the report, by name.
func documentTypes() (names []string) {
	for name, n := range fill.Reported() {
		if n > 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// catalogNames are those of the report.
func catalogNames() []string { return slices.Sorted(maps.Keys(fill.ReportedCatalogs())) }

// judgedCounts are all that a base must have in proportion.
func judgedCounts() []string { return append(documentTypes(), catalogNames()...) }

func c02Series() []trial.Series {
	all := []trial.Series{{Name: baseSize, Unit: "bytes"}, {Name: fillTime, Unit: "s"}, {Name: allDocuments},
		{Name: movementCount}, {Name: entryCount}, {Name: entriesByLine}}
	for _, name := range judgedCounts() {
		all = append(all, trial.Series{Name: name})
	}
	for _, name := range []string{checkedRows, checkedUnits, differentUnits, violations} {
		all = append(all, trial.Series{Name: name, Hidden: true})
	}
	return all
}

// count of something in the base, with the report's count.
func (b baseSide) count(m *trial.Measurements, series string) proportion {
	p := proportion{what: series, reported: reportedCounts()[series]}
	if found := m.Figures(b.at(series)); len(found) > 0 {
		p.found = int64(found[0])
	}
	return p
}

// proportions are the counts that a base scaled down from the report's must have.
func (b baseSide) proportions() []trial.Criterion {
	types := trial.Computed{As: "types of documents", Format: "%.0f", Formula: b.types}
	all := []trial.Criterion{{Of: types, Confirm: trial.AtLeast(float64(len(documentTypes()))),
		Refute: trial.Below(float64(len(documentTypes()))), Anywhere: true}}
	furthest := trial.Computed{As: fmt.Sprintf(
		"largest difference of a document type, or of a catalog, from the report's count times the scale, in units "+
			"of %.1f %% or of one row where that is more", 100*c02Rounding), Format: "%.3g", Formula: b.furthest}
	all = append(all, trial.Criterion{Of: furthest, Confirm: trial.AtMost(1)})
	for _, name := range []string{allDocuments, movementCount, entryCount} {
		share := trial.Computed{As: name + " as a share of the report's count times the scale", Format: "%.2f",
			Formula: func(m *trial.Measurements) float64 { p := b.count(m, name); return p.share(b.scale) }}
		all = append(all, trial.Criterion{Of: share, Confirm: trial.AtLeast(1 - c02Total)})
	}
	return all
}

// furthest is the worst difference, in units of rounding.
func (b baseSide) furthest(m *trial.Measurements) (worst float64) {
	for _, name := range judgedCounts() {
		worst = max(worst, b.count(m, name).roundings(b.scale))
	}
	return worst
}

// types with documents.
func (b baseSide) types(m *trial.Measurements) float64 {
	n := 0
	for _, name := range documentTypes() {
		if b.count(m, name).found > 0 {
			n++
		}
	}
	return float64(n)
}

// measured describes the base, and extrapolates the whole one from the growth between two bases.
func (b baseSide) measured(small baseSide) []trial.Phrase {
	number := func(series string) trial.Words {
		return func(m *trial.Measurements) string { return human.Thousands(b.count(m, series).found) }
	}
	share := func(series, format string) trial.Words {
		return func(m *trial.Measurements) string { return fmt.Sprintf(format, 100*b.count(m, series).share(b.scale)) }
	}
	bytes := func(figure trial.Ref) trial.Words {
		return func(m *trial.Measurements) string { return human.Bytes(int64(stats.Median(m.Figures(figure)))) }
	}
	length := func(figure trial.Ref, to time.Duration) trial.Words {
		return func(m *trial.Measurements) string {
			return human.Duration(time.Duration(stats.Median(m.Figures(figure)) * float64(time.Second)).Round(to))
		}
	}
	judged := func(series string) trial.Median { return trial.Median{Of: b.at(series), Format: "%.0f"} }
	return []trial.Phrase{
		trial.Say("scale %.3g: %s of %s expected documents of %s types (%s %%), %s contracts, %s cost movements (%s "+
			"%% of those expected), %s entries (%s %%, or %s %% with one per line of goods), %s on disk, filled in %s",
			b.scale,
			number(allDocuments), human.Thousands(int64(math.Round(float64(fill.ReportedTotal())*b.scale))),
			trial.Words(func(m *trial.Measurements) string { return fmt.Sprintf("%.0f", b.types(m)) }),
			share(allDocuments, "%.1f"), number(books.Contracts), number(movementCount), share(movementCount, "%.0f"),
			number(entryCount), share(entryCount, "%.0f"), share(entriesByLine, "%.0f"), bytes(b.at(baseSize)),
			length(b.at(fillTime), time.Second/10)),
		trial.Say("not in proportion: %s", trial.Words(b.outOfProportion)),
		trial.Say("%s rows checked, %s of %s units differ", trial.Words(func(m *trial.Measurements) string {
			return human.Thousands(int64(stats.Median(m.Figures(b.at(checkedRows)))))
		}), judged(differentUnits), judged(checkedUnits)),
		trial.Say("audit of %.0f %%: %s violations", 100*c02Audited, judged(violations)),
		trial.Say("scale 1, extrapolated from the growth since scale %.3g: %s on disk, filled in %s", small.scale,
			bytes(trial.At(extrapolated, baseSize)), length(trial.At(extrapolated, fillTime), time.Minute)),
		trial.Say("scale 1 itself was not filled"),
	}
}

// outOfProportion lists document types and catalogs whose counts differ from the report's by more than rounding.
func (b baseSide) outOfProportion(m *trial.Measurements) string {
	var named []string
	for _, name := range judgedCounts() {
		if p := b.count(m, name); !p.holds(b.scale) {
			named = append(named, fmt.Sprintf("%s (%.1f %%)", name, 100*p.share(b.scale)))
		}
	}
	if named == nil {
		return "none"
	}
	return strings.Join(named, ", ")
}

// extrapolate to scale 1 what grows from one base to the other.
func extrapolate(r *trial.Record, small, large baseSide) {
	for _, series := range []string{baseSize, fillTime} {
		from, to := r.Figures(small.name(), series), r.Figures(large.name(), series)
		r.Figure(extrapolated, series, atScale(1, small.scale, stats.Median(from), large.scale, stats.Median(to)))
	}
}

// atScale extrapolates linearly.
func atScale(scale, small, atSmall, large, atLarge float64) float64 {
	return atLarge + (atLarge-atSmall)/(large-small)*(scale-large)
}
