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
	fills   int64 // statements that filled it in this use
	fresh   bool  // its statistics are of this use
	kept
}

// kept is what DELETE leaves, and TRUNCATE does not.
type kept struct {
	deleted  int64 // rows, in all
	gathered bool  // it has statistics
	of       int64 // rows when they were gathered
	most     int64 // rows of any use
}

// Name in SQL text: pg_temp.tt_…, the same for the same structure.
func (t *Table) Name() string { return Schema + "." + t.relation }

// Rows in the table, or false if unknown.
func (t *Table) Rows() (n int64, known bool) { return t.rows, !t.touched && t.pending == 0 }

// Analyzed says whether the table has statistics that DELETE kept, or new ones.
func (t *Table) Analyzed() bool { return t.gathered }

// hasRoom says whether its rows may be deleted, and not truncated.
func (t *Table) hasRoom() bool { return t.deleted+t.rows <= DeletedMost }

// afterUse is what the next use has of this one.
func (t *Table) afterUse() kept {
	k := t.kept
	if n, known := t.Rows(); known {
		k.most = max(k.most, n)
		if t.fresh {
			k.of = n
		}
	}
	k.deleted += t.rows // by the pool, or by a statement that was not counted
	return k
}

// full or empty for certain.
func (t *Table) empty() bool {
	n, known := t.Rows()
	return known && n == 0
}
