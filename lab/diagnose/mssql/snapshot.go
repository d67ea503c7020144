// Package mssql reads what an MS SQL Server has waited for, from two snapshots of its documented views, and says what
// stands in PostgreSQL for each of its waits.
package mssql

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf16"
)

// Form of a snapshot's JSON: docs/examples/mssql-snapshot.sql writes it.
const Form = "mssql-snapshot-1"

// Snapshot of counters that grow from the server's start.
type Snapshot struct {
	Form         string   `json:"plimsoll"`
	At           string   `json:"at"`
	Version      string   `json:"version"`
	Started      string   `json:"started"`
	CPUs         int      `json:"cpus"`
	CPUMS        *float64 `json:"cpu_ms"` // null before 2016
	Transactions *float64 `json:"transactions"`
	Batches      *float64 `json:"batches"`
	Waits        []Wait   `json:"waits"`
	Files        []File   `json:"files"`
	Spinlocks    []Spin   `json:"spinlocks"`
	Queries      []Query  `json:"queries"` // of one database; null: its Query Store is off
}

// Wait type and its sums.
type Wait struct {
	Type  string  `json:"type"`
	Tasks float64 `json:"tasks"`
	MS    float64 `json:"ms"`
	// SignalMS of them the task was ready and waited for a processor.
	SignalMS float64 `json:"signal_ms"`
}

// File of a database and its sums.
type File struct {
	Base    string  `json:"base"`
	Kind    string  `json:"kind"` // ROWS, LOG
	Reads   float64 `json:"reads"`
	ReadMS  float64 `json:"read_ms"`
	Writes  float64 `json:"writes"`
	WriteMS float64 `json:"write_ms"`
}

// Spin lock and its sums.
type Spin struct {
	Name       string  `json:"name"`
	Collisions float64 `json:"collisions"`
	Spins      float64 `json:"spins"`
	Backoffs   float64 `json:"backoffs"`
}

// Query of the Query Store, and its sums over all its plans.
type Query struct {
	Hash  string  `json:"hash"`
	Text  string  `json:"text"` // its beginning
	Calls float64 `json:"calls"`
	MS    float64 `json:"ms"`
	CPUMS float64 `json:"cpu_ms"`
	Pages float64 `json:"pages"` // of 8 kB, read from memory or disk
}

// ErrNone says that a file is no snapshot.
var ErrNone = errors.New("it is no snapshot of an MS SQL Server")

// Read a snapshot. Clients break long values into lines of about two thousand characters, and some write UTF-16.
func Read(path string) (*Snapshot, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read a snapshot: %w", err)
	}
	s, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// Parse the text of a snapshot.
func Parse(text []byte) (*Snapshot, error) {
	text = utf8(text)
	from, to := bytes.IndexByte(text, '{'), bytes.LastIndexByte(text, '}')
	if from < 0 || to < from || !bytes.Contains(text, []byte(Form)) {
		return nil, ErrNone
	}
	text = text[from : to+1]
	s := &Snapshot{}
	err := json.Unmarshal(text, s)
	if err != nil { // broken within a value: no value of it has a line break of its own
		s = &Snapshot{}
		err = json.Unmarshal([]byte(strings.NewReplacer("\r", "", "\n", "").Replace(string(text))), s)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrNone, err)
	case s.Form != Form:
		return nil, fmt.Errorf("%w: its form is %q, not %q", ErrNone, s.Form, Form)
	case len(s.Waits) == 0:
		return nil, errors.New("it has no waits: the login needs VIEW SERVER STATE")
	}
	if _, err := s.at(); err != nil {
		return nil, err
	}
	return s, nil
}

// utf8 text of a file that may be in UTF-16.
func utf8(text []byte) []byte {
	if len(text) < 2 || text[0] != 0xff || text[1] != 0xfe {
		return bytes.TrimPrefix(text, []byte("\uFEFF"))
	}
	units := make([]uint16, 0, len(text)/2)
	for i := 2; i+1 < len(text); i += 2 {
		units = append(units, uint16(text[i])|uint16(text[i+1])<<8)
	}
	return []byte(string(utf16.Decode(units)))
}

func (s *Snapshot) at() (time.Time, error) {
	at, err := time.Parse(time.RFC3339Nano, s.At)
	if err != nil {
		return at, fmt.Errorf("its time %q is none", s.At)
	}
	return at, nil
}

// Window is what happened between two snapshots.
type Window struct {
	Version      string
	CPUs         int
	Length       time.Duration
	CPUS         *float64 // seconds on processors
	Transactions *float64
	Waits        []Wait // those that are no idling, the longest first
	IdleS        float64
	Files        []File
	Spinlocks    []Spin
	Queries      []Query // the longest first
}

