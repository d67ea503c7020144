package diagnose

import (
	"fmt"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/counters"
)

// recovery is a figure of this standby's replay; nil on a primary.
func (m *measured) recovery(column string) *float64 {
	return m.delta.Now(counters.Recovery, "this", column)
}

// replayPaused: somebody has paused the replay of this standby.
var replayPaused = cause{
	name:    "replay-paused",
	healthy: "",
	find: func(m *measured) (*Finding, string) {
		paused := m.recovery("paused")
		if paused == nil || *paused == 0 {
			return nil, ""
		}
		return &Finding{Title: "The replay of this standby is paused", grave: true,
			Mechanism: "The standby receives the log and does not apply it. What it answers gets older and older, " +
				"its log " +
				"fills the disk, and a synchronous primary with remote_apply waits for it.",
			Evidence: m.replayEvidence(), Excluded: []string{"it is neither slow nor in conflict: it waits to be " +
				"resumed"},
			Next: []string{"SELECT pg_wal_replay_resume()    after asking who paused it, and why",
				"without pg_wal_replay_pause(): a setting that the primary raised, such as max_connections, pauses " +
					"it " +
					"too; the standby's log says so"}}, ""
	},
}

func (m *measured) replayEvidence() []string {
	lines := []string{fmt.Sprintf("%s MB of log are received and not replayed; the last transaction replayed ended "+
		"%s s "+
		"ago on the primary", human.Known(m.recovery("behind_bytes"), notMeasured, func(x float64) string {
		return fmt.Sprintf("%.1f", x/(1<<20))
	}), text(m.recovery("late_s"), "%.0f"))}
	if b := m.backgroundOf("startup"); b != nil {
		lines = append(lines, b.says()...)
	}
	return lines
}

// replayLate: this standby, or one of this primary, is behind.
var replayLate = cause{
	name:    "replay-late",
	healthy: "",
	find: func(m *measured) (*Finding, string) {
		f := &Finding{Mechanism: "One process replays what many sessions wrote. Answers of the standby are old, and " +
			"a " +
			"promotion takes longer.", Excluded: []string{},
			Next: []string{"the standby's disk, and conflicts with its statements (max_standby_streaming_delay, " +
				"hot_standby_feedback)", "recovery_min_apply_delay, if it is late on purpose"}}
		if behind := m.recovery("behind_bytes"); behind != nil && *behind >= behindLeast.Value &&
			valueOr(m.recovery("paused"), 0) == 0 {
			f.Title, f.Evidence = "The replay of this standby is late", m.replayEvidence()
			return f, ""
		}
		for _, key := range m.delta.Keys(counters.Replicas) {
			behind := m.delta.Now(counters.Replicas, key, "behind_bytes")
			if behind == nil || *behind < behindLeast.Value {
				continue
			}
			name := m.delta.Label(counters.Replicas, key)
			f.Title = "Standbys are behind this primary"
			f.Evidence = append(f.Evidence, fmt.Sprintf("standby %s: %.0f MB of log are not replayed, %s s late", name,
				*behind/(1<<20), text(m.delta.Now(counters.Replicas, key, "replay_lag_s"), "%.1f")))
		}
		if f.Title == "" {
			return nil, ""
		}
		return f, ""
	},
}

// slotsBehind: a replication slot keeps log that nobody fetches.
var slotsBehind = cause{
	name:    "replication-slot-behind",
	healthy: "",
	find: func(m *measured) (*Finding, string) {
		var lines []string
		for _, key := range m.delta.Keys(counters.Slots) {
			kept := m.delta.Now(counters.Slots, key, "kept_bytes")
			active := valueOr(m.delta.Now(counters.Slots, key, "active"), 0) > 0
			grows := valueOr(m.delta.Grew(counters.Slots, key, "kept_bytes"), 0) > 0
			if kept == nil || *kept < behindLeast.Value && (active || !grows) {
				continue
			}
			state := "nobody reads it"
			if active {
				state = "its reader is behind"
			}
			xids := ""
			if n := valueOr(m.delta.Now(counters.Slots, key, "catalog_xids"), 0); n >= heldXids.Value {
				xids = fmt.Sprintf(", and holds back the vacuum of the catalogs by %.0f transactions", n)
			}
			lines = append(lines, fmt.Sprintf("slot %s (%s) keeps %.1f MB of log, %s%s", key,
				m.delta.Label(counters.Slots, key), *kept/(1<<20), state, xids))
		}
		if len(lines) == 0 {
			return nil, ""
		}
		return &Finding{Title: "Replication slots keep log that is not fetched", Evidence: lines,
			Mechanism: "A slot keeps the log from the place where its reader stopped. Without " +
				"max_slot_wal_keep_size it " +
				"does so until the disk is full.",
			Excluded: []string{},
			Next: []string{"let its reader go on; only if nobody needs it any more: SELECT pg_drop_replication_slot(…)",
				"max_slot_wal_keep_size limits it: a slot beyond it is lost, and its reader must begin anew"}}, ""
	},
}

// decodingSpills: logical decoding puts large transactions on disk.
var decodingSpills = cause{
	name:    "decoding-spills",
	healthy: "",
	find: func(m *measured) (*Finding, string) {
		var lines []string
		for _, key := range m.delta.Keys(counters.SlotWork) {
			perS := m.delta.PerSecond(m.delta.Grew(counters.SlotWork, key, "spill_bytes"))
			if perS != nil && *perS >= spillPerS.Value {
				lines = append(lines, fmt.Sprintf("slot %s: %.1f MB a second", key, *perS/(1<<20)))
			}
		}
		if len(lines) == 0 {
			return nil, ""
		}
		if b := m.backgroundOf(kindSender); b != nil {
			lines = append(lines, b.says()...)
		}
		return &Finding{Title: "Logical decoding puts transactions on disk", Evidence: lines,
			Mechanism: "A transaction that changes more than fits into logical_decoding_work_mem is written to " +
				"files and " +
				"read again, by each slot.", Excluded: []string{"it is not temporary files of statements"},
			Next: []string{"a larger logical_decoding_work_mem, streaming = on at the subscription, or smaller " +
				"transactions"}}, ""
	},
}
