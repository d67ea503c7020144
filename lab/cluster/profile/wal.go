package profile

import "math/bits"

const (
	maxWalMin = 1 * gB
	maxWalMax = 12 * gB
)

// maxWal is a tenth of the free disk, rounded down to a power of two so that a
// disk that slowly fills does not change the setting at every start.
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
	return append([]Setting{
		set("fsync", "on", "never off: a power cut can lose the whole base, and loading gains only a tenth by it"),
		set("full_page_writes", "on", "never off: torn pages can't be recovered else"),
		set("synchronous_commit", "on", "not the field's off: the headline is measured with durable acknowledgement, a faster and lossy run is shown beside it"),
		set("wal_level", "minimal", "the field's: bulk loads into new tables skip the log, and the locks of temp tables need no transaction number; allows neither replicas nor base backups, user.conf may ask for them"),
		set("max_wal_senders", 0, "wal_level minimal asks for it"),
		set("checkpoint_timeout", "20min", "the field's: fewer full-page images; recovery takes longer"),
		set("max_wal_size", Bytes(m.maxWal()), "a tenth of the free disk as a power of two, 1GB to the field's 12GB"),
		set("min_wal_size", Bytes(m.maxWal()/4), "a quarter of it stays ready, so that a burst does not wait for new segments"),
		set("checkpoint_completion_target", "0.9", "the field's: checkpoints are spread out"),
	}, m.groupCommit()...)
}

// groupCommit: the field had commit_delay 1000 with synchronous_commit off,
// where it does nothing. With durable commits it costs each commit up to that
// long, which pays where a flush takes several milliseconds.
func (m share) groupCommit() []Setting {
	if !m.rotating {
		return []Setting{set("commit_delay", 0, "not the field's 1000: it would exceed the flush it saves on a solid-state disk%s; commits that wait together are flushed together anyway", m.doubt())}
	}
	return []Setting{
		set("commit_delay", 1000, "the field's: a flush of a rotating disk takes longer, so waiting for company pays"),
		set("commit_siblings", 5, "the field's: only while five others are at work"),
	}
}

func (m share) doubt() string {
	if m.unsure {
		return " (this one is virtual or unknown and taken for one)"
	}
	return ""
}
