package diagnose

import (
	"context"
	"slices"

	"plimsoll/ground/postgres/counters"
)

// scannedMost tables are looked at closely.
const scannedMost = 20

// readLast what is read once, at the end: settings.
func (w *watch) readLast(ctx context.Context, s *sources) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endWithin)
	defer cancel()
	if w.slow.IsClosed() {
		s.miss("settings that differ", "the connection was lost")
		return
	}
	var err error
	w.settings, err = readSettings(ctx, w.slow)
	s.missOnError("settings that differ", err)
	s.miss("settings that sessions set for themselves", "PostgreSQL shows them to the session alone")
}

// scannedTables were read whole, those with the most rows first.
func scannedTables(delta *counters.Delta) (names []string) {
	rows := map[string]float64{}
	for _, key := range delta.Keys(counters.Tables) {
		if n := delta.Grew(counters.Tables, key, "seq_tup_read"); n != nil && *n >= rowsPerScan.Value {
			names = append(names, key)
			rows[key] = *n
		}
	}
	slices.SortFunc(names, func(a, b string) int { return compareDown(rows[a], rows[b], a, b) })
	return names[:min(scannedMost, len(names))]
}
