package threshold

// Limits by which findings and advice both judge.
var (
	Problem = &Limit{"price of a problem", 0.10,
		"share of the time; a tenth is what a user begins to notice, and more than a healthy load showed of any one " +
			"cause"}
	DeadRowsLeast = &Limit{"dead rows at least", 1000, "fewer fit into pages that are read anyway"}
	HeldXIDs      = &Limit{"horizon held back", 1000,
		"transactions begun since; a statement of usual length holds back fewer"}
	ConnectionsPerS = &Limit{"connections made", 10,
		"new sessions in a second, each of which takes some 5 ms of processor time and reads the catalogs again; a " +
			"pool makes a few in a minute"}
	StaleRows = &Limit{"stale statistics", 0.25,
		"rows changed since the last ANALYZE, of those that live; autovacuum begins at 0.1"}
	RowsPerScan = &Limit{"rows of a whole scan", 5000,
		"rows that one sequential scan reads; an index finds a few of so many sooner"}
)
