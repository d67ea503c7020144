package crash

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"text/tabwriter"

	"plimsoll/lab/crash/image"
)

// Schema of the JSON; 3: model strict keeps first names, and is the default.
const Schema = 3

// Conditions of a test. Seeds seen under the same conditions can be counted together.
type Conditions struct {
	Schema         int         `json:"schema"`
	Ending         Ending      `json:"way"`
	Durability     Durability  `json:"durability"`
	Load           Load        `json:"load"`
	Shape          string      `json:"shape,omitempty"`
	Workers        int         `json:"workers,omitempty"`
	Model          image.Model `json:"model,omitempty"` // of names, after a power cut
	Sessions       int         `json:"sessions"`
	DurationS      float64     `json:"duration_s"`
	FlushLatencyMS float64     `json:"flush_latency_ms"`
	Settings       []string    `json:"settings,omitempty"`
	FirstSeed      uint64      `json:"first_seed"`
	AskedEngine    string      `json:"asked_engine,omitempty"`
	// Standby that was promoted: sync, async; empty: none
	Standby string `json:"standby,omitempty"`
}

// Report is what a test saw.
type Report struct {
	Conditions
	Engine     string `json:"engine,omitempty"`
	Operations int    `json:"operations"`        // acknowledged in all
	Records    uint64 `json:"records,omitempty"` // of the journals
	Segments   int    `json:"wal_segments,omitempty"`
	// LongestFlushMS of the log, and LongestGapMS for which nobody looked at the log: a machine that keeps the reader
	// waiting keeps the server waiting.
	LongestFlushMS float64        `json:"longest_flush_ms,omitempty"`
	LongestGapMS   float64        `json:"longest_gap_ms,omitempty"`
	Failed         map[string]int `json:"failed,omitempty"` // operations that were neither done nor refused
	Left           int            `json:"left,omitempty"`   // seeds that are still to be tried
	Cuts           []Cut          `json:"cuts"`
}

// Cut is one end of the server, with its losses.
type Cut struct {
	Seed         uint64 `json:"seed"`
	Record       uint64 `json:"record,omitempty"` // of the journal: where the power was cut
	Acknowledged int    `json:"acknowledged"`
	Recovered    int    `json:"recovered"` // operations that are there, acknowledged or not
	Lost         int    `json:"lost"`
	// LostDocuments are those that lost operations made or changed.
	LostDocuments int      `json:"lost_documents,omitempty"`
	LostMS        float64  `json:"lost_ms"` // from the oldest lost acknowledgement to the end
	LostWALBytes  int64    `json:"lost_wal_bytes"`
	Shown         int      `json:"shown,omitempty"`      // documents that readers had been shown
	LostShown     int      `json:"lost_shown,omitempty"` // of them
	RecoveryS     float64  `json:"recovery_s"`
	Damage        []string `json:"damage,omitempty"`
	// What the formula "bytes of log a second times delay" explains at a power cut: three wal_writer_delay and the
	// longest flush, the log written in that time before the cut, and its rate.
	ExplainedMS       float64 `json:"explained_ms,omitempty"`
	ExplainedWALBytes int64   `json:"explained_wal_bytes,omitempty"`
	WALBytesPerS      float64 `json:"wal_bytes_per_s,omitempty"`

	wal    int64    // end of the log at the cut; 0: unknown
	undead []string // files that the server had removed, and that the cut brought back
}

// Unexplained says that more was lost than the formula explains.
func (c Cut) Unexplained() bool {
	return c.ExplainedMS > 0 && (c.LostMS > c.ExplainedMS || c.LostWALBytes > c.ExplainedWALBytes)
}

func (o Options) report() *Report {
	c := Conditions{Schema: Schema, Ending: o.Ending, Durability: o.Durability, Load: o.Load, Sessions: o.Sessions,
		DurationS: o.Duration.Seconds(), FlushLatencyMS: o.FlushLatency.Seconds() * 1000, FirstSeed: o.Seed,
		AskedEngine: o.Spec.Engine}
	if o.Ending == PowerCut {
		c.Model = o.Model
	}
	if o.Load == ERP {
		c.Shape, c.Workers = string(o.Shape), o.Workers
	}
	if o.Promote {
		if c.Standby = "sync"; o.Asynchronous {
			c.Standby = "async"
		}
	}
	for _, s := range o.Spec.Settings {
		c.Settings = append(c.Settings, s.Name+"="+s.Value)
	}
	return &Report{Conditions: c, Failed: map[string]int{}, Cuts: []Cut{}}
}

func (r *Report) count(load loadLine) {
	r.Operations += load.Operations
	r.Records += load.Records
	r.LongestFlushMS = max(r.LongestFlushMS, load.LongestFlushMS)
	r.LongestGapMS = max(r.LongestGapMS, load.LongestGapMS)
	for why, n := range load.Failed {
		r.Failed[why] += n
	}
}

// Lost operations of all cuts, and documents that had been shown.
func (r *Report) Lost() (lost int) {
	for _, c := range r.Cuts {
		lost += c.Lost + c.LostShown
	}
	return lost
}

// Damaged counts the cuts after which the server was damaged.
func (r *Report) Damaged() (n int) {
	for _, c := range r.Cuts {
		if len(c.Damage) > 0 {
			n++
		}
	}
	return n
}

