package crash

import (
	"fmt"
	"io"
	"text/tabwriter"

	"plimsoll/lab/crash/image"
)

// Schema of the JSON.
const Schema = 1

// Report is what a test saw.
type Report struct {
	Schema         int         `json:"schema"`
	Engine         string      `json:"engine"`
	Way            Way         `json:"way"`
	Durability     Durability  `json:"durability"`
	Model          image.Model `json:"model,omitempty"` // of names, after a power cut
	Sessions       int         `json:"sessions"`
	DurationS      float64     `json:"duration_s"`
	FlushLatencyMS float64     `json:"flush_latency_ms"`
	Operations     int         `json:"operations"`        // acknowledged in all
	Records        uint64      `json:"records,omitempty"` // of the journal
	Cuts           []Cut       `json:"cuts"`
}

// Cut is one end of the server: the loss ledger.
type Cut struct {
	Seed         uint64   `json:"seed"`
	Record       uint64   `json:"record,omitempty"` // of the journal: where the power was cut
	Acknowledged int      `json:"acknowledged"`
	Recovered    int      `json:"recovered"` // documents that are there, acknowledged or not
	Lost         int      `json:"lost"`
	LostMS       float64  `json:"lost_ms"` // from the oldest lost acknowledgement to the end
	LostWALBytes int64    `json:"lost_wal_bytes"`
	RecoveryS    float64  `json:"recovery_s"`
	Damage       []string `json:"damage,omitempty"`
}

// Lost operations of all cuts.
func (r *Report) Lost() (lost int) {
	for _, c := range r.Cuts {
		lost += c.Lost
	}
	return lost
}

// Damaged counts the cuts after which the server was not whole.
func (r *Report) Damaged() (n int) {
	for _, c := range r.Cuts {
		if len(c.Damage) > 0 {
			n++
		}
	}
	return n
}

// Broken says that a promise was broken: something acknowledged as durable is lost, or data are damaged. Asynchronous
// commits may be lost, but not by an orderly stop; without fsync nothing is promised to a power cut.
func (r *Report) Broken() bool {
	promised := r.Durability == Sync || r.Way == Orderly
	return promised && r.Lost() > 0 || r.Durability != Unsafe && r.Damaged() > 0
}

// Write the report as text.
func (r *Report) Write(to io.Writer) error {
	fmt.Fprintf(to, "%s, %d times, commits %s, %d sessions for %.3g s, %s\n", r.Way, len(r.Cuts), r.Durability,
		r.Sessions, r.DurationS, r.Engine)
	if r.FlushLatencyMS > 0 {
		fmt.Fprintf(to, "a flush takes at least %.3g ms\n", r.FlushLatencyMS)
	}
	if r.Records > 0 {
		fmt.Fprintf(to, "journal: %d records; names: %s\n", r.Records, r.Model)
	}
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "seed\tacknowledged\tlost\tof the last ms\tof WAL kB\trecovery s\t")
	for _, c := range r.Cuts {
		fmt.Fprintf(w, "%d\t%d\t%d\t%.1f\t%d\t%.2f\t\n", c.Seed, c.Acknowledged, c.Lost, c.LostMS,
			c.LostWALBytes>>10, c.RecoveryS)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, c := range r.Cuts {
		for _, d := range c.Damage {
			fmt.Fprintf(to, "seed %d: damage: %s\n", c.Seed, d)
		}
	}
	_, err := fmt.Fprintf(to, "%d acknowledged operations lost in %d ends; %d of them left damage\n", r.Lost(),
		len(r.Cuts), r.Damaged())
	return err
}