// Subtract one snapshot from a later one. Both must be of one start of one server.
func Subtract(before, after *Snapshot) (*Window, error) {
	from, _ := before.at()
	to, _ := after.at()
	switch {
	case before.Started != after.Started || before.Version != after.Version:
		return nil, errors.New("the snapshots are not of one start of one server: counters begin at 0 with each")
	case !to.After(from):
		return nil, fmt.Errorf("the second snapshot (%s) is not later than the first (%s)", after.At, before.At)
	}
	w := &Window{Version: after.Version, CPUs: after.CPUs, Length: to.Sub(from),
		Transactions: less(after.Transactions, before.Transactions)}
	if ms := less(after.CPUMS, before.CPUMS); ms != nil {
		s := *ms / 1000
		w.CPUS = &s
	}
	old := map[string]Wait{}
	for _, wait := range before.Waits {
		old[wait.Type] = wait
	}
	for _, wait := range after.Waits {
		o := old[wait.Type]
		d := Wait{wait.Type, wait.Tasks - o.Tasks, wait.MS - o.MS, wait.SignalMS - o.SignalMS}
		if d.MS < 0 || d.SignalMS < 0 {
			return nil, fmt.Errorf("the sums of %s go back: somebody has cleared them (DBCC SQLPERF)", wait.Type)
		}
		switch {
		case d.MS == 0:
		case Of(d.Type).Idle:
			w.IdleS += d.MS / 1000
		default:
			w.Waits = append(w.Waits, d)
		}
	}
	slices.SortFunc(w.Waits, func(a, b Wait) int { return compare(b.MS, a.MS, a.Type, b.Type) })
	w.Files, w.Spinlocks, w.Queries = files(before, after), spins(before, after), queries(before, after)
	return w, nil
}

func compare(a, b float64, first, second string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return strings.Compare(first, second)
}

func less(after, before *float64) *float64 {
	if after == nil || before == nil {
		return nil
	}
	d := *after - *before
	return &d
}

// files by database and kind, the longest waited for first.
func files(before, after *Snapshot) (all []File) {
	at := map[[2]string]int{}
	add := func(f File, sign float64) {
		key := [2]string{f.Base, f.Kind}
		i, known := at[key]
		if !known {
			i = len(all)
			at[key] = i
			all = append(all, File{Base: f.Base, Kind: f.Kind})
		}
		one := &all[i]
		one.Reads += sign * f.Reads
		one.ReadMS += sign * f.ReadMS
		one.Writes += sign * f.Writes
		one.WriteMS += sign * f.WriteMS
	}
	for _, f := range after.Files {
		add(f, 1)
	}
	for _, f := range before.Files {
		add(f, -1)
	}
	all = slices.DeleteFunc(all, func(f File) bool { return f.Reads <= 0 && f.Writes <= 0 })
	slices.SortFunc(all, func(a, b File) int {
		return compare(b.ReadMS+b.WriteMS, a.ReadMS+a.WriteMS, a.Base+a.Kind, b.Base+b.Kind)
	})
	return all
}

func spins(before, after *Snapshot) (all []Spin) {
	old := map[string]Spin{}
	for _, s := range before.Spinlocks {
		old[s.Name] = s
	}
	for _, s := range after.Spinlocks {
		o := old[s.Name]
		if d := (Spin{s.Name, s.Collisions - o.Collisions, s.Spins - o.Spins, s.Backoffs - o.Backoffs}); d.Spins > 0 {
			all = append(all, d)
		}
	}
	slices.SortFunc(all, func(a, b Spin) int { return compare(b.Spins, a.Spins, a.Name, b.Name) })
	return all
}

// queries that were called meanwhile. The store drops what is old, so that sums may go back: such a query is left out.
func queries(before, after *Snapshot) (all []Query) {
	old := map[string]Query{}
	for _, q := range before.Queries {
		old[q.Hash] = q
	}
	for _, q := range after.Queries {
		o := old[q.Hash]
		d := Query{q.Hash, q.Text, q.Calls - o.Calls, q.MS - o.MS, q.CPUMS - o.CPUMS, q.Pages - o.Pages}
		if d.Calls > 0 && d.MS > 0 && d.CPUMS >= 0 && d.Pages >= 0 {
			all = append(all, d)
		}
	}
	slices.SortFunc(all, func(a, b Query) int { return compare(b.MS, a.MS, a.Hash, b.Hash) })
	return all
}