// Broken reports whether a promise was broken: something acknowledged as durable is lost, or data are damaged.
// Asynchronous commits may be lost, but not by a planned stop; without fsync nothing is promised after a power cut.
func (r *Report) Broken() bool {
	promised := r.Durability != Async && r.Durability != Unsafe && r.Standby != "async" || r.Ending.planned() ||
		r.Ending == Worker
	return promised && r.Lost() > 0 || r.Durability != Unsafe && r.Damaged() > 0
}

// How many ends are listed one by one; of more, those that lost or damaged something. On one screen there is room for
// fewer, and for fewer sentences about damage.
const (
	shownMost     = 50
	summaryCuts   = 12
	summaryDamage = 3
)

// Summary writes the report on one screen.
func (r *Report) Summary(to io.Writer) error { return r.write(to, summaryCuts, summaryDamage) }

// Write the report as text.
func (r *Report) Write(to io.Writer) error { return r.write(to, shownMost, math.MaxInt) }

// verdict stands first.
func (r *Report) verdict() string {
	word := "NOTHING LOST"
	switch {
	case r.Broken():
		word = "A PROMISE IS BROKEN"
	case r.Lost() > 0 || r.Damaged() > 0:
		word = fmt.Sprintf("LOSSES, which commits %s allow", r.Durability)
	}
	return fmt.Sprintf("%s: %d operations acknowledged, %d of them lost; %d of %d rounds left damage", word,
		r.Operations, r.Lost(), r.Damaged(), len(r.Cuts))
}

func (r *Report) write(to io.Writer, cuts, damage int) error {
	fmt.Fprintln(to, r.verdict())
	fmt.Fprintf(to, "%s, %d times, commits %s, load %s, %d sessions for %.3g s%s\n", r.Ending, len(r.Cuts),
		r.Durability, r.loadText(), r.Sessions, r.DurationS, prefixed(", ", r.Engine))
	if r.Standby != "" {
		fmt.Fprintf(to, "the primary is lost each time; its standby (%s) is promoted\n", r.Standby)
	}
	if r.FlushLatencyMS > 0 {
		fmt.Fprintf(to, "a flush takes at least %.3g ms\n", r.FlushLatencyMS)
	}
	if r.Records > 0 {
		fmt.Fprintf(to, "journal: %d records%s; names: %s\n", r.Records, segmentsText(r.Segments), r.Model)
	}
	if err := r.writeCuts(to, cuts); err != nil {
		return err
	}
	all := 0
	for _, c := range r.Cuts {
		for _, d := range c.Damage {
			if all++; all <= damage {
				fmt.Fprintf(to, "seed %d: damage: %s\n", c.Seed, d)
			}
		}
	}
	if all > damage {
		fmt.Fprintf(to, "and %d more: --details\n", all-damage)
	}
	for _, why := range slices.Sorted(maps.Keys(r.Failed)) {
		fmt.Fprintf(to, "%d operations failed: %s\n", r.Failed[why], why)
	}
	if n := r.unexplained(); n > 0 {
		fmt.Fprintf(to, "%d rounds lost more than %d wal_writer_delay and the longest flush (%.1f ms) explain\n", n,
			flushCycles, r.LongestFlushMS)
	}
	if r.Left > 0 {
		fmt.Fprintf(to, "%d seeds are left\n", r.Left)
	}
	return nil
}

func (r *Report) loadText() string {
	if r.Load != ERP {
		return string(r.Load)
	}
	return fmt.Sprintf("%s (%s, %d workers)", r.Load, r.Shape, r.Workers)
}

func (r *Report) unexplained() (n int) {
	for _, c := range r.Cuts {
		if c.Unexplained() {
			n++
		}
	}
	return n
}

func prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}

func segmentsText(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %d segments of the log in one load", n)
}

func (r *Report) writeCuts(to io.Writer, most int) error {
	cuts := slices.Clone(r.Cuts)
	if len(cuts) > most {
		cuts = slices.DeleteFunc(cuts, func(c Cut) bool { return c.Lost+c.LostShown+len(c.Damage) == 0 })
	}
	if left := len(cuts) - most; left > 0 && most < shownMost {
		defer fmt.Fprintf(to, "and %d more: --details\n", left)
		cuts = cuts[:most]
	}
	if len(cuts) == 0 {
		return nil
	}
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', tabwriter.AlignRight)
	head := "seed\tacknowledged\tlost\tdocuments\tof the last ms\tof WAL kB\t"
	if r.Load == ERP {
		head += "shown\tlost\t"
	}
	fmt.Fprintln(w, head+"recovery s\t")
	for _, c := range cuts {
		fmt.Fprintf(w, "%d\t%d\t%d\t%d\t%.1f\t%d\t", c.Seed, c.Acknowledged, c.Lost, c.LostDocuments, c.LostMS,
			c.LostWALBytes>>10)
		if r.Load == ERP {
			fmt.Fprintf(w, "%d\t%d\t", c.Shown, c.LostShown)
		}
		fmt.Fprintf(w, "%.2f\t\n", c.RecoveryS)
	}
	return w.Flush()
}
