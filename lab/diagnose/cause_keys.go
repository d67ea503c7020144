package diagnose

import (
	"fmt"
	"regexp"
	"slices"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/counters"
	"plimsoll/ground/postgres/waits"
	"plimsoll/lab/diagnose/plan"
	"plimsoll/lab/diagnose/statement"
)

// makesRandom keys: what a default or a statement calls for one. uuidv7 and those by the clock are not among them.
var makesRandom = regexp.MustCompile(`(?i)\b(gen_random_uuid|uuidv4|uuid_generate_v4|gen_random_bytes)\s*\(|` +
	`\bmd5\s*\(\s*\(?\s*random\b`)

// scatteredKeys: each new key belongs to another page of its index, and the first change of a page after a checkpoint
// puts all of it into the log.
var scatteredKeys = cause{
	name:    "random-keys",
	classes: inLog,
	find: func(m *measured) (*Finding, string) {
		images, bytes := m.delta.Sum(counters.WAL, "", "wal_fpi"), m.delta.Sum(counters.WAL, "", "wal_bytes")
		if images == nil || bytes == nil || *bytes <= 0 {
			return nil, "" // that source is missing, with its reason
		}
		var best *scattered
		for i := range m.statements {
			s := m.scatteredBy(&m.statements[i], *images)
			if s != nil && (best == nil || s.images > best.images) {
				best = s
			}
		}
		if best == nil {
			return nil, ""
		}
		part := min(1, best.images*blockBytes / *bytes)
		perS := best.images / max(m.delta.For.Seconds(), 1e-9)
		if perS < scatteredPerS.Value {
			return nil, ""
		}
		u := m.uses([]waits.Class{waits.WAL}, func(sql string) bool { return slices.Contains(best.own, sql) })
		f := &Finding{Price: new(u.share * part), there: true, partial: true, grave: part >= scatteredPart.Value,
			Statements: m.book.full(best.own),
			Title: fmt.Sprintf("Random keys: each row of %s has its entry on another page of the index %s, and the "+
				"log is full of whole pages", best.table, best.index.Name),
			Mechanism: "The first change of a page after a checkpoint puts the whole page into the log. Keys in " +
				"order fill one page after the other; random ones touch all pages of the index, which must also be " +
				"in memory.",
			Evidence: append([]string{fmt.Sprintf("the keys are random: %s", best.why),
				fmt.Sprintf("%.2f whole pages in the log for each of %.0f rows inserted, %.0f a second, at most %s of "+
					"the log; keys in order have one for some hundred rows", best.images/best.rows, best.rows, perS,
					human.Percent(part))}, m.logAmounts()...),
			Excluded: []string{"checkpoints that come too often: they would show in all statements that write"},
			Next: []string{"keys in the order of time: uuidv7() (PostgreSQL 18), a sequence, or version 7 from the " +
				"program's library; rows that are there keep theirs",
				"max_wal_size and checkpoint_timeout larger: a page is put into the log once between two checkpoints",
				"wal_compression = lz4 (or zstd) makes the images smaller"}}
		return f, ""
	},
}

// scattered are the rows of a statement, whose entries are on pages all over an index.
type scattered struct {
	table, why   string
	index        *plan.Index
	rows, images float64
	own          []string // of the samples
}

// scatteredBy a statement that inserts into a table with a unique index whose keys are random; nil: it does not, or
// there are fewer whole pages than that would make. all are those of the whole server.
func (m *measured) scatteredBy(l *statement.Account, all float64) *scattered {
	if !begins("INSERT", "COPY", "MERGE", "WITH")(l.Text) {
		return nil
	}
	for _, name := range l.Tables {
		t := m.tables[name]
		inserted := valueOr(m.delta.Grew(counters.Tables, name, "n_tup_ins"), 0)
		if t == nil || inserted <= 0 {
			continue
		}
		index, why := randomKey(t, l.Text)
		if index == nil {
			continue
		}
		s := &scattered{table: name, why: why, index: index, rows: inserted, images: all, own: m.sampledAs(l.Text)}
		if l.PerCall.Images != nil && l.Calls != nil && l.PerCall.Rows != nil {
			s.rows, s.images = *l.PerCall.Rows**l.Calls, *l.PerCall.Images**l.Calls
		} else if inserted < m.rowsWritten()/2 {
			continue // whose pages they are is not known
		}
		// No row has more pages than its table has indexes, and one of its own.
		if s.rows > 0 && s.images >= scatteredRows.Value*s.rows && s.images <= s.rows*float64(len(t.Indexes)+1) {
			return s
		}
	}
	return nil
}

// rowsWritten in all tables.
func (m *measured) rowsWritten() (rows float64) {
	for _, column := range []string{"n_tup_ins", "n_tup_upd", "n_tup_del"} {
		rows += valueOr(m.delta.Sum(counters.Tables, "", column), 0)
	}
	return rows
}

// randomKey of a table: a unique index, and why its keys are random; nil: none is, as far as the catalogs and the
// statement tell. Other indexes may scatter their entries as well, so the type alone is no reason where there are some.
func randomKey(t *plan.Table, text string) (found *plan.Index, why string) {
	alone := !slices.ContainsFunc(t.Indexes, func(i plan.Index) bool { return !i.Unique })
	for n := range t.Indexes {
		i := &t.Indexes[n]
		c := t.Column(i.First)
		if !i.Unique || !i.Valid || i.Method != "btree" || c == nil {
			continue
		}
		switch {
		case makesRandom.MatchString(c.Default):
			return i, fmt.Sprintf("the default of %s.%s is %s", t.Name, c.Name, c.Default)
		case c.Default != "" || found != nil:
		case makesRandom.MatchString(text):
			found, why = i, "the statement makes them: "+makesRandom.FindString(text)+"…)"
		case c.Type == "uuid" && alone:
			found, why = i, fmt.Sprintf("%s.%s is a uuid that the program makes, and no other index of the table has "+
				"entries in another order", t.Name, c.Name)
		}
	}
	return found, why
}
