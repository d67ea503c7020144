package profile

import (
	"math/bits"
	"slices"
)

const (
	maxWalMin = 1 * gB
	maxWalMax = 12 * gB
)

// walCompression has values that depend on how the server was built.
const walCompression = "wal_compression"

// maxWal is a tenth of the free disk, rounded down to a power of two, so that a slowly filling disk does not change it
// at every start.
func (m share) maxWal() int64 {
	tenth := m.diskFree / 10
	if tenth <= maxWalMin {
		return maxWalMin
	}
	if tenth >= maxWalMax {
		return maxWalMax
	}
	return 1 << (bits.Len64(uint64(tenth)) - 1)
}

func (m share) wal() []Setting {
	return slices.Concat(m.whole(), []Setting{durable("the headline is measured with durable acknowledgement; a " +
		"faster, lossy run is shown next to it")}, m.minimalLog(), m.checkpoints(), m.groupCommit())
}

// whole is what keeps the base whole.
func (m share) whole() []Setting {
	return []Setting{
		set("fsync", "on", "never off: a power cut could lose the whole base, and loading gains only a tenth"),
		set("full_page_writes", "on", "never off: torn pages could not be recovered"),
		set(walCompression, "lz4", "the first change of each page after a checkpoint logs the whole page, most of the "+
			"log of a load that has just begun; they shrink to half"),
	}
}

func durable(why string) Setting {
	return set("synchronous_commit", "on", "not off as in the field report: %s", why)
}

func (m share) minimalLog() []Setting {
	return []Setting{
		set("wal_level", "minimal", "as in the field report: bulk loads into new tables skip the log, and locks of "+
			"temp tables need no transaction ID; for replicas or base backups change it in user.conf"),
		set("max_wal_senders", 0, "required by wal_level minimal"),
	}
}

func (m share) checkpoints() []Setting {
	return []Setting{
		set("checkpoint_timeout", "20min", "as in the field report: fewer full-page images; recovery takes longer"),
		set("max_wal_size", Bytes(m.maxWal()),
			"a tenth of the free disk as a power of two, 1GB to 12GB (field report)"),
		set("min_wal_size", Bytes(m.maxWal()/4),
			"a quarter of it stays ready, so that a burst does not wait for new segments"),
		set("checkpoint_completion_target", "0.9", "as in the field report: checkpoints are spread out"),
	}
}

// groupCommit: the field report had commit_delay 1000 with synchronous_commit off, where it has no effect. With durable
// commits it delays each by up to that long, which pays if a flush takes several milliseconds.
func (m share) groupCommit() []Setting {
	if !m.rotating {
		return []Setting{set("commit_delay", 0,
			"not the field report's 1000: it would take longer than the flush it saves on a "+
				"solid-state disk%s; commits that wait together are flushed together anyway", m.unsureNote())}
	}
	return []Setting{
		set("commit_delay", 1000, "as in the field report: a rotating disk flushes slowly, so waiting for others pays"),
		set("commit_siblings", 5, "as in the field report: only while five others are active"),
	}
}

func (m share) unsureNote() string {
	if m.unsure {
		return " (this disk is virtual or unknown and treated as one)"
	}
	return ""
}
