package diagnose

import (
	"fmt"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/counters"
	"plimsoll/ground/postgres/waits"
)

// checkpoints: sessions wait for disk and log while one runs, more than between two.
var checkpoints = cause{
	name:    "checkpoints",
	healthy: "sessions do not wait more for disk and log while a checkpoint runs",
	find: func(m *measured) (*Finding, string) {
		asked, timed := m.checkpointsMade()
		more, compared := m.book.byCheckpoint()
		images := m.imagesShare()
		f := &Finding{Title: "Sessions wait for disk and log because of checkpoints",
			Mechanism: "A checkpoint writes all changed pages and flushes their files. After it the first change of " +
				"each " +
				"page puts the whole page into the log (full_page_writes), so that frequent checkpoints make much log.",
			Evidence: append(m.checkpointEvidence(asked, timed), m.loggedCheckpoints()...),
			Excluded: []string{"commits alone: they come as often between two checkpoints"},
			Next: []string{"ALTER SYSTEM SET max_wal_size = '…'; SELECT pg_reload_conf()    so that checkpoints " +
				"come by " +
				"checkpoint_timeout; recovery after a crash takes longer then",
				"SHOW checkpoint_completion_target    0.9 spreads the writes; wal_compression makes the images " +
					"smaller"}}
		often := m.checkpointsFollow(asked, images)
		switch {
		case compared && !often:
			if during := m.book.checkpoint; during.waited < excessTimes.Value*m.book.between.waited/
				m.book.between.seconds*during.seconds {
				return nil, ""
			}
			f.Price = new(more / max(m.ledger.TotalS, 1e-9))
			f.Evidence = append(f.Evidence, fmt.Sprintf("sessions wait for disk and log %.2f s a second while a "+
				"checkpoint "+
				"runs, and %.2f s between two", m.book.checkpoint.waited/m.book.checkpoint.seconds,
				m.book.between.waited/m.book.between.seconds))
		case often: // the server itself warns of it; its price is in the log that is written more
			f.Title = "Checkpoints follow each other, for max_wal_size is small, and the log is full of whole pages"
			f.Excluded = []string{}
			f.grave = true
			if compared {
				f.Price = new(more / max(m.ledger.TotalS, 1e-9))
			}
		case m.book.checkpoint.seconds <= m.book.between.seconds: // none ran
			return nil, ""
		case images == nil || asked == nil:
			return nil, "a checkpoint runs all the time, and the log's whole pages or the checkpoints' causes could " +
				"not be " +
				"counted"
		case *asked < 1:
			return nil, "a checkpoint runs all the time, spread as it should be: what it takes cannot be told from " +
				"what " +
				"was there before"
		default:
			f.Price = new(m.unexplainedShare(waits.WAL) * *images)
			f.Title = "Checkpoints follow each other, and the log is full of whole pages"
			f.Excluded = []string{}
		}
		f.there, f.partial = true, true
		return f, ""
	},
}

// checkpointsFollow each other because max_wal_size is reached: sooner than the server itself warns, while the log is
// largely whole pages, which checkpoints cause.
func (m *measured) checkpointsFollow(asked, images *float64) bool {
	const twice, part = 2, 0.25
	if asked == nil || images == nil || *asked < twice || *images < imagesMost.Value || m.settings == nil ||
		m.settings.LogMost <= 0 || m.delta.For.Seconds() > checkpointEvery.Value**asked {
		return false
	}
	written := m.delta.Sum(counters.WAL, "", "wal_bytes") // otherwise somebody asked for them
	return written != nil && *written >= part*m.settings.LogMost**asked
}

// checkpointsMade while it was watched, because the log was full or somebody asked, and by the clock; nil: not known.
func (m *measured) checkpointsMade() (asked, timed *float64) {
	if asked = m.delta.Sum(counters.Checkpoints, "", "num_requested"); asked != nil {
		return asked, m.delta.Sum(counters.Checkpoints, "", "num_timed")
	}
	return m.delta.Sum(counters.Writer, "", "checkpoints_req"), m.delta.Sum(counters.Writer, "", "checkpoints_timed")
}

// imagesShare is the part of the log that whole pages are, at most: compression makes them smaller; nil: not known.
func (m *measured) imagesShare() *float64 {
	n, bytes := m.delta.Sum(counters.WAL, "", "wal_fpi"), m.delta.Sum(counters.WAL, "", "wal_bytes")
	if n == nil || bytes == nil || *bytes <= 0 {
		return nil
	}
	return new(min(1, *n*blockBytes / *bytes))
}

func (m *measured) checkpointEvidence(asked, timed *float64) []string {
	lines := append([]string{fmt.Sprintf("%s checkpoints because the log was full or somebody asked, %s by the clock",
		text(asked, "%.0f"), text(timed, "%.0f"))}, m.logAmounts()...)
	if b := m.backgroundOf(kindCheckpointer); b != nil {
		lines = append(lines, b.says()...)
	}
	return lines
}

// logAmounts are what the log is made of.
func (m *measured) logAmounts() []string {
	perS := m.delta.PerSecond(m.delta.Sum(counters.WAL, "", "wal_bytes"))
	if perS == nil {
		return nil
	}
	return []string{fmt.Sprintf("%.1f MB of log a second, at most %s of it whole pages (%s a second)", *perS/(1<<20),
		human.Known(m.imagesShare(), notMeasured, human.Percent), text(m.delta.PerSecond(m.delta.Sum(counters.WAL, "",
			"wal_fpi")), "%.0f"))}
}

// checkpointPart is the part of the waits for disk and log that checkpoints are a problem's reason for.
func (m *measured) checkpointPart() float64 {
	whole := m.ledger.share(string(waits.IO)) + m.ledger.share(string(waits.WAL))
	f, why := checkpoints.find(m)
	if why != "" || f == nil || priceOf(*f) < problemFrom.Value || whole <= 0 {
		return 0
	}
	return min(1, *f.Price/whole)
}
