package temptable

// Table is one temp table of a connection.
type Table struct {
	relation string
	hash     string
	ordinal  int
	used     int64 // the pool's clock when it was last lent
	state
}

// state is what a rollback restores.
type state struct {
	exists  bool
	lent    bool
	touched bool  // written to by an uncounted statement
	pending int   // fills without a result yet
	rows    int64 // counted
}

// Name in SQL text: pg_temp.tt_…, the same for the same structure.
func (t *Table) Name() string { return Schema + "." + t.relation }

// Rows in the table, or false if unknown.
func (t *Table) Rows() (n int64, known bool) { return t.rows, !t.touched && t.pending == 0 }

// full or empty for certain.
func (t *Table) empty() bool {
	n, known := t.Rows()
	return known && n == 0
}
