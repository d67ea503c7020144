package fill

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/problem"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
)

// Checked is the result of comparing a base with the journal of its fill.
type Checked struct {
	Units       int          `json:"units"`
	Documents   int64        `json:"documents"`
	Rows        int64        `json:"rows"`
	Digest      string       `json:"digest"` // of all that was filled, as the database has it
	Later       int64        `json:"later_rows"`
	Differences []Difference `json:"differences"`
}

// Difference is a unit that differs from what was written.
type Difference struct {
	Unit     string `json:"unit"`
	Expected Tally  `json:"expected"`
	Found    Tally  `json:"found"`
}

// Clean reports whether the base equals what was filled.
func (c Checked) Clean() bool { return len(c.Differences) == 0 }

// Check reads all rows of a filled base and compares counts and digests with the journal, unit by unit. Documents
// added after the fill are counted and ignored. A document of the fill that was changed since is a difference.
func Check(ctx context.Context, db *database.Database, options Options) (report Checked, err error) {
	f := &filler{db: db, options: options, streams: max(1, options.Streams),
		journal: &journal{units: map[unit]Tally{}, built: map[string]bool{}}}
	if f.journal.conn, err = dial(ctx, db); err != nil {
		return report, err
	}
	defer f.journal.close()
	sizes, found, finished, err := read(ctx, f.journal.conn)
	switch {
	case err != nil:
		return report, err
	case !found:
		return report, problem.New(problem.Usage, errors.New("this database has no journal of a fill"),
			"'plimsoll fill' fills an empty one")
	case !finished:
		return report, problem.New(problem.Usage, ErrUnfinished, unfinishedHint)
	}
	if err := f.journal.load(ctx); err != nil {
		return report, err
	}
	f.base = newBase(sizes)
	tallies, err := f.tallies(ctx)
	if err != nil {
		return report, err
	}
	return f.compare(tallies), nil
}

// later counts rows that do not belong to the fill.
var later = unit{-2, -2}

func (f *filler) tallies(ctx context.Context) (map[unit]*Tally, error) {
	columns := columnsOf(f.base.app)
	delete(columns, numbers)
	var names []string
	for name := range columns {
		names = append(names, name)
	}
	slices.Sort(names)
	f.stage("check", f.journal.sum().Rows)
	all, mutex := map[unit]*Tally{}, sync.Mutex{}
	err := f.each(ctx, len(names), func(ctx context.Context, conn *pgx.Conn, i int) error {
		r := f.reader(names[i], columns[names[i]])
		query := fmt.Sprintf("COPY %s (%s) TO STDOUT (FORMAT binary)", names[i], strings.Join(columns[names[i]], ", "))
		if _, err := conn.PgConn().CopyTo(ctx, r, query); err != nil {
			return fmt.Errorf("read %s: %w", names[i], err)
		}
		if len(r.rest) != len(copyTrailer) {
			return fmt.Errorf("read %s: it ended in the middle of a row", names[i])
		}
		mutex.Lock()
		defer mutex.Unlock()
		for u, t := range r.found {
			if all[u] == nil {
				all[u] = &Tally{}
			}
			all[u].add(*t)
		}
		return nil
	})
	return all, err
}

func (f *filler) compare(there map[unit]*Tally) (report Checked) {
	report.Differences = []Difference{}
	if t := there[later]; t != nil {
		report.Later = t.Rows
		delete(there, later)
	}
	var all Tally
	for u, expected := range f.journal.units {
		found := Tally{}
		if there[u] != nil {
			found = *there[u]
		}
		report.Units++
		report.Documents += expected.Documents
		found.Documents = expected.Documents // rows tell
		all.add(found)
		if found != expected {
			report.Differences = append(report.Differences, Difference{f.nameOf(u), expected, found})
		}
	}
	slices.SortFunc(report.Differences, func(a, b Difference) int { return strings.Compare(a.Unit, b.Unit) })
	report.Rows, report.Digest = all.Rows, fmt.Sprintf("%016x", all.Digest)
	return report
}

func (f *filler) nameOf(u unit) string {
	prefix := "common"
	if u.organisation != none {
		prefix = fmt.Sprintf("ORG%03d,", u.organisation+1)
	}
	if u.part > none {
		return fmt.Sprintf("%s %s", prefix, f.base.organisations[u.organisation].parts[u.part].from.Format(
			time.DateTime))
	}
	return fmt.Sprintf("%s catalogs %d", prefix, none-u.part+1)
}

// reader parses a table in COPY's binary format, row by row.
type reader struct {
	salt          uint64
	unitOf        func(first, second id.ID) unit
	rest          []byte
	begun         bool
	found         map[unit]*Tally
	did           func(int64)
	rows, columns int
}

func (f *filler) reader(name string, columns []string) *reader {
	r := &reader{salt: saltOf(name), found: map[unit]*Tally{}, did: f.addProgress, columns: len(columns)}
	organisations := map[id.ID]*organisation{}
	for _, o := range f.base.organisations {
		organisations[o.id] = o
	}
	if strings.HasPrefix(name, "cat_") {
		r.unitOf = f.base.catalogUnits(strings.TrimPrefix(name, "cat_"), organisations)
	} else {
		r.unitOf = f.base.documentUnits(organisations)
	}
	return r
}

// documentUnits finds a document's unit by its organisation and the time in its id.
func (b *base) documentUnits(organisations map[id.ID]*organisation) func(document, organisation id.ID) unit {
	return func(document, organisation id.ID) unit {
		at, o := document.Moment(), organisations[organisation]
		if o == nil || !at.Before(b.Until) {
			return later
		}
		n, begins := slices.BinarySearchFunc(o.parts, at, func(p part, at time.Time) int { return p.from.Compare(at) })
		if !begins {
			n--
		}
		return unit{o.n, max(0, n)}
	}
}

// catalogUnits finds an element's unit by its organisation and its number, which is part of the id.
func (b *base) catalogUnits(name string, organisations map[id.ID]*organisation) func(element, organisation id.ID) unit {
	for i, l := range b.common() {
		if l.name == name {
			before := elementsOf(b.common()[:i])
			return func(element, _ id.ID) unit { return b.unitIn(none, l, before, element) }
		}
	}
	type place struct {
		list
		before int
	}
	places := map[id.ID]place{}
	for v, o := range organisations {
		own := b.listsOf(o)
		i := slices.IndexFunc(own, func(l list) bool { return l.name == name })
		places[v] = place{own[i], elementsOf(own[:i])}
	}
	return func(element, organisation id.ID) unit {
		p, ours := places[organisation]
		if !ours {
			return later
		}
		return b.unitIn(organisations[organisation].n, p.list, p.before, element)
	}
}

// unitIn returns the unit of an element in a list that starts after so many others.
func (b *base) unitIn(organisation int, l list, before int, element id.ID) unit {
	n := b.number(element) - l.first
	if n < 0 || n >= l.count {
		return later
	}
	return unit{organisation, none - (before+n)/elementsAtOnce}
}

var errNotARow = errors.New("not in COPY's binary format")

// Write takes the next piece of the stream.
func (r *reader) Write(p []byte) (int, error) {
	data := p
	if len(r.rest) > 0 {
		r.rest = append(r.rest, p...)
		data = r.rest
	}
	if !r.begun {
		if len(data) < len(copyHeader) {
			r.rest = bytes.Clone(data)
			return len(p), nil
		}
		data, r.begun = data[len(copyHeader):], true
	}
	for {
		n, err := r.row(data)
		if err != nil {
			return 0, err
		}
		if n == 0 {
			break
		}
		data = data[n:]
	}
	r.rest = bytes.Clone(data)
	return len(p), nil
}

// row returns the length of the row at the beginning of data; 0 when it is not complete.
func (r *reader) row(data []byte) (int, error) {
	if len(data) < 2 || bytes.Equal(data[:2], copyTrailer) {
		return 0, nil
	}
	if int(binary.BigEndian.Uint16(data)) != r.columns {
		return 0, errNotARow
	}
	var keys [2]id.ID
	at := 2
	for column := range r.columns {
		if len(data) < at+4 {
			return 0, nil
		}
		size := int(int32(binary.BigEndian.Uint32(data[at:])))
		if at += 4; size < 0 || len(data) < at+size {
			if size < 0 {
				return 0, errNotARow
			}
			return 0, nil
		}
		if column < len(keys) && size == len(keys[0]) {
			copy(keys[column][:], data[at:])
		}
		at += size
	}
	u := r.unitOf(keys[0], keys[1])
	if r.found[u] == nil {
		r.found[u] = &Tally{}
	}
	r.found[u].row(r.salt, data[:at])
	if r.rows++; r.rows%checkedAtOnce == 0 {
		r.did(checkedAtOnce)
	}
	return at, nil
}

const checkedAtOnce = 10_000

var _ io.Writer = (*reader)(nil)
